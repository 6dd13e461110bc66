// Values, errors, responses and clocks that somebody else made.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import {
  HttpError,
  ResilientClient,
  StormproofError,
  classifyError,
  isRefused,
  type Policy,
} from "../src/index.ts";
import { VirtualClock, settled, sleep } from "./support/clock.ts";

const policy: Policy = {
  retry: { maxAttempts: 3, baseMs: 1, capMs: 1 },
  breaker: false,
  budget: false,
};
const reset = (): Error => Object.assign(new Error("reset"), { code: "ECONNRESET" });

const unhandled: unknown[] = [];
const keep = (error: unknown): number => unhandled.push(error);
before(() => void process.on("unhandledRejection", keep));
after(() => void process.off("unhandledRejection", keep));

/** What a call rejects with. `assert.rejects` would look into it. */
async function rejects(call: Promise<unknown>, error: unknown): Promise<void> {
  let isSame = false;
  await call.catch((caught) => void (isSame = caught === error));
  assert.ok(isSame);
}

/** Nothing was rejected behind anybody's back. */
async function assertQuiet(client: ResilientClient): Promise<void> {
  await sleep(1);
  assert.deepEqual(unhandled.splice(0), []);
  const { running, queued, abandoned } = client.stats();
  assert.deepEqual({ running, queued, abandoned }, { running: 0, queued: 0, abandoned: 0 });
}

test("the response of a library with streams of Node is let go of, and nothing else happens", async () => {
  const client = new ResilientClient(policy);
  const bodies: Readable[] = [];
  const answer = (): Response => {
    const body = Readable.from(["never read"]);
    bodies.push(body);
    const headers = new Headers();
    return { [Symbol.toStringTag]: "Response", status: 503, headers, body } as never;
  };
  const last = await client.call(answer);
  assert.equal(last.status, 503);
  assert.deepEqual(bodies.map((body) => body.destroyed), [true, true, false]);
  await assertQuiet(client);
});

test("an HttpError of another make is retried, whatever its response is", async () => {
  const responses = [{ headers: {}, body: "text" }, { body: { json: true } }, "text", null];
  for (const response of responses) {
    const client = new ResilientClient(policy);
    const error = Object.assign(new Error("x"), { name: "HttpError", status: 503, response });
    await assert.rejects(client.call(() => Promise.reject(error)), (caught) => caught === error);
    assert.equal(client.stats().attempts, 3);
    await assertQuiet(client);
  }
});

test("a wait that is no number is none", async () => {
  for (const retryAfterMs of [NaN, -1, "soon", 10n, Symbol(), { valueOf: assert.fail }]) {
    const client = new ResilientClient(policy);
    const error = Object.assign(new Error("x"), { name: "HttpError", status: 503, retryAfterMs });
    const result = await client.tryCall(() => Promise.reject(error));
    assert.equal(result.decision.reason, "attempts_exhausted");
    assert.equal(classifyError(error).kind, "server");
    await assertQuiet(client);
  }
});

test("what cannot be read is an error that no rule recognises", async () => {
  const fault = new Error("cannot be read");
  const throws = (): never => {
    throw fault;
  };
  const errors = [
    { name: "HttpError", status: 503, get retryAfterMs() { return throws(); } },
    { name: "HttpError", status: 503, get response() { return throws(); } },
    new Proxy({}, { get: throws, has: throws, getPrototypeOf: throws }),
  ];
  for (const error of errors) {
    assert.equal(isRefused(error), false);
    for (const operation of [() => Promise.reject(error), () => { throw error; }]) {
      const client = new ResilientClient(policy);
      await rejects(client.call(operation), error);
      await assertQuiet(client);
    }
    const client = new ResilientClient(policy, { fetch: () => Promise.reject(error) });
    await rejects(client.fetch("http://127.0.0.1/"), error);
    await assertQuiet(client);
  }
  const response = { [Symbol.toStringTag]: "Response", status: 503, headers: { get: throws } };
  const client = new ResilientClient(policy);
  await assert.rejects(client.call(async () => response), (caught) => caught === fault);
  await assertQuiet(client);
});

