import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BusinessError,
  HttpError,
  ResilientClient,
  StormproofError,
  decisionOf,
  isRefused,
  isRetryable,
  type Attempt,
  type Policy,
} from "../src/index.ts";
import { VirtualClock, settled } from "./support/clock.ts";

const quick: Policy = { name: "payments", retry: { baseMs: 1, capMs: 2 } };
const lone: Policy = { ...quick, breaker: false, budget: false };
const thenable = (then: (done: (value: number) => void) => void): PromiseLike<number> =>
  ({ then }) as PromiseLike<number>;
const refusedConnection = (): Error =>
  Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

test("fails, is tried again, succeeds", async () => {
  const client = new ResilientClient(quick);
  const attempts: number[] = [];
  const value = await client.call(async ({ attempt }) => {
    attempts.push(attempt);
    if (attempt < 3) throw refusedConnection();
    return "done";
  });
  assert.equal(value, "done");
  assert.deepEqual(attempts, [1, 2, 3]);
  const { calls, retries, successes, failures } = client.stats();
  assert.deepEqual({ calls, retries, successes, failures }, {
    calls: 1,
    retries: 2,
    successes: 1,
    failures: { network: 2 },
  });
});

test("the last error is the operation's own, the same object, with the decision behind it", async () => {
  const client = new ResilientClient(lone);
  const errors: Error[] = [];
  const error = await client
    .call(async () => {
      errors.push(refusedConnection());
      throw errors.at(-1);
    })
    .catch((error: unknown) => error);
  assert.equal(errors.length, 4);
  assert.equal(error, errors[3]);
  const decision = decisionOf(error)!;
  assert.equal(decision.reason, "attempts_exhausted");
  assert.equal(decision.attempts, 4);
  assert.equal(decision.lastKind, "network");
  assert.equal(client.decisionOf(error), decision);
  assert.equal(
    client.explain(decision),
    "Given up: all attempts were made. Attempt 4 of 4 got a network failure from payments.",
  );
});

test("an error that no rule recognises is not retried, and counts for nothing", async () => {
  const client = new ResilientClient(quick);
  let calls = 0;
  const boom = new RangeError("boom");
  for (let i = 0; i < 10; i++) {
    await assert.rejects(client.call(() => (calls++, Promise.reject(boom))), boom);
  }
  assert.equal(calls, 10);
  assert.equal(client.stats().circuit, "closed");
  assert.equal(decisionOf(boom)?.lastKind, "unclassified");
});

test("throws, rejections and plain values are outcomes alike (BH-06)", async () => {
  const client = new ResilientClient({ ...lone, bulkhead: { maxConcurrent: 1 } });
  const boom = new Error("boom");
  const fail = (): never => {
    throw boom;
  };
  await assert.rejects(client.call(fail), boom);
  await assert.rejects(client.call(async () => fail()), boom);
  await assert.rejects(client.call(() => Promise.reject(boom)), boom);
  assert.equal(await client.call(() => 5), 5);
  assert.equal(await client.call(() => undefined), undefined);
  assert.equal(await client.call(() => thenable((done) => done(6))), 6);
  await assert.rejects(client.call(() => thenable(fail)), boom);
  for (const odd of [undefined, null, "text", 0, NaN, Symbol("s"), Object.create(null)]) {
    await assert.rejects(client.call(() => Promise.reject(odd)), (error) => Object.is(error, odd));
  }
  assert.equal(await client.call(async () => "runs"), "runs");
  assert.equal(client.stats().running, 0);
});

test("a hostile error is survived", async () => {
  const client = new ResilientClient(quick);
  const hostile = new Proxy(new Error("x"), {
    get() {
      throw new Error("no");
    },
  });
  const [error] = await client.call(() => Promise.reject(hostile)).catch((error: unknown) => [error]);
  assert.ok(error === hostile);
});

test("shouldRetry and classify are asked about unrecognised errors only", async () => {
  const asked: unknown[] = [];
  const client = new ResilientClient(lone, {
    shouldRetry: (error) => asked.push(error) > 0,
    classify: (error) =>
      (error as Error).message === "declined"
        ? { kind: "business", code: "declined", cause: error }
        : undefined,
  });
  let calls = 0;
  const odd = new Error("odd");
  assert.equal(await client.call(async () => (calls++ === 0 ? Promise.reject(odd) : "ok")), "ok");
  assert.deepEqual(asked, [odd]);
  await assert.rejects(client.call(() => Promise.reject(new HttpError(404))));
  await assert.rejects(client.call(() => fetch("not a url")));
  await assert.rejects(client.call(() => Promise.reject(new Error("declined"))));
  assert.equal(asked.length, 1);
  const own = await client.tryCall(() => Promise.reject(odd), { shouldRetry: () => false });
  assert.equal(own.decision.reason, "permanent");
});

