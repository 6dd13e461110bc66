import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { HttpError, ResilientClient, StormproofError, decisionOf, isRefused } from "../src/index.ts";
import { VirtualClock, settled, sleep } from "./support/clock.ts";

const lost = (): Error => Object.assign(new Error("reset"), { code: "ECONNRESET" });
const never = (): Promise<never> => new Promise(() => {});
const lone = { retry: { baseMs: 1 }, breaker: false, budget: false } as const;

test("aborted before the call: the operation is not called (DC-01)", async () => {
  const client = new ResilientClient();
  for (const reason of [undefined, new Error("stop"), "why", null, 0]) {
    const signal = AbortSignal.abort(reason);
    let calls = 0;
    const error = await client.call(() => calls++, { signal }).catch((error: unknown) => error);
    assert.ok(Object.is(error, signal.reason));
    assert.equal(calls, 0);
  }
  const { running, attempts, refusals } = client.stats();
  assert.deepEqual([running, attempts, refusals], [0, 0, {}]);
  const result = await client.tryCall(() => 1, { signal: AbortSignal.abort("why") });
  assert.ok(!result.ok && result.error.kind === "cancelled" && result.error.cause === "why");
});

test("aborted during the wait: settles at once, and no timer stays (DC-02)", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient({ overallTimeoutMs: null }, clock.host);
  const controller = new AbortController();
  let calls = 0;
  const call = client.call(() => (calls++, Promise.reject(new HttpError(503, 60_000))), {
    signal: controller.signal,
  });
  await clock.advance(20);
  const reason = new Error("stop");
  controller.abort(reason);
  await assert.rejects(call, reason);
  assert.equal(calls, 1);
  assert.equal(decisionOf(reason)?.reason, "cancelled");
  await clock.advance(200_000);
  assert.equal(clock.timers.size, 0);
  assert.equal(calls, 1);
});

test("aborted in the queue: leaves at once and never receives a permit", async () => {
  const client = new ResilientClient({ bulkhead: { maxConcurrent: 1 } });
  const controller = new AbortController();
  let open = (): void => {};
  const holder = client.call(() => new Promise<void>((resolve) => (open = resolve)));
  let calls = 0;
  const waiter = client.call(() => calls++, { signal: controller.signal });
  assert.equal(client.stats().queued, 1);
  controller.abort("stop");
  await assert.rejects(waiter, (reason) => reason === "stop");
  assert.equal(client.stats().queued, 0);
  open();
  await holder;
  await settled();
  assert.equal(calls, 0);
});

test("aborted in an attempt: its signal follows, nothing is counted (DC-07)", async () => {
  const client = new ResilientClient({ breaker: { failureThreshold: 1 }, budget: { capacity: 5 } });
  const controller = new AbortController();
  let calls = 0;
  let inner: AbortSignal | undefined;
  const call = client.call(
    ({ signal }) => {
      calls++;
      inner = signal;
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    },
    { signal: controller.signal },
  );
  const reason = new Error("stop");
  controller.abort(reason);
  await assert.rejects(call, reason);
  assert.equal(inner?.reason, reason);
  assert.equal(calls, 1);
  await settled();
  const { circuit, tokens, running, abandoned } = client.stats();
  assert.deepEqual([circuit, tokens, running, abandoned], ["closed", 5, 0, 0]);
});

test("an operation that ends by its own abort is cancelled, not failed (C4)", async () => {
  const client = new ResilientClient({ breaker: { failureThreshold: 1 } });
  const controller = new AbortController();
  const own = client.call(
    () =>
      new Promise((_, reject) =>
        controller.signal.addEventListener("abort", () => reject(controller.signal.reason)),
      ),
  );
  controller.abort();
  const error = await own.catch((error: unknown) => error);
  assert.equal(error, controller.signal.reason);
  assert.equal(decisionOf(error)?.reason, "cancelled");
  assert.equal(client.stats().circuit, "closed");
});

