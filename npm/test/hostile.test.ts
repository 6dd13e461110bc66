// A server that answers as it likes, and what it can and cannot do to a client. SECURITY.md names
// each test.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import {
  BusinessError,
  PolicyError,
  ResilientClient,
  decisionOf,
  type HostOptions,
  type Policy,
} from "../src/index.ts";
import { VirtualClock, settled, sleep } from "./support/clock.ts";
import { headersNamed, startFaultServer, type FaultServer } from "./support/fault-server.ts";

let server: FaultServer;
const others: Server[] = [];
before(async () => {
  server = await startFaultServer();
});
after(() => {
  server.close();
  for (const other of others) {
    other.close();
    other.closeAllConnections();
  }
});

const lone: Policy = {
  name: "server",
  retry: { baseMs: 1, capMs: 5, maxAttempts: 2 },
  breaker: false,
  budget: false,
};
const impatient: Policy = { ...lone, attemptTimeoutMs: 400 };
const MANY = 10_000_000;

interface Part {
  readonly text: string;
  readonly times?: number;
  readonly every_ms?: number;
}
const raw = (...parts: (string | Part)[]): unknown => ({
  fault: "raw",
  parts: parts.map((part) => (typeof part === "string" ? { text: part } : part)),
});
const EMPTY = "connection: close\r\ncontent-length: 0\r\n\r\n";
const bare = (status: string): unknown => raw(`HTTP/1.1 ${status}\r\n${EMPTY}`);

/** Another origin. */
async function origin(listener: RequestListener): Promise<string> {
  const other = createServer(listener).listen(0, "127.0.0.1");
  others.push(other);
  await once(other, "listening");
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
}

/** The kinds of the attempts that failed before the server answered 200 to one. */
async function failuresUntilWell(step: unknown, policy: Policy = lone): Promise<unknown> {
  const client = new ResilientClient(policy);
  const response = await client.fetch(await server.script([step, 200]));
  assert.equal(response.status, 200);
  const { failures, running, abandoned } = client.stats();
  assert.deepEqual([running, abandoned], [0, 0]);
  return failures;
}

/** Waits until no more connections than so many are open. */
async function assertOpen(atMost: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await server.connections()).open <= atMost) return;
    await sleep(20);
  }
  assert.fail(`${(await server.connections()).open} connections are open`);
}

test("nobody waits for ever because Retry-After says so", async () => {
  const client = new ResilientClient(lone);
  const waits = [
    ["retry-after", "9".repeat(200)],
    ["retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"],
    ["retry-after", "Friday, 31-Dec-70 23:59:59 GMT"],
    ["retry-after-ms", "99999999999999999999.9"],
    ["x-ms-retry-after-ms", "60001"],
  ];
  for (const header of waits) {
    for (const status of [429, 503]) {
      const response = await client.fetch(await server.script([{ status, headers: [header] }]));
      const { reason, attempts } = decisionOf(response)!;
      assert.deepEqual([reason, attempts], ["retry_after_too_long", 1], String(header));
    }
  }
  assert.equal(client.stats().totalWaitMs, 0);
});

test("nobody comes back early because Retry-After says so", async () => {
  const client = new ResilientClient({
    ...lone,
    retry: { baseMs: 30, jitter: "none", factor: 1, maxAttempts: 6 },
  });
  const waits: number[] = [];
  client.on("retryScheduled", ({ waitMs }) => waits.push(waitMs));
  const header = (name: string, value: string): unknown => ({ status: 503, headers: [[name, value]] });
  const steps = [
    header("retry-after", "0"),
    header("retry-after-ms", "0.0001"),
    header("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"),
    { status: 503, retry_after_date_ms: 0, date_skew_ms: 315_360_000_000 },
  ];
  assert.equal((await client.fetch(await server.script([...steps, 200]))).status, 200);
  assert.deepEqual(waits, [30, 30, 30, 30]);
});

test("a head that never ends costs one attempt", async () => {
  const drips = [
    "hang",
    raw("HTTP/1.1 200 OK\r\n", { text: "x-a: b\r\n", times: MANY, every_ms: 20 }),
    raw("HTTP/1.1 200 OK\r\nx-a: ", { text: "b", times: MANY, every_ms: 20 }),
    raw({ text: "HTTP/1.1 200 OK", every_ms: 600_000 }),
    raw({ text: "HTTP/1.1 103 Early Hints\r\n\r\n", times: MANY, every_ms: 20 }),
    raw({ text: "HTTP/1.1 103 Early Hints\r\n\r\n", times: MANY }),
  ];
  const { open } = await server.connections();
  for (const drip of drips) {
    const failures = await failuresUntilWell(drip, impatient);
    assert.deepEqual(failures, { timeout: 1 }, JSON.stringify(drip));
  }
  await assertOpen(open + 2);
});