test("a hook that throws leaves the error unrecognised and is reported", async () => {
  const reported: unknown[] = [];
  const client = new ResilientClient(quick, {
    shouldRetry: () => {
      throw new Error("hook down");
    },
    onListenerError: (error) => reported.push(error),
  });
  const boom = new Error("boom");
  await assert.rejects(client.call(() => Promise.reject(boom)), boom);
  assert.equal((reported[0] as Error).message, "hook down");
});

test("HttpError and Response are judged by their status", async () => {
  const client = new ResilientClient(lone);
  const tries = async (make: () => unknown): Promise<number> => {
    let calls = 0;
    await client
      .call(() => {
        calls++;
        const made = make();
        if (made instanceof Error) throw made;
        return made;
      })
      .catch(() => undefined);
    return calls;
  };
  for (const status of [408, 429, 500, 502, 503, 504, 529]) {
    assert.equal(await tries(() => new HttpError(status)), 4, `${status}`);
    assert.equal(await tries(() => new Response("", { status })), 4, `${status}`);
  }
  for (const status of [400, 401, 403, 404, 409, 410, 422, 501, 505, 511]) {
    assert.equal(await tries(() => new HttpError(status)), 1, `${status}`);
    assert.equal(await tries(() => new Response("", { status })), 1, `${status}`);
  }
  assert.equal(await tries(() => new HttpError(200)), 1);
});

test("without a parser the last response is handed out, whatever its status", async () => {
  const client = new ResilientClient(lone);
  const made: Response[] = [];
  const response = await client.call(async () => {
    made.push(new Response("down", { status: 503 }));
    return made.at(-1)!;
  });
  assert.equal(response, made[3]);
  assert.equal(await response.text(), "down");
  assert.equal(decisionOf(response)?.reason, "attempts_exhausted");
  assert.ok(made[0]!.bodyUsed);
  const fine = await client.call(async () => new Response("up"));
  assert.equal(decisionOf(fine)?.reason, "success");
});

test("with a parser a response that is no success is an HttpError", async () => {
  const client = new ResilientClient(lone);
  const options = { parse: (response: Response) => response.json() as Promise<{ id: number }> };
  const { id } = await client.call(async () => new Response('{"id": 7}'), options);
  assert.equal(id, 7);
  const error = await client
    .call(async () => new Response("gone", { status: 410 }), options)
    .catch((error: unknown) => error);
  assert.ok(error instanceof HttpError);
  assert.equal(error.status, 410);
  assert.equal(await error.response?.text(), "gone");
});

test("what a parser throws is a contract failure, unless it is an error that is known", async () => {
  const client = new ResilientClient(lone);
  let calls = 0;
  const parseWith = (parse: () => unknown) => {
    calls = 0;
    return client.tryCall(async () => ++calls, { parse });
  };
  const broken = await parseWith(() => JSON.parse("{"));
  assert.equal(broken.ok === false && broken.error.kind, "contract");
  assert.equal(calls, 1);
  const declined = await parseWith(() => {
    throw new BusinessError("declined");
  });
  assert.equal(declined.ok === false && declined.error.kind, "business");
  const cut = await parseWith(async () => {
    throw Object.assign(new TypeError("terminated"), { cause: { code: "UND_ERR_SOCKET" } });
  });
  assert.equal(cut.ok === false && cut.error.kind, "network");
  assert.equal(calls, 4);
});

test("tryCall answers with values", async () => {
  const client = new ResilientClient(lone);
  const good = await client.tryCall(async () => "fine");
  assert.ok(good.ok);
  assert.equal(good.value, "fine");
  assert.equal(good.decision.reason, "success");
  const bad = await client.tryCall(async () => new Response("", { status: 503 }));
  assert.ok(!bad.ok);
  assert.ok(isRetryable(bad.error));
  assert.ok(bad.error.kind === "server");
  assert.equal(bad.error.status, 503);
});

test("an empty budget: no retry, no sleep, the real error (RB-02)", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient({ budget: { capacity: 0 } }, clock.host);
  const reasons: string[] = [];
  client.on("callFailed", ({ reason }) => reasons.push(reason));
  let calls = 0;
  const error = new HttpError(503);
  await assert.rejects(client.call(() => (calls++, Promise.reject(error))), error);
  assert.equal(calls, 1);
  assert.deepEqual(reasons, ["budget_exhausted"]);
  assert.match(client.explain(decisionOf(error)!), /the retry budget holds 0 tokens/);
  assert.equal(client.explain(error), client.explain(decisionOf(error)!));
  for (const nothing of [{}, undefined, new Error("odd")]) {
    assert.throws(() => client.explain(nothing), TypeError);
  }
});