test("a signal that lives for ever keeps no listener (DC-03)", async () => {
  const warnings: Error[] = [];
  process.on("warning", (warning) => warnings.push(warning));
  const client = new ResilientClient({
    retry: { maxAttempts: 3, baseMs: 0 },
    breaker: false,
    budget: false,
  });
  const { signal } = new AbortController();
  const threeTimes = () =>
    client.call(async ({ attempt }) => (attempt < 3 ? Promise.reject(lost()) : 1), { signal });
  await Promise.all(Array.from({ length: 1_000 }, threeTimes));
  assert.equal(getEventListeners(signal, "abort").length, 0);
  for (let i = 0; i < 100_000; i++) await client.call(() => 1, { signal });
  await client.tryCall(() => Promise.reject(new Error("permanent")), { signal });
  assert.equal(getEventListeners(signal, "abort").length, 0);
  await sleep(10);
  assert.deepEqual(warnings, []);
});

test("a fresh timeout for each attempt (DC-05)", async () => {
  const client = new ResilientClient({ ...lone, attemptTimeoutMs: 100 });
  let calls = 0;
  const value = await client.call(async () => {
    if (++calls === 1) await never();
    await sleep(60);
    return "ok";
  });
  assert.deepEqual([value, calls], ["ok", 2]);
});

test("an operation that ignores its signal does not hold the call (DC-18)", async () => {
  const client = new ResilientClient({ retry: false, attemptTimeoutMs: 100 });
  const start = performance.now();
  const result = await client.tryCall(never);
  assert.ok(performance.now() - start < 200);
  assert.ok(!result.ok && result.error.kind === "timeout" && result.error.phase === "unknown");
  assert.equal((result.error.cause as Error).name, "TimeoutError");
  assert.equal(client.stats().abandoned, 1);
});

test("late results and rejections are events and nothing else (DC-11)", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", onUnhandled);
  const client = new ResilientClient({ ...lone, retry: false, attemptTimeoutMs: 20 });
  const late: unknown[] = [];
  client.on("lateResult", ({ outcome, result }) => late.push([outcome, result]));
  const boom = new Error("late");
  const response = new Response("late");
  const calls = [
    client.tryCall(() => sleep(60).then(() => Promise.reject(boom))),
    client.tryCall(() => sleep(70).then(() => response)),
  ];
  for (const { decision } of await Promise.all(calls)) assert.equal(decision.lastKind, "timeout");
  await sleep(100);
  assert.deepEqual(late, [["rejected", boom], ["fulfilled", response]]);
  assert.ok(response.bodyUsed);
  assert.deepEqual(unhandled, []);
  assert.equal(client.stats().lateResults, 2);
  assert.equal(client.stats().abandoned, 0);
  process.off("unhandledRejection", onUnhandled);
});

test("a late success does not count for its call, nor for the circuit", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    { retry: false, breaker: { failureThreshold: 1, successThreshold: 1 }, attemptTimeoutMs: 50 },
    clock.host,
  );
  let answer = (_: string): void => {};
  const call = client.tryCall(() => new Promise<string>((resolve) => (answer = resolve)));
  await clock.advance(50);
  assert.ok(!(await call).ok);
  assert.equal(client.stats().circuit, "open");
  answer("late");
  await settled();
  assert.equal(client.stats().circuit, "open");
  assert.equal(client.stats().successes, 0);
});

test("the deadline ends the call with the last real failure as the cause", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    { ...lone, retry: { jitter: "none", baseMs: 10 }, overallTimeoutMs: 100 },
    clock.host,
  );
  const failure = lost();
  let inner: AbortSignal | undefined;
  const call = client.call(({ attempt, signal }) => {
    inner = signal;
    return attempt === 1 ? Promise.reject(failure) : never();
  });
  const caught = call.catch((error: unknown) => error);
  await clock.advance(99);
  assert.equal(inner?.aborted, false);
  await clock.advance(1);
  const error = await caught;
  assert.ok(error instanceof StormproofError);
  assert.equal(error.code, "deadline_exceeded");
  assert.equal(error.cause, failure);
  assert.equal(inner?.reason, error);
});

test("a wait that would reach the deadline ends the call now, with the dependency's error (DC-08)", async () => {
  for (const [delay, slept] of [[200, false], [100, false], [99, true]] as const) {
    const clock = new VirtualClock();
    const client = new ResilientClient(
      { ...lone, retry: { jitter: "none", baseMs: delay } },
      clock.host,
    );
    const failure = new HttpError(503);
    const call = client.tryCall(() => Promise.reject(failure), { deadlineMs: 100 });
    await settled();
    if (slept) {
      assert.equal(client.stats().totalWaitMs, 99);
      client.close();
    }
    const result = await call;
    assert.equal(result.decision.reason, slept ? "cancelled" : "deadline_too_near");
    assert.equal(!result.ok && result.error.cause === failure, !slept);
  }
});