test("a head that is too long costs one attempt", async () => {
  const heads = [
    raw("HTTP/1.1 200 OK\r\n", { text: "x-a: b\r\n", times: MANY }),
    raw("HTTP/1.1 503 x\r\nretry-after: ", { text: "9", times: MANY }, "\r\n\r\n"),
    raw("HTTP/1.1 503 x\r\n", { text: "retry-after: 1\r\n", times: 100_000 }, "\r\n"),
    { fault: "huge_headers", status: 503, count: 2_000, bytes: 100 },
  ];
  for (const head of heads) {
    assert.deepEqual(await failuresUntilWell(head), { network: 1 }, JSON.stringify(head));
  }
});

test("Retry-After in many lines is none", async () => {
  const client = new ResilientClient(lone);
  const lines = { text: "retry-after: 1\r\n", times: 500 };
  const head = raw("HTTP/1.1 503 x\r\n", lines, EMPTY);
  assert.equal((await client.fetch(await server.script([head, 200]))).status, 200);
  const { failures, retryAfterAdopted } = client.stats();
  assert.deepEqual([failures, retryAfterAdopted], [{ server: 1 }, 0]);
});

test("a status that is none is a broken answer, and one of no known kind is permanent", async () => {
  for (const status of ["000 x", "-1 x", "99 x", "099 x", "1000 x", "2e2 x", "x", "101 x"]) {
    assert.deepEqual(await failuresUntilWell(bare(status)), { network: 1 }, status);
  }
  for (const status of [600, 799, 999]) {
    const client = new ResilientClient(lone);
    const response = await client.fetch(await server.script([bare(`${status} x`), 200]));
    const { reason, lastKind, attempts } = decisionOf(response)!;
    assert.deepEqual([response.status, reason, lastKind, attempts], [status, "permanent", "client", 1]);
  }
});

test("interim answers without number are one answer", async () => {
  const hints = { text: "HTTP/1.1 103 Early Hints\r\n\r\n", times: 5_000 };
  const step = raw(hints, `HTTP/1.1 503 x\r\n${EMPTY}`);
  assert.deepEqual(await failuresUntilWell(step), { server: 1 });
});

test("the body of an answer that is retried is not read to an end that never comes", async () => {
  const chunked = "HTTP/1.1 503 x\r\ntransfer-encoding: chunked\r\n\r\n";
  const bodies = [
    raw(chunked, { text: "8\r\nabcdefgh\r\n", times: MANY }),
    raw(chunked, { text: "1\r\na\r\n", times: MANY }),
    raw(chunked, { text: "1\r\na\r\n", times: MANY, every_ms: 10 }),
    raw(chunked, "1;", { text: "x", times: MANY }),
    raw("HTTP/1.1 503 x\r\ncontent-length: 60000\r\n\r\n", { text: "a", times: 60_000, every_ms: 10 }),
    raw("HTTP/1.1 503 x\r\ncontent-length: 99999999999\r\n\r\n", { text: "abcdefgh", times: MANY }),
    { status: 503, body: { bytes: 1_073_741_824 } },
  ];
  const { open } = await server.connections();
  for (const body of bodies) {
    assert.deepEqual(await failuresUntilWell(body), { server: 1 }, JSON.stringify(body));
  }
  await assertOpen(open + 2);
});

test("a short body that unpacks to a long one is given up", async () => {
  const length = 100_000_000;
  const quick = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const packed = brotliCompressSync(Buffer.alloc(length), { params: quick });
  assert.ok(packed.length < 1_000);
  const bomb = await origin((_, response) => {
    response.writeHead(503, { "content-encoding": "br", "content-length": packed.length });
    response.end(packed);
  });
  let unpacked = 0;
  const count = new WeakSet<Response>();
  const counting: typeof fetch = async (...request) => {
    const { status, headers, body } = await fetch(...request);
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        unpacked += chunk.byteLength;
        controller.enqueue(chunk);
      },
    });
    const counted = new Response(body!.pipeThrough(counter), { status, headers });
    count.add(counted);
    return counted;
  };
  const client = new ResilientClient(
    { ...lone, retry: { baseMs: 300, jitter: "none", maxAttempts: 2 } },
    { fetch: counting },
  );
  const last = await client.fetch(bomb);
  assert.ok(count.has(last));
  await last.body?.cancel();
  assert.ok(unpacked > 0 && unpacked < 1_000_000, String(unpacked));
});

