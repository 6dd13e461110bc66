import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, before, test } from "node:test";
import { ResilientClient, decisionOf, isRefused, type FetchInit, type Policy } from "../src/index.ts";
import { settled, sleep } from "./support/clock.ts";
import { closedAddress, headersNamed, startFaultServer, type FaultServer } from "./support/fault-server.ts";

let server: FaultServer;
before(async () => {
  server = await startFaultServer();
});
after(() => server.close());

const lone: Policy = {
  name: "server",
  retry: { baseMs: 1, capMs: 5 },
  breaker: false,
  budget: false,
};
const post = (init: FetchInit = {}): FetchInit => ({ method: "POST", ...init });

test("503, reset, cut, garbage, then 200", async () => {
  const client = new ResilientClient({ ...lone, retry: { baseMs: 1, maxAttempts: 9 } });
  const url = await server.script([503, "reset_before", "close_before", "garbage", 429, 200]);
  const response = await client.fetch(url);
  assert.equal(response.status, 200);
  assert.deepEqual(client.stats().failures, { network: 3, server: 1, throttled: 1 });
  assert.equal(decisionOf(response)?.attempts, 6);
});

test("the last response comes back whatever its status, and can be read (R4)", async () => {
  const client = new ResilientClient(lone);
  const url = await server.script([{ status: 503, body: "still down" }]);
  const response = await client.fetch(url);
  assert.equal(response.status, 503);
  assert.equal(await response.text(), "still down");
  assert.equal(decisionOf(response)?.reason, "attempts_exhausted");
  assert.equal((await server.log(url)).length, 4);
  const gone = await server.script([404]);
  assert.equal((await client.fetch(gone)).status, 404);
  assert.equal((await server.log(gone)).length, 1);
});

test("a network error is thrown as it is", async () => {
  const client = new ResilientClient(lone);
  const url = await server.script(["reset_before"]);
  const error = await client.fetch(url).catch((error: unknown) => error);
  assert.ok(error instanceof TypeError);
  assert.equal(decisionOf(error)?.lastKind, "network");
  const nobody = await client.fetch(await closedAddress()).catch((error: unknown) => error);
  assert.equal(decisionOf(nobody)?.attempts, 4);
});

test("Retry-After is waited for, in every form", async () => {
  const client = new ResilientClient({ ...lone, retryAfter: { combine: "max" } });
  const waits: [string, number][] = [];
  client.on("retryScheduled", ({ why, waitMs }) => waits.push([why, Math.round(waitMs)]));
  const header = (name: string, value: string) => ({ status: 429, headers: [[name, value]] });
  const steps = [header("retry-after-ms", "30"), header("x-ms-retry-after-ms", "20"), 200];
  assert.equal((await client.fetch(await server.script(steps))).status, 200);
  assert.deepEqual(waits, [["retry_after", 30], ["retry_after", 20]]);
  const second = await server.script([header("retry-after", "1"), 200]);
  const start = performance.now();
  await client.fetch(second);
  assert.ok(performance.now() - start >= 1_000);
  const date = await server.script([{ status: 503, retry_after_date_ms: 900, date_skew_ms: -3_600_000 }, 200]);
  await client.fetch(date);
  assert.deepEqual(waits[3], ["retry_after", 1_000]);
  assert.equal(client.stats().retryAfterAdopted, 4);
});

test("a Retry-After that is too long ends the call with the response", async () => {
  const client = new ResilientClient(lone);
  const url = await server.script([{ status: 429, headers: [["retry-after", "2592000"]] }, 200]);
  const response = await client.fetch(url);
  assert.equal(response.status, 429);
  const decision = decisionOf(response)!;
  assert.equal(decision.reason, "retry_after_too_long");
  assert.equal(decision.retryAfterMs, 2_592_000_000);
});

test("a Retry-After that is none is as if absent", async () => {
  const client = new ResilientClient(lone);
  const odd = ["0x10", "1e3", "-5", "soon", "9".repeat(300), "\u00ff"];
  const steps = odd.map((value) => ({
    status: 503,
    headers: [["retry-after", { base64: Buffer.from(value, "latin1").toString("base64") }]],
  }));
  const many = new ResilientClient({ ...lone, retry: { baseMs: 1, capMs: 5, maxAttempts: 9 } });
  assert.equal((await many.fetch(await server.script([...steps, 200]))).status, 200);
  assert.equal(many.stats().retryAfterAdopted, 0);
  client.close();
});