test("a function that is a promise is waited for", async () => {
  const client = new ResilientClient(policy);
  let calls = 0;
  const thenable = (): PromiseLike<string> =>
    Object.assign(() => {}, {
      then: (done: (value: string) => void, failed: (error: Error) => void) =>
        setTimeout(() => (++calls < 3 ? failed(reset()) : done("ok")), 1),
    }) as never;
  assert.equal(await client.call(thenable), "ok");
  assert.equal(client.stats().attempts, 3);
  const plain = (): number => 1;
  assert.equal(await client.call(() => plain), plain);
});

test("a promise that settles twice ends one attempt", async () => {
  const client = new ResilientClient(policy);
  let calls = 0;
  const operation = (): Promise<string> => {
    const promise = Promise.resolve("");
    const number = ++calls;
    promise.then = ((done: (value: string) => void, failed: (error: Error) => void) => {
      if (number === 2) return void setTimeout(() => done("ok"), 20);
      failed(reset());
      failed(reset());
      setTimeout(() => done("late"), 10);
    }) as never;
    return promise;
  };
  assert.equal(await client.call(operation), "ok");
  const { attempts, failures } = client.stats();
  assert.deepEqual({ attempts, failures }, { attempts: 2, failures: { network: 1 } });
  await assertQuiet(client);
});

test("a business error of another copy of the package is one", () => {
  class BusinessError extends Error {
    override readonly name = "BusinessError";
    readonly code = "declined";
  }
  const cause = new BusinessError();
  assert.deepEqual(classifyError(cause), { kind: "business", code: "declined", cause });
});

test("a frozen response can be read under a signal", async () => {
  const { signal } = new AbortController();
  const answer = async (): Promise<Response> => Object.freeze(new Response("x"));
  const client = new ResilientClient(policy, { fetch: answer });
  assert.equal(await (await client.fetch("http://127.0.0.1/", { signal })).text(), "x");
});

test("close ends calls that are about to be woken", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient({ ...policy, attemptTimeoutMs: 50 }, clock.host);
  const calls = [0, 1, 2].map(() =>
    client.call(({ signal }) => {
      signal.addEventListener("abort", () => client.close());
      return new Promise(() => {});
    }),
  );
  const ends = Promise.allSettled(calls);
  await clock.advance(50);
  for (const end of await ends) {
    assert.ok(end.status === "rejected" && isRefused(end.reason));
    assert.equal((end.reason as StormproofError).code, "closed");
  }
  assert.equal(clock.timers.size, 0);
});

test("a hook that closes the client leaves no timer", async () => {
  const clock = new VirtualClock();
  const other = new ResilientClient({ bulkhead: { maxConcurrent: 1, abandonedLeaseMs: 9_000 } }, clock.host);
  const client = new ResilientClient(policy, {
    ...clock.host,
    shouldRetry: () => {
      client.close();
      void other.call(() => new Promise(() => {})).catch(() => {});
      void other.call(() => {}).catch(() => {});
      return true;
    },
  });
  await assert.rejects(client.call(() => Promise.reject(new Error("odd"))), { code: "closed" });
  other.close();
  assert.equal(clock.timers.size, 0);
});

for (const hours of [1, 24]) {
  test(`a clock that is set back by ${hours} h holds nobody (A8)`, async () => {
    const clock = new VirtualClock();
    let back = 0;
    const host = { ...clock.host, now: () => 1e9 + clock.time - back };
    const client = new ResilientClient(
      { ...policy, retry: { maxAttempts: 2, baseMs: 100, jitter: "none" }, attemptTimeoutMs: 200 },
      host,
    );
    const started: number[] = [];
    const waiting = client.call(({ attempt }) => {
      started.push(clock.time);
      if (attempt === 1) throw new HttpError(503);
    });
    const hanging = assert.rejects(
      client.call(() => new Promise(() => {})),
      { name: "TimeoutError" },
    );
    await clock.advance(10);
    back = hours * 3_600_000;
    const next = client.call(() => sleepOn(clock, 5));
    await clock.advance(1000);
    await Promise.all([waiting, hanging, next]);
    const [first, second] = started as [number, number];
    assert.ok(second - first >= 100 && second - first <= 200, String(second - first));
    assert.equal(client.stats().running, 2);
  });
}

async function sleepOn(clock: VirtualClock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => void clock.host.setTimeout!(resolve, ms));
  await settled();
}
