import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BusinessError,
  HttpError,
  ResilientClient,
  classifyError,
  classifyResponse,
  isRetryable,
  parseRetryAfter,
  type Failure,
} from "../src/index.ts";
import { KINDS, kindCode } from "../src/names.ts";
import { buildEngine } from "../src/policy.ts";
import { cells, core } from "../src/core.ts";
import { closedAddress } from "./support/fault-server.ts";

const brief = (failure: Failure | { kind: "success" }): string =>
  [failure.kind, "phase" in failure ? failure.phase : "", "code" in failure ? failure.code : ""]
    .filter(Boolean)
    .join(" ");
const coded = (code: string, more: object = {}): Error => Object.assign(new Error(code), { code, ...more });
const typeError = (message: string, cause?: unknown): TypeError =>
  new TypeError(message, cause === undefined ? undefined : { cause });

test("codes, at the top or anywhere in the chain (FH-07, FH-08)", () => {
  const table: [string, string][] = [
    ["ECONNREFUSED", "network not_sent"],
    ["ENOTFOUND", "network not_sent"],
    ["EAI_AGAIN", "network not_sent"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout not_sent"],
    ["ECONNRESET", "network unknown"],
    ["EPIPE", "network unknown"],
    ["UND_ERR_SOCKET", "network unknown"],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout unknown"],
    ["UND_ERR_BODY_TIMEOUT", "timeout unknown"],
    ["ETIMEDOUT", "timeout unknown"],
    ["HPE_INVALID_CONSTANT", "network unknown"],
    ["ConnectionRefused", "network not_sent"],
    ["ERR_INVALID_URL", "client"],
    ["CERT_HAS_EXPIRED", "client"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "client"],
    ["ENOENT", "business unclassified"],
  ];
  for (const [code, expected] of table) {
    const error = coded(code);
    assert.equal(brief(classifyError(error)), expected, code);
    if (expected.startsWith("business")) continue;
    assert.equal(brief(classifyError(typeError("fetch failed", error))), expected, code);
    const deep = new Error("charging failed", { cause: typeError("fetch failed", error) });
    assert.equal(brief(classifyError(deep)), expected, code);
    assert.equal(classifyError(deep).cause, deep);
    const aggregate = new AggregateError([coded("ENOENT"), error]);
    assert.equal(brief(classifyError(typeError("fetch failed", aggregate))), expected, code);
  }
  assert.equal(brief(classifyError(coded("ETIMEDOUT", { syscall: "connect" }))), "timeout not_sent");
  assert.equal(
    brief(classifyError(coded("EHOSTUNREACH", { syscall: "connect" }))),
    "network not_sent",
  );
});

test("one that was perhaps sent outweighs those that were not", () => {
  const error = new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET")]);
  assert.equal(brief(classifyError(error)), "network unknown");
  assert.equal(
    brief(classifyError(new AggregateError([coded("ECONNREFUSED"), coded("ENOTFOUND")]))),
    "network not_sent",
  );
});

test("chains are bounded and may be cyclic", () => {
  const cyclic = new Error("a") as Error & { errors: unknown };
  cyclic.cause = new Error("b", { cause: cyclic });
  cyclic.errors = [cyclic, cyclic.cause];
  assert.equal(brief(classifyError(cyclic)), "business unclassified");
  let deep: Error = coded("ECONNRESET");
  for (let i = 0; i < 20; i++) deep = new Error("x", { cause: deep });
  assert.equal(brief(classifyError(deep)), "business unclassified");
  const wide = new AggregateError(Array.from({ length: 100_000 }, () => new Error("x")));
  assert.equal(brief(classifyError(wide)), "business unclassified");
});

test("what fetch says in every runtime", () => {
  const unknown = [
    "Failed to fetch",
    "Failed to fetch (api.example.com)",
    "NetworkError when attempting to fetch resource.",
    "Load failed",
    "The network connection was lost.",
    "The Internet connection appears to be offline.",
    "network error",
    "terminated",
    "fetch failed",
    "error sending request for url (http://x/): connection closed before message completed",
  ];
  for (const message of unknown) {
    assert.equal(brief(classifyError(typeError(message))), "network unknown", message);
    assert.equal(brief(classifyError(new Error(message))), "business unclassified", message);
  }
  const neverSent = [
    "error sending request for url (http://x/): client error (Connect): tcp connect error",
    "Could not connect to the server.",
  ];
  for (const message of neverSent) {
    assert.equal(brief(classifyError(typeError(message))), "network not_sent", message);
  }
  const wrapped = [
    ["client error (Connect): tcp connect error: Connection refused (os error 111)", "not_sent"],
    ["client error (SendRequest): connection closed before message completed", "unknown"],
  ].map(([end, phase]) => [`error sending request for url (http://x/): ${end}`, phase]);
  for (const [message, phase] of [...wrapped, ["Connection reset by peer (os error 104)", "unknown"]]) {
    const error = new TypeError("fetch failed", { cause: new Error(message) });
    assert.equal(brief(classifyError(error)), `network ${phase}`, message);
  }
  const certificate = "client error (Connect): invalid peer certificate: UnknownIssuer";
  const untrusted = new Error(`error sending request for url (https://x/): ${certificate}`);
  for (const error of [
    new TypeError("fetch failed", { cause: untrusted }),
    typeError(untrusted.message),
    typeError("Fetch failed: Requests to port 6000 are blocked"),
    typeError("Fetch failed: Encountered redirect while redirect mode is set to 'error'"),
    new TypeError("fetch failed", { cause: new Error("redirect count exceeded") }),
  ]) {
    assert.equal(brief(classifyError(error)), "client", error.message);
  }
  assert.equal(brief(classifyError(new Error("Network connection lost."))), "network unknown");
  const module = "Failed to fetch dynamically imported module: /a.js";
  assert.equal(brief(classifyError(typeError(module))), "business unclassified");
});

test("requests that cannot be sent are the caller's fault (C6), in the words of this runtime", async () => {
  const url = await closedAddress();
  const used = new Request(url, { method: "POST", body: "x" });
  await used.text();
  const attempts: (() => Promise<unknown>)[] = [
    () => fetch("not a url"),
    () => fetch("ftp://127.0.0.1/"),
    () => fetch("file:///etc/hosts"),
    () => fetch("http://127.0.0.1:6667/"),
    () => fetch(url, { method: "GET", body: "x" }),
    () => fetch(url, { headers: { "a b": "x" } }),
    () => fetch(url, { headers: { a: "\u0100" } }),
    () => fetch(url, { method: "a b" }),
    () => fetch(url.replace("//", "//user:secret@")),
    () => fetch(url, { method: "POST", body: new ReadableStream() }),
    () => fetch(used),
  ];
  const client = new ResilientClient({ breaker: { failureThreshold: 1 } });
  for (const attempt of attempts) {
    const result = await client.tryCall(async () => void (await attempt()));
    assert.ok(!result.ok);
    assert.deepEqual([result.error.kind, result.decision.attempts], ["client", 1], `${attempt}`);
  }
  assert.equal(client.stats().circuit, "closed");
});

test("timeouts by name, aborts, and what operations throw (C5, C8)", () => {
  const table: [unknown, string][] = [
    [new DOMException("x", "TimeoutError"), "timeout unknown"],
    [new Error("x", { cause: new DOMException("x", "TimeoutError") }), "timeout unknown"],
    [new DOMException("x", "AbortError"), "cancelled"],
    [new HttpError(503), "server"],
    [new HttpError(404), "client"],
    [new HttpError(429, 2_000), "throttled"],
    [Object.assign(new Error("HTTP 503"), { name: "HttpError", status: 503 }), "server"],
    [new BusinessError("declined"), "business declined"],
    [new TypeError("x is not a function"), "business unclassified"],
    [new SyntaxError("Unexpected token"), "business unclassified"],
    ["text", "business unclassified"],
    [undefined, "business unclassified"],
    [null, "business unclassified"],
  ];
  for (const [error, expected] of table) {
    assert.equal(brief(classifyError(error)), expected, String(error));
    assert.equal(classifyError(error).cause, error);
  }
});

test("status 0 is no failure, and Retry-After makes no success one (FH-05, FH-13)", () => {
  const like = (type: string, status: number): Response =>
    Object.defineProperties(new Response(null), {
      type: { value: type },
      status: { value: status },
    });
  assert.equal(brief(classifyResponse(like("opaque", 0))), "success");
  assert.equal(brief(classifyResponse(like("opaqueredirect", 0))), "success");
  assert.equal(brief(classifyResponse(Response.error())), "network unknown");
  assert.equal(brief(classifyResponse(like("basic", 302))), "success");
  const table: [number, string | null, boolean][] = [
    [201, "5", false],
    [202, "5", false],
    [301, "5", false],
    [404, "5", false],
    [413, null, false],
    [413, "5", true],
    [503, "5", true],
    [429, null, true],
  ];
  for (const [status, wait, retried] of table) {
    const headers: HeadersInit = wait === null ? {} : { "retry-after": wait };
    const failure = classifyResponse(new Response(null, { status, headers }));
    assert.equal(failure.kind !== "success" && isRetryable(failure), retried, `${status} ${wait}`);
  }
  assert.equal(brief(classifyResponse(new Response(null, { status: 409 }))), "client");
  const keyed = classifyResponse(new Response(null, { status: 409 }), { safety: "keyed" });
  assert.equal(keyed.kind, "throttled");
});

test("isRetryable says what the core says", () => {
  const { on_settled, start } = core();
  const engine = buildEngine({ breaker: false, budget: false }, 0);
  for (const kind of KINDS.slice(1)) {
    start(engine, 0, 0, -1, 0);
    const retried = on_settled(engine, 1, cells()[0]!, kindCode(kind), 0, 0, -1) === 1;
    assert.equal(isRetryable({ kind } as Failure), retried, kind);
  }
});

test("Retry-After", () => {
  const now = Date.UTC(2026, 0, 15, 12);
  const table: [string | null | undefined, number | undefined][] = [
    ["120", 120_000],
    ["0", 0],
    [" 7 ", 7_000],
    ["1.5", 1_500],
    ["Thu, 15 Jan 2026 12:00:30 GMT", 30_000],
    ["Thu, 15 Jan 2026 11:00:30 GMT", 0],
    ["2592000", 2_592_000_000],
    ["120, 60", 120_000],
    ["-5", undefined],
    ["0x10", undefined],
    ["1e3", undefined],
    ["", undefined],
    [" ", undefined],
    ["soon", undefined],
    ["\u0131\u0132", undefined],
    ["１２", undefined],
    ["1".repeat(257), undefined],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [value, expected] of table) {
    assert.equal(parseRetryAfter(value, { now }), expected, String(value));
  }
  const date = "Thu, 15 Jan 2026 10:00:00 GMT";
  assert.equal(parseRetryAfter("Thu, 15 Jan 2026 10:00:09 GMT", { now, date }), 9_000);
});