test("a method that may act twice is repeated only when nothing was done", async () => {
  const client = new ResilientClient(lone);
  const tries = async (step: unknown, init: FetchInit): Promise<number> => {
    const url = await server.script([step]);
    await client.fetch(url, init).catch(() => undefined);
    return (await server.log(url)).length;
  };
  const throttled = { status: 503, headers: [["retry-after-ms", "1"]] };
  for (const method of ["POST", "post", "PATCH", "patch", "BREW"]) {
    assert.equal(await tries(503, { method }), 1, method);
    assert.equal(await tries("reset_before", { method }), 1, method);
    assert.equal(await tries(throttled, { method }), 4, method);
    assert.equal(await tries(503, { method, idempotencyKey: "k" }), 4, method);
    assert.equal(await tries(503, { method, safety: "idempotent" }), 4, method);
  }
  for (const method of ["GET", "get", "HEAD", "PUT", "delete", "OPTIONS"]) {
    assert.equal(await tries(503, { method }), 4, method);
    assert.equal(await tries(503, { method, safety: "unsafe" }), 1, method);
  }
  const url = await server.script([503]);
  assert.equal(decisionOf(await client.fetch(url, post()))?.reason, "unsafe_to_retry");
  assert.equal(await tries(409, post({ idempotencyKey: "k" })), 4);
  assert.equal(await tries(409, post()), 1);
});

test("every body is sent byte for byte, streams only once (FH-01)", async () => {
  const client = new ResilientClient(lone);
  const form = new FormData();
  form.append("field", "value");
  form.append("file", new Blob(["content"], { type: "text/plain" }), "a.txt");
  const bytes = new TextEncoder().encode("hello world");
  const bodies: [string, FetchInit["body"], number][] = [
    ["string", "hello", 2],
    ["Uint8Array", bytes, 2],
    ["subarray", bytes.subarray(6), 2],
    ["Buffer", Buffer.from("pooled"), 2],
    ["DataView", new DataView(bytes.buffer, 2, 3), 2],
    ["ArrayBuffer", bytes.buffer, 2],
    ["Blob", new Blob(["hello"]), 2],
    ["URLSearchParams", new URLSearchParams({ a: "b c" }), 2],
    ["FormData", form, 2],
    ["ReadableStream", new Blob(["hello"]).stream(), 1],
    ["async iterable", (async function* () {
      yield bytes;
    })() as never, 1],
    ["function", () => "made", 2],
    ["function of a stream", () => new Blob(["hello"]).stream(), 2],
    ["none", undefined, 2],
    ["null", null, 2],
  ];
  for (const [name, body, expected] of bodies) {
    const url = await server.script([503, 200]);
    const init = { ...post({ body: body!, safety: "idempotent" }), duplex: "half" } as FetchInit;
    const response = await client.fetch(url, init);
    const log = await server.log(url);
    assert.equal(log.length, expected, name);
    const types = log.map((request) => headersNamed(request, "content-type"));
    assert.deepEqual(types.at(-1), types[0], name);
    assert.ok(log.every(({ body }) => body.equals(log[0]!.body)), name);
    assert.equal(log[0]!.body.length > 0, body != null, name);
    if (expected > 1) continue;
    assert.equal(response.status, 503);
    const decision = decisionOf(response)!;
    assert.deepEqual([decision.reason, decision.bodyNotReplayable], ["unsafe_to_retry", true], name);
  }
  const url = await server.script([200]);
  await client.fetch(url, post({ body: form }));
  const [sent] = await server.log(url);
  const read = new Response(new Uint8Array(sent!.body), {
    headers: { "content-type": headersNamed(sent!, "content-type")[0]! },
  });
  assert.equal(await ((await read.formData()).get("file") as File).text(), "content");
});