test("what is read of an answer that nobody wants ends with its call", async () => {
  const drip = raw("HTTP/1.1 503 x\r\ncontent-length: 60000\r\n\r\n", {
    text: "a",
    times: 60_000,
    every_ms: 50,
  });
  const url = await server.script([drip]);
  const { open } = await server.connections();
  const opening = new ResilientClient({ ...lone, breaker: { failureThreshold: 1 } });
  const policy: Policy = { ...lone, retry: { baseMs: 60_000, capMs: 60_000, jitter: "none" } };
  const waiting = new ResilientClient({ ...policy, overallTimeoutMs: null });
  const operations = [
    (client: ResilientClient, signal: AbortSignal) => client.fetch(url, { signal }),
    (client: ResilientClient, signal: AbortSignal) => client.call(() => fetch(url), { signal }),
  ];
  let enough = (): void => {};
  waiting.on("retryScheduled", () => setTimeout(enough, 20));
  for (const operation of Array(4).fill(operations).flat() as typeof operations) {
    const controller = new AbortController();
    await assert.rejects(operation(opening, controller.signal), { code: "circuit_open" });
    opening.reset();
    enough = () => controller.abort(new Error("enough"));
    await assert.rejects(operation(waiting, controller.signal), { message: "enough" });
  }
  // An idle one or two are kept for the next request.
  await assertOpen(open + 2);
});

test("a body that the operation reads is bounded by the attempt, one that was handed out is not", async () => {
  const slow = { body: { bytes: 100_000_000, chunk: 10, every_ms: 20 } };
  const client = new ResilientClient({ ...lone, attemptTimeoutMs: 60, retry: false });
  const url = await server.script([slow]);
  const inside = client.call(async ({ signal }) => (await fetch(url, { signal })).text());
  await assert.rejects(inside, { name: "TimeoutError" });
  const short = { body: { bytes: 100, chunk: 10, every_ms: 20 } };
  const response = await client.fetch(await server.script([short]));
  assert.equal((await response.text()).length, 100);
  const controller = new AbortController();
  const endless = await client.fetch(url, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 50);
  await assert.rejects(endless.text());
});

test("Retry-After keeps the circuit open no longer than the policy allows", async () => {
  for (const value of ["60", "3600", "9".repeat(100)]) {
    const client = new ResilientClient({ ...lone, breaker: { failureThreshold: 1 } });
    const step = { status: 503, headers: [["retry-after", value]] };
    await client.fetch(await server.script([step])).catch(() => undefined);
    const { circuit, openForMs } = client.stats();
    assert.equal(circuit, "open");
    // The longest wait allowed, and half of the open time as its jitter.
    assert.ok(openForMs! <= 62_500, String(openForMs));
  }
});

test("a redirect goes where fetch takes it, and takes the key along", async () => {
  const seen: Record<string, unknown>[] = [];
  const elsewhere = await origin((request, response) => {
    seen.push(request.headers);
    response.end();
  });
  const step = { status: 307, headers: [["location", elsewhere]] };
  const client = new ResilientClient(lone);
  const headers = { authorization: "Bearer secret", cookie: "a=b", "x-api-key": "secret" };
  const init = { method: "POST", body: "x", headers, idempotencyKey: "order-17" };
  await client.fetch(await server.script([step]), init);
  const [sent] = seen.splice(0);
  assert.deepEqual([sent!["authorization"], sent!["cookie"]], [undefined, undefined]);
  // These two are fetch's to keep or to drop, and it keeps them.
  assert.deepEqual([sent!["x-api-key"], sent!["idempotency-key"]], ["secret", "order-17"]);
  const manual = await client.fetch(await server.script([step]), { ...init, redirect: "manual" });
  assert.equal(manual.status, 307);
  const error = await client
    .fetch(await server.script([step]), { ...init, redirect: "error" })
    .catch((error: unknown) => error);
  assert.deepEqual([decisionOf(error)!.reason, decisionOf(error)!.attempts], ["permanent", 1]);
  assert.deepEqual(seen, []);
});

test("a circle of redirects is one attempt", async () => {
  const client = new ResilientClient(lone);
  let requests = 0;
  const circle = await origin((_, response) => {
    requests++;
    response.writeHead(302, { location: "/" }).end();
  });
  const error = await client.fetch(circle).catch((error: unknown) => error);
  const { reason, attempts, lastKind } = decisionOf(error)!;
  assert.deepEqual([reason, attempts, lastKind], ["permanent", 1, "client"]);
  assert.equal(requests, 21);
});