test("who fired decides, not the error's name (DC-06, C5)", async () => {
  const client = new ResilientClient({ ...lone, retry: false, attemptTimeoutMs: 30 });
  const reading = ({ signal }: { signal: AbortSignal }): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const kindOf = async (options?: object, operation: typeof reading = reading) => {
    const result = await client.tryCall(operation, options);
    return result.ok ? "ok" : result.error.kind;
  };
  assert.equal(await kindOf(), "timeout");
  assert.equal(await kindOf({ signal: AbortSignal.timeout(5) }), "cancelled");
  assert.equal(await kindOf({ deadlineMs: 5 }), "deadline_exceeded");
  const foreign = (): Promise<never> => reading({ signal: AbortSignal.timeout(5) });
  assert.equal(await kindOf({}, foreign), "timeout");
});

test("a caller's own timeout is a cancel, with the caller's own reason", async () => {
  const client = new ResilientClient(lone);
  const signal = AbortSignal.timeout(10);
  const error = await client.call(never, { signal }).catch((error: unknown) => error);
  assert.equal(error, signal.reason);
  assert.ok(!isRefused(error));
});

test("a queue that is waited in for too long", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    { bulkhead: { maxConcurrent: 1, queueTimeoutMs: 50, maxQueue: 1 } },
    clock.host,
  );
  const holder = client.call(never);
  const waiter = client.call(async () => 1).catch((error: unknown) => error);
  const third = await client.call(async () => 1).catch((error: unknown) => error);
  assert.equal((third as StormproofError).code, "bulkhead_full");
  await clock.advance(50);
  assert.equal(((await waiter) as StormproofError).code, "queue_timeout");
  assert.equal(client.stats().queued, 0);
  client.close();
  await assert.rejects(holder, { code: "closed" });
});

test("an abandoned attempt keeps its permit until its lease ends, then the next in line goes", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    {
      retry: false,
      attemptTimeoutMs: 100,
      overallTimeoutMs: null,
      breaker: false,
      bulkhead: { maxConcurrent: 1, abandonedLeaseMs: 500 },
    },
    clock.host,
  );
  const first = client.tryCall(never);
  const second = client.call(async () => "went");
  await clock.advance(100);
  assert.ok(!(await first).ok);
  await clock.advance(499);
  assert.equal(client.stats().queued, 1);
  await clock.advance(1);
  assert.equal(await second, "went");
});

test("no barging past the limit, at any turn (BH-04)", async () => {
  for (let turns = 0; turns <= 8; turns++) {
    const client = new ResilientClient({ bulkhead: { maxConcurrent: 1 } });
    const order: string[] = [];
    let running = 0;
    let peak = 0;
    const work = (name: string) => async () => {
      peak = Math.max(peak, ++running);
      order.push(name);
      await settled();
      running--;
    };
    const holder = client.call(work("holder"));
    const waiter = client.call(work("waiter"));
    const newcomer = holder.then(async () => {
      for (let turn = 0; turn < turns; turn++) await undefined;
      return client.call(work("newcomer"));
    });
    await Promise.all([holder, waiter, newcomer]);
    assert.deepEqual([peak, order], [1, ["holder", "waiter", "newcomer"]]);
  }
});

test("a listener or an operation that cancels its own call gets what it asked for", async () => {
  const client = new ResilientClient({ ...lone, bulkhead: { maxConcurrent: 1 } });
  const first = new AbortController();
  const off = client.on("attemptStarted", () => first.abort("by the listener"));
  let calls = 0;
  const { signal } = first;
  await assert.rejects(client.call(() => calls++, { signal }), (reason) => reason === signal.reason);
  off();
  assert.equal(calls, 0);
  assert.equal(client.stats().running, 0);
  const second = new AbortController();
  await assert.rejects(
    client.call(() => second.abort("by the operation"), { signal: second.signal }),
    (reason) => reason === second.signal.reason,
  );
  assert.equal(client.stats().running, 0);
  assert.equal(await client.call(() => client.stats().running), 1);
});