test("a stream whose connection was refused is not sent again either", async () => {
  const client = new ResilientClient({ ...lone, budget: { capacity: 5, refillPerSecond: 0 } });
  const body = new Blob(["hello"]).stream();
  const init = { ...post({ body, idempotencyKey: "k" }), duplex: "half" } as FetchInit;
  const error = await client.fetch(await closedAddress(), init).catch((error: unknown) => error);
  assert.equal(decisionOf(error)?.reason, "unsafe_to_retry");
  assert.equal(decisionOf(error)?.bodyNotReplayable, true);
  assert.equal(client.stats().tokens, 5);
});

test("what the caller does to a body later changes no attempt (ID-05)", async () => {
  const client = new ResilientClient({ ...lone, retry: { baseMs: 30, jitter: "none" } });
  const bytes = new TextEncoder().encode("before");
  const params = new URLSearchParams({ a: "before" });
  const form = new FormData();
  form.append("a", "before");
  const headers = new Headers({ "x-a": "before" });
  const url = new URL(await server.script([503, 200]));
  const address = String(url);
  const change = (): void => {
    bytes.fill(120);
    params.set("a", "after");
    form.set("a", "after");
    headers.set("x-a", "after");
    url.pathname = "/elsewhere";
  };
  const call = client.fetch(url, post({ body: bytes, headers, idempotencyKey: "k" }));
  change();
  assert.equal((await call).status, 200);
  const log = await server.log(address);
  assert.deepEqual(log.map(({ body }) => String(body)), ["before", "before"]);
  assert.deepEqual(log.map((request) => headersNamed(request, "x-a")), [["before"], ["before"]]);
  for (const body of [params, form, () => `now ${performance.now()}`]) {
    const other = await server.script([503, 200]);
    params.set("a", "before");
    form.set("a", "before");
    const call = client.fetch(other, post({ body, idempotencyKey: "k" }));
    change();
    await call;
    const [first, second] = await server.log(other);
    assert.ok(first!.body.equals(second!.body));
    assert.ok(!String(second!.body).includes("after"));
  }
});

test("a Request is sent again whole (FH-02)", async () => {
  const client = new ResilientClient(lone);
  const url = await server.script([429, 429, 200]);
  const { signal } = new AbortController();
  const request = new Request(url, {
    method: "PUT",
    body: "hello",
    headers: { "x-a": "b" },
    signal,
  });
  assert.equal((await client.fetch(request)).status, 200);
  const log = await server.log(url);
  assert.deepEqual(log.map(({ body, method }) => `${method} ${body}`), Array(3).fill("PUT hello"));
  assert.deepEqual(log.map((entry) => headersNamed(entry, "x-a")), Array(3).fill(["b"]));
  assert.ok(request.bodyUsed);
  const again = await client.fetch(request).catch((error: unknown) => error);
  assert.equal(decisionOf(again)?.lastKind, "client");
  const plain = new Request(await server.script([503, 200]));
  assert.equal((await client.fetch(plain)).status, 200);
  const overridden = new Request(await server.script([503, 200]), { method: "POST", body: "a" });
  await client.fetch(overridden, { method: "PUT", body: "b", headers: { "x-a": "c" } });
  const [first] = await server.log(overridden.url);
  assert.deepEqual([first!.method, String(first!.body), headersNamed(first!, "x-a")], ["PUT", "b", ["c"]]);
});

test("the signal of a Request is the caller's", async () => {
  const client = new ResilientClient(lone);
  const controller = new AbortController();
  const request = new Request(await server.script(["hang"]), { signal: controller.signal });
  const call = client.fetch(request).catch((error: unknown) => error);
  await sleep(20);
  controller.abort(new Error("stop"));
  const error = await call;
  assert.equal((error as Error).message, "stop");
  assert.equal(decisionOf(error)?.reason, "cancelled");
});

test("responses that are retried let go of their connections (FH-03)", async () => {
  for (const bytes of [200, 20_000, 300_000]) {
    const client = new ResilientClient({
      ...lone,
      retry: { baseMs: 10, jitter: "none", factor: 1, maxAttempts: 10 },
    });
    const steps = Array(9).fill({ status: 503, body: { bytes } });
    const before = await server.connections();
    const response = await client.fetch(await server.script([...steps, 200]));
    assert.equal(response.status, 200);
    const { open } = await server.connections();
    assert.ok(open - before.open <= 2, `${bytes}: ${before.open} then ${open}`);
  }
});