test("first attempts are free (RB-01)", async () => {
  const client = new ResilientClient({
    ...quick,
    breaker: false,
    budget: { capacity: 2, refillPerSuccess: 0, refillPerSecond: 0 },
  });
  let calls = 0;
  const fail = (): Promise<never> => (calls++, Promise.reject(refusedConnection()));
  await Promise.allSettled(Array.from({ length: 50 }, () => client.call(fail)));
  assert.equal(calls, 52);
});

test("10,000 failing calls send at most 10,100 requests (RB-05)", async () => {
  const client = new ResilientClient({
    ...quick,
    breaker: false,
    budget: { capacity: 100, refillPerSuccess: 0.1, refillPerSecond: 0 },
  });
  let sent = 0;
  const fail = (): Promise<never> => (sent++, Promise.reject(refusedConnection()));
  await Promise.allSettled(Array.from({ length: 10_000 }, () => client.call(fail)));
  assert.equal(sent, 10_100);
});

test("one call does not exhaust another (RB-09)", async () => {
  const client = new ResilientClient({ ...quick, retry: { maxAttempts: 3, baseMs: 1 } });
  const made = [0, 0];
  await Promise.allSettled([
    client.call(() => (made[0]!++, Promise.reject(refusedConnection()))),
    client.call(async () => (made[1]!++ === 0 ? Promise.reject(refusedConnection()) : "ok")),
  ]);
  assert.deepEqual(made, [3, 2]);
});

test("the circuit opens after five failures on the wire, and the sixth is refused (CB-19)", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    {
      name: "payments",
      retry: { maxAttempts: 3, jitter: "none", baseMs: 10 },
      breaker: { failureThreshold: 5, openJitter: false },
      budget: false,
    },
    clock.host,
  );
  let wire = 0;
  const last: Error[] = [];
  const fail = (): Promise<never> => {
    wire++;
    last.push(refusedConnection());
    return Promise.reject(last.at(-1));
  };
  const first = client.tryCall(fail);
  await clock.advance(100);
  assert.equal((await first).decision.reason, "attempts_exhausted");
  const second = client.call(fail).catch((error: unknown) => error);
  await clock.advance(100);
  const error = await second;
  assert.equal(wire, 5);
  assert.ok(isRefused(error) && error instanceof StormproofError);
  assert.equal(error.code, "circuit_open");
  assert.equal(error.cause, last[4]);
  assert.equal(error.decision, decisionOf(error));
  const waits = clock.waits.length;
  const third = await client.call(fail).catch((error: unknown) => error);
  assert.ok(isRefused(third));
  assert.equal(third.cause, undefined);
  assert.equal(third.retryAfterMs, 4_910);
  assert.equal(wire, 5);
  assert.equal(clock.waits.length, waits);
  assert.equal(client.stats().refusals.circuit_open, 2);
  const { openForMs } = client.stats();
  await clock.advance(openForMs!);
  assert.equal(client.stats().circuit, "half_open");
  for (let i = 0; i < 2; i++) await client.call(async () => "up");
  assert.equal(client.stats().circuit, "closed");
});

test("another client's refusal passes through, is not retried and counts for nothing (C7)", async () => {
  const inner = new ResilientClient({ ...quick, name: "inner" });
  inner.forceOpen();
  const outer = new ResilientClient({ ...quick, name: "outer" });
  let calls = 0;
  for (let i = 0; i < 10; i++) {
    const result = await outer.tryCall(() => (calls++, inner.call(async () => 1)));
    assert.ok(!result.ok);
    assert.equal(result.error.kind, "circuit_open");
    assert.equal(result.decision.reason, "permanent");
  }
  assert.equal(calls, 10);
  assert.equal(outer.stats().circuit, "closed");
});

test("a refusal is recognised whichever copy of the package made it", () => {
  const copied = Object.defineProperty(new Error("x"), Symbol.for("stormproof.refusal"), {
    value: true,
  });
  assert.ok(isRefused(copied));
  assert.ok(!isRefused(new Error("x")));
  assert.ok(!isRefused(undefined));
});

test("states can be set by hand, and a forced refusal promises no time", async () => {
  const client = new ResilientClient(quick);
  client.forceOpen();
  const error = await client.call(async () => 1).catch((error: unknown) => error);
  assert.ok(isRefused(error));
  assert.equal(error.retryAfterMs, undefined);
  assert.equal(error.decision?.forced, true);
  client.forceClosed();
  assert.equal(client.stats().circuit, "forced_closed");
  assert.equal(await client.call(async () => 1), 1);
  client.reset();
  assert.equal(client.stats().circuit, "closed");
  client.metricsOnly();
  for (let i = 0; i < 20; i++) await client.tryCall(() => Promise.reject(refusedConnection()));
  assert.equal(await client.call(async () => 1), 1);
});