test("a key is sent to the address of its call and to no other", async () => {
  const client = new ResilientClient({ ...lone, idempotency: { auto: true } });
  const urls = [await server.script([503, 200]), await server.script([503, 200])];
  const keys: string[][] = [];
  for (const url of urls) {
    await client.fetch(url, { method: "POST" });
    keys.push((await server.log(url)).flatMap((entry) => headersNamed(entry, "idempotency-key")));
  }
  assert.deepEqual(keys.map((sent) => [sent.length, new Set(sent).size]), [[2, 1], [2, 1]]);
  assert.notEqual(keys[0]![0], keys[1]![0]);
});

test("an answer that looks like one of ours is only an answer", async () => {
  const client = new ResilientClient(lone);
  const bodies = [
    { name: "HttpError", status: 503, retryAfterMs: 1e9 },
    { name: "StormproofError", code: "circuit_open", decision: {} },
    { name: "TimeoutError", code: "ECONNRESET", message: "fetch failed", cause: { code: "EPIPE" } },
    { then: "x", status: 503, headers: { "retry-after": "1" } },
    { reason: "success", attempts: 1e308 },
  ];
  for (const json of bodies) {
    const url = await server.script([{ body: { json } }]);
    const value = await client.call(async ({ signal }) => (await fetch(url, { signal })).json());
    assert.deepEqual(value, json);
  }
  assert.equal(client.stats().attempts, bodies.length);
});

test("no word of the dependency makes a refusal of its own repeatable", async () => {
  const client = new ResilientClient(lone, { shouldRetry: () => true });
  for (const code of ["unclassified", "network", "ECONNRESET", "__proto__", "a\nb"]) {
    const error = new BusinessError(code);
    await assert.rejects(client.call(() => Promise.reject(error)), error);
    const { lastKind, attempts } = decisionOf(error)!;
    assert.deepEqual([lastKind, attempts], ["business", 1], code);
  }
});

test("attempts that never end are bounded in number and time", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    { ...lone, retry: false, maxCalls: 3, attemptTimeoutMs: 100 },
    clock.host as HostOptions,
  );
  const deaf = (): Promise<never> => new Promise(() => {});
  const calls = [0, 1, 2].map(() => client.call(deaf).catch((error: Error) => error.name));
  await clock.advance(100);
  assert.deepEqual(await Promise.all(calls), Array(3).fill("TimeoutError"));
  assert.equal(client.stats().abandoned, 3);
  await assert.rejects(client.call(deaf), { code: "bulkhead_full" });
  await clock.advance(60_000);
  assert.equal(client.stats().abandoned, 0);
  assert.equal(await client.call(() => "well"), "well");
  await settled();
});

test("a policy document pollutes no prototype", () => {
  const documents = [
    '{"__proto__": {"polluted": 1}}',
    '{"retry": {"__proto__": {"maxAttempts": 9}}}',
    '{"constructor": {"prototype": {"polluted": 1}}}',
    '{"retry": {"constructor": {"prototype": {"polluted": 1}}}}',
    '{"toString": 1}',
    '{"hasOwnProperty": 1, "valueOf": 1}',
    '{"__proto__": null}',
  ];
  for (const text of documents) {
    assert.throws(() => ResilientClient.fromJson(text), { code: "unknown_field" }, text);
  }
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test("a policy document can be as deep, as long and as large as it likes", () => {
  const refused = (text: string): PolicyError => {
    try {
      ResilientClient.fromJson(text);
    } catch (error) {
      assert.ok(error instanceof PolicyError, String(error));
      assert.ok(error.message.length < 1_500);
      return error;
    }
    return assert.fail("the document was taken");
  };
  for (const depth of [10, 200_000]) {
    refused(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
    refused(`{"retry":${"[".repeat(depth)}${"]".repeat(depth)}}`);
  }
  refused(`{"${"x".repeat(1_000_000)}": 1}`);
  refused(`{"name": "${"x".repeat(1_000_000)}"}`);
  assert.equal(refused('{"retry": {"maxAttempts": 1e400}}').code, "bad_document");
  assert.equal(refused('{"retry": {"maxAttempts": 1e308}}').code, "out_of_range");
  assert.equal(refused('{"retry": {"baseMs": -1e-300}}').code, "out_of_range");
});