test("a body that trickles is not waited for longer than the retry", async () => {
  const client = new ResilientClient(lone);
  const slow = { status: 503, body: { bytes: 1_000, chunk: 10, every_ms: 100 } };
  const before = await server.connections();
  assert.equal((await client.fetch(await server.script([slow, slow, slow, 200]))).status, 200);
  await sleep(50);
  assert.ok((await server.connections()).open - before.open <= 2);
});

test("an attempt that hangs is cut, the next one answers", async () => {
  const client = new ResilientClient({ ...lone, attemptTimeoutMs: 100 });
  const url = await server.script(["hang", 200]);
  assert.equal((await client.fetch(url)).status, 200);
  assert.deepEqual(client.stats().failures, { timeout: 1 });
  await settled();
  assert.equal(client.stats().abandoned, 0);
});

test("a fetch that does not honour its signal does not hold the call (DC-18)", async () => {
  const deaf = ((): Promise<never> => new Promise(() => {})) as typeof fetch;
  const client = new ResilientClient({ ...lone, retry: false, attemptTimeoutMs: 100 }, { fetch: deaf });
  const start = performance.now();
  await assert.rejects(client.fetch("http://x/"), { name: "TimeoutError" });
  assert.ok(performance.now() - start < 200);
});

test("one key for one call (ID-01)", async () => {
  const client = new ResilientClient(lone);
  const keys = async (init: FetchInit): Promise<string[][]> => {
    const url = await server.script([503, "reset_before", 200]);
    assert.equal((await client.fetch(url, post(init))).status, 200);
    return (await server.log(url)).map((entry) => headersNamed(entry, "idempotency-key"));
  };
  const [first, second] = [await keys({ idempotencyKey: true }), await keys({ idempotencyKey: true })];
  assert.equal(first.length, 3);
  assert.equal(new Set(first.flat()).size, 1);
  assert.notDeepEqual(first, second);
  assert.deepEqual(await keys({ idempotencyKey: "order-1" }), Array(3).fill(["order-1"]));
  const own = { headers: { "idempotency-KEY": "mine" } };
  assert.deepEqual(await keys(own), Array(3).fill(["mine"]));
  assert.deepEqual(await keys({ ...own, idempotencyKey: true }), Array(3).fill(["mine"]));
});

test("a client can give every write a key (ID-02, ID-04)", async () => {
  const client = new ResilientClient({
    ...lone,
    idempotency: { auto: true, form: "ietf", header: "X-Key" },
  });
  const url = await server.script([503, 200]);
  await client.fetch(url, post());
  const [first, second] = (await server.log(url)).map((entry) => headersNamed(entry, "x-key"));
  assert.match(first![0]!, /^"[0-9a-f-]{36}"$/);
  assert.deepEqual(first, second);
  const named = await server.script([200]);
  await client.fetch(named, post({ idempotencyKey: 'a"b' }));
  assert.deepEqual(headersNamed((await server.log(named))[0]!, "x-key"), ['"a\\"b"']);
  const mine = await server.script([503, 200]);
  await client.fetch(mine, post({ headers: [["x-key", "mine"]] }));
  const values = (await server.log(mine)).map((entry) => headersNamed(entry, "x-key"));
  assert.deepEqual(values, [["mine"], ["mine"]]);
  const read = await server.script([200]);
  await client.fetch(read);
  assert.deepEqual(headersNamed((await server.log(read))[0]!, "x-key"), []);
});

test("a key that cannot be sent is an error before anything is sent (I1)", async () => {
  const client = new ResilientClient(lone);
  for (const idempotencyKey of ["", "é", "a\nb", "a b\u0000", "x".repeat(256)]) {
    const url = await server.script([200]);
    await assert.rejects(client.fetch(url, post({ idempotencyKey })), { code: "invalid_key" });
    assert.equal((await server.log(url)).length, 0);
  }
  assert.equal(client.stats().calls, 0);
});

test("a mismatch of key and payload is permanent", async () => {
  const client = new ResilientClient(lone);
  const url = await server.script([422]);
  assert.equal((await client.fetch(url, post({ idempotencyKey: "k" }))).status, 422);
  assert.equal((await server.log(url)).length, 1);
});

