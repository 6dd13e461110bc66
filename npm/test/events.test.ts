import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpError, ResilientClient, type EventName, type Policy } from "../src/index.ts";
import { VirtualClock, settled } from "./support/clock.ts";

const NAMES: EventName[] = [
  "attemptStarted",
  "attemptFailed",
  "retryScheduled",
  "callSucceeded",
  "callFailed",
  "refused",
  "circuitChanged",
  "lateResult",
];
const policy: Policy = {
  name: "payments",
  retry: { maxAttempts: 3, jitter: "none", baseMs: 10 },
  retryAfter: { combine: "max" },
  breaker: { failureThreshold: 4, openJitter: false },
  attemptTimeoutMs: 100,
};

function record(client: ResilientClient): string[] {
  const seen: string[] = [];
  for (const name of NAMES) {
    client.on(name, (event) => {
      const told = event as unknown as Record<string, string | number>;
      assert.equal(told["client"], "payments");
      const fields = ["attempt", "waitMs", "why", "reason", "kind", "from", "to", "cause", "outcome"];
      seen.push([name, ...fields.map((field) => told[field]).filter(Boolean)].join(" "));
    });
  }
  return seen;
}

test("each event of a call, in order (V1)", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(policy, clock.host);
  const seen = record(client);
  let end = (): void => {};
  const first = client.call<unknown>(({ attempt }) => {
    if (attempt === 1) throw new HttpError(429, 25);
    return attempt === 2 ? new Promise<void>((resolve) => (end = resolve)) : "ok";
  });
  await clock.advance(500);
  assert.equal(await first, "ok");
  end();
  await settled();
  assert.deepEqual(seen.splice(0), [
    "attemptStarted 1",
    "attemptFailed 1 throttled",
    "retryScheduled 2 25 retry_after throttled",
    "attemptStarted 2",
    "attemptFailed 2 timeout",
    "retryScheduled 3 20 backoff timeout",
    "attemptStarted 3",
    "callSucceeded",
    "lateResult 2 fulfilled",
  ]);
  const second = client.tryCall(() => Promise.reject(new HttpError(503)));
  await clock.advance(500);
  assert.equal((await second).decision.reason, "attempts_exhausted");
  await client.tryCall(() => 1);
  assert.deepEqual(seen.splice(0), [
    "attemptStarted 1",
    "attemptFailed 1 server",
    "retryScheduled 2 10 backoff server",
    "attemptStarted 2",
    "attemptFailed 2 server",
    "retryScheduled 3 20 backoff server",
    "attemptStarted 3",
    "attemptFailed 3 server",
    "circuitChanged closed open failure_threshold",
    "callFailed attempts_exhausted server",
    "refused circuit_open",
  ]);
  client.reset();
  const third = client.tryCall(() => new Promise(() => {}), { deadlineMs: 50 });
  await clock.advance(50);
  await third;
  await client.tryCall(() => 1, { signal: AbortSignal.abort() });
  assert.deepEqual(seen.splice(0), [
    "circuitChanged open closed manual",
    "attemptStarted 1",
    "attemptFailed 1 timeout",
    "refused deadline_exceeded",
    "refused cancelled",
  ]);
});

test("a listener that throws changes nothing and is reported (E8)", async () => {
  const reported: [unknown, EventName][] = [];
  const client = new ResilientClient(
    { ...policy, retry: { baseMs: 1, maxAttempts: 2 } },
    { onListenerError: (error, event) => reported.push([error, event]) },
  );
  const boom = new Error("logger down");
  for (const name of NAMES) {
    client.on(name, () => {
      throw boom;
    });
  }
  client.on("attemptStarted", (async () => Promise.reject(boom)) as () => void);
  const value = await client.call(({ attempt }) => {
    if (attempt === 1) throw new HttpError(503);
    return "ok";
  });
  assert.equal(value, "ok");
  await settled();
  assert.deepEqual(reported.map(([, event]) => event).sort(), [
    "attemptFailed",
    "attemptStarted",
    "attemptStarted",
    "attemptStarted",
    "attemptStarted",
    "callSucceeded",
    "retryScheduled",
  ]);
  assert.ok(reported.every(([error]) => error === boom));
});

test("even the report may fail", async () => {
  const client = new ResilientClient(policy, {
    onListenerError: () => {
      throw new Error("down as well");
    },
  });
  client.on("callSucceeded", () => {
    throw new Error("logger down");
  });
  assert.equal(await client.call(() => 1), 1);
});

test("a listener can be taken away, and the same function can listen twice", async () => {
  const client = new ResilientClient(policy);
  let told = 0;
  const listener = (): void => void told++;
  const offs = [client.on("callSucceeded", listener), client.on("callSucceeded", listener)];
  await client.call(() => 1);
  assert.equal(told, 2);
  offs[0]!();
  offs[0]!();
  await client.call(() => 1);
  assert.equal(told, 3);
  offs[1]!();
  await client.call(() => 1);
  assert.equal(told, 3);
});

test("a listener may call the client", async () => {
  const client = new ResilientClient(policy);
  let nested = 0;
  client.on("callSucceeded", ({ attempts }) => {
    if (nested++ < 3) void client.call(() => attempts);
  });
  await client.call(() => 1);
  await settled();
  assert.equal(client.stats().calls, 4);
});

test("an event that does not exist is a mistake of the caller", () => {
  const client = new ResilientClient({});
  assert.throws(() => client.on("retried" as never, () => {}), /retried is none of attemptStarted/);
});