test("safety: an unsafe call is repeated only when it certainly had no effect", async () => {
  const client = new ResilientClient(lone);
  const tries = async (code: string, options: object): Promise<number> => {
    let calls = 0;
    const error = Object.assign(new Error(code), { code });
    await client.tryCall(() => (calls++, Promise.reject(error)), options);
    return calls;
  };
  assert.equal(await tries("ECONNRESET", { safety: "unsafe" }), 1);
  assert.equal(await tries("ECONNREFUSED", { safety: "unsafe" }), 4);
  assert.equal(await tries("ECONNRESET", { idempotencyKey: "order-1" }), 4);
  assert.equal(await tries("ECONNRESET", {}), 4);
  const payment = new ResilientClient({ preset: "payment", retry: { baseMs: 1 } });
  const result = await payment.tryCall(() => Promise.reject(refusedConnection()));
  assert.equal(result.decision.reason, "unsafe_to_retry");
  await assert.rejects(client.call(() => 1, { safety: "safe" as never }), TypeError);
});

test("one key for one call", async () => {
  const client = new ResilientClient(lone);
  const keysOf = async (idempotencyKey: string | true): Promise<(string | undefined)[]> => {
    const keys: (string | undefined)[] = [];
    await client.tryCall(
      (attempt) => (keys.push(attempt.idempotencyKey), Promise.reject(refusedConnection())),
      { idempotencyKey },
    );
    return keys;
  };
  assert.deepEqual(await keysOf("order-1"), Array(4).fill("order-1"));
  const [first, second] = [await keysOf(true), await keysOf(true)];
  assert.equal(new Set(first).size, 1);
  assert.notEqual(first[0], second[0]);
  for (const bad of ["", "é", "a\nb", "x".repeat(256)]) {
    let calls = 0;
    await assert.rejects(client.call(() => calls++, { idempotencyKey: bad }), {
      name: "IdempotencyKeyError",
      code: "invalid_key",
    });
    assert.equal(calls, 0);
  }
});

test("a deadline is a number of milliseconds", async () => {
  const client = new ResilientClient(quick);
  for (const deadlineMs of [NaN, "5", null] as number[]) {
    await assert.rejects(client.call(() => 1, { deadlineMs }), TypeError);
  }
  assert.equal(await client.call(() => 1, { deadlineMs: Infinity }), 1);
  const error = await client.call(() => 1, { deadlineMs: -1 }).catch((error: unknown) => error);
  assert.ok(isRefused(error) && error.code === "deadline_exceeded");
});

test("Response.error() is a network failure", async () => {
  const client = new ResilientClient(lone);
  const result = await client.tryCall(() => Response.error());
  assert.ok(!result.ok && result.error.kind === "network");
  assert.equal(result.decision.attempts, 4);
  assert.equal((await client.call(() => Response.error())).type, "error");
  await assert.rejects(client.call(() => Response.error(), { parse: () => 1 }), TypeError);
});

test("the attempt tells how long it may take", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient({ attemptTimeoutMs: 5_000 }, clock.host);
  const lefts: number[] = [];
  const look = ({ timeLeftMs }: Attempt): void => void lefts.push(timeLeftMs);
  await client.call(look);
  await client.call(look, { deadlineMs: 300 });
  const endless = new ResilientClient({ attemptTimeoutMs: null, overallTimeoutMs: null }, clock.host);
  await endless.call(look);
  assert.deepEqual(lefts, [5_000, 300, Infinity]);
});

test("close ends what is under way and refuses what comes", async () => {
  const client = new ResilientClient({ ...quick, bulkhead: { maxConcurrent: 1 } });
  let signal: AbortSignal | undefined;
  const running = client.call((attempt) => {
    signal = attempt.signal;
    return new Promise(() => {});
  });
  const queued = client.call(async () => 1);
  client.close();
  client.close();
  for (const call of [running, queued, client.call(async () => 1), client.fetch("http://x/")]) {
    await assert.rejects(call, { name: "StormproofError", code: "closed" });
  }
  assert.ok(signal?.aborted);
  assert.throws(() => client.stats(), { code: "closed" });
});

test("many clients and calls at once, whatever the order of their ends", async () => {
  const client = new ResilientClient({
    retry: { baseMs: 0, maxAttempts: 3 },
    breaker: false,
    budget: false,
    bulkhead: { maxConcurrent: 7, maxQueue: 1_000_000 },
  });
  let running = 0;
  let peak = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 2_000 }, (_, i) =>
      client.call(async ({ attempt }) => {
        peak = Math.max(peak, ++running);
        for (let turn = 0; turn < i % 9; turn++) await undefined;
        if (i % 5 === 0) await settled();
        running--;
        if ((i + attempt) % 3 === 0) throw refusedConnection();
        return i;
      }),
    ),
  );
  assert.equal(peak, 7);
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 2_000);
  const { queued, abandoned } = client.stats();
  assert.deepEqual([client.stats().running, queued, abandoned], [0, 0, 0]);
});