test("the time left and the attempt can be told to the dependency (T6)", async () => {
  const propagate = { timeLeftHeader: "X-Time-Left", attemptHeader: "X-Attempt" };
  const client = new ResilientClient({ ...lone, attemptTimeoutMs: 2_000, propagate });
  const url = await server.script([503, 200]);
  await client.fetch(url);
  const log = await server.log(url);
  assert.deepEqual(log.map((entry) => headersNamed(entry, "x-attempt")), [["1"], ["2"]]);
  const left = log.map((entry) => Number(headersNamed(entry, "x-time-left")[0]));
  assert.ok(left.every((ms) => ms > 1_500 && ms <= 2_000), String(left));
});

test("requests that cannot be sent are the caller's fault: one attempt, nothing counted", async () => {
  const client = new ResilientClient({ ...lone, breaker: { failureThreshold: 1 } });
  const fine = await closedAddress();
  const attempts: [string, FetchInit?][] = [
    ["not a url"],
    ["ftp://127.0.0.1/"],
    ["http://127.0.0.1:6667/"],
    [fine, { body: "x", method: "GET" }],
    [fine, { headers: { "a b": "c" } }],
    [fine, { method: "a b" }],
  ];
  for (const [url, init] of attempts) {
    const error = await client.fetch(url, init).catch((error: unknown) => error);
    assert.ok(error instanceof TypeError, url);
    const { reason, lastKind, attempts } = decisionOf(error)!;
    assert.deepEqual([reason, lastKind, attempts], ["permanent", "client", 1], url);
  }
  assert.equal(client.stats().circuit, "closed");
});

test("an open circuit refuses without touching the wire", async () => {
  const client = new ResilientClient({ ...lone, breaker: { failureThreshold: 4 } });
  const url = await server.script([503]);
  await client.fetch(url);
  const error = await client.fetch(url).catch((error: unknown) => error);
  assert.ok(isRefused(error));
  assert.equal(error.code, "circuit_open");
  assert.equal((await server.log(url)).length, 4);
});

test("the caller's signal ends the reading of the body, and keeps no listener after it", async () => {
  const client = new ResilientClient(lone);
  const slow = { body: { bytes: 100_000, chunk: 1_000, every_ms: 50 } };
  const controller = new AbortController();
  const { signal } = controller;
  const response = await client.fetch(await server.script([slow]), { signal });
  setTimeout(() => controller.abort(new Error("enough")), 30);
  const start = performance.now();
  await assert.rejects(response.text());
  assert.ok(performance.now() - start < 1_000);
  const calm = new AbortController();
  for (let i = 0; i < 20; i++) {
    const url = await server.script([503, { body: "read" }]);
    const response = await client.fetch(url, { signal: calm.signal });
    if (i % 2 === 0) assert.equal(await response.text(), "read");
    else assert.deepEqual(new Uint8Array(await response.arrayBuffer()).length, 4);
  }
  assert.equal(getEventListeners(calm.signal, "abort").length, 0);
});

test("hostile headers cost nothing", async () => {
  const client = new ResilientClient(lone);
  const url = await server.script([{ fault: "huge_headers", count: 100, bytes: 50 }, 200]);
  assert.equal((await client.fetch(url)).status, 200);
  const many = Array(150).fill(["retry-after", "1, 1, 1, 1"]);
  const other = await server.script([{ status: 503, headers: many }, 200]);
  assert.equal((await client.fetch(other)).status, 200);
  assert.equal(client.stats().retryAfterAdopted, 0);
});

test("a custom fetch is given what the platform's would be", async () => {
  const seen: [unknown, RequestInit][] = [];
  const fake = (async (input: unknown, init: RequestInit) => {
    seen.push([input, init]);
    return new Response("ok");
  }) as typeof fetch;
  const client = new ResilientClient(lone, { fetch: fake });
  const init = { method: "PUT", body: "x", credentials: "include", deadlineMs: 500 } as const;
  await client.fetch(new URL("http://x/y"), init);
  const [[input, given]] = seen as [[unknown, RequestInit]];
  assert.equal(input, "http://x/y");
  assert.deepEqual([given.method, given.body, given.credentials], ["PUT", "x", "include"]);
  assert.ok(given.signal instanceof AbortSignal && !("deadlineMs" in given));
});
