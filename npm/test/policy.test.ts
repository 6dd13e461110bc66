import assert from "node:assert/strict";
import { test } from "node:test";
import { PolicyError, ResilientClient, type Policy } from "../src/index.ts";

function errorOf(policy: unknown): PolicyError {
  try {
    new ResilientClient(policy as Policy);
  } catch (error) {
    assert.ok(error instanceof PolicyError, String(error));
    return error;
  }
  assert.fail("the policy was taken");
}

test("an error names the field, the value and what is allowed", () => {
  const error = errorOf({ retry: { baseMs: -5 } });
  assert.equal(error.name, "PolicyError");
  assert.equal(error.code, "out_of_range");
  assert.equal(error.field, "retry.baseMs");
  assert.equal(error.value, -5);
  assert.match(error.message, /^retry\.baseMs: -5 is not allowed; allowed: /);
  assert.ok(error.message.endsWith(error.allowed));
});

test("a misspelt field is refused with the one that was meant", () => {
  const error = errorOf({ retry: { baseMS: 100 } });
  assert.equal(error.code, "unknown_field");
  assert.equal(
    error.message,
    "retry.baseMS is not a field of a policy; did you mean retry.baseMs?",
  );
});

test("every odd value is refused by name", () => {
  const cycle: Record<string, unknown> = {};
  cycle["retry"] = cycle;
  const list: unknown[] = [];
  list.push(list);
  const table: [unknown, string, string][] = [
    [{ retry: { maxAttempts: NaN } }, "out_of_range", "retry.maxAttempts"],
    [{ retry: { maxAttempts: 0 } }, "out_of_range", "retry.maxAttempts"],
    [{ retry: { maxAttempts: Number(undefined) } }, "out_of_range", "retry.maxAttempts"],
    [{ retry: { maxAttempts: null } }, "wrong_type", "retry.maxAttempts"],
    [{ retry: { maxAttempts: "4" } }, "wrong_type", "retry.maxAttempts"],
    [{ retry: { maxAttempts: 4n } }, "wrong_type", "retry.maxAttempts"],
    [{ retry: { maxAttempts: () => 4 } }, "wrong_type", "retry.maxAttempts"],
    [{ retry: { maxAttempts: Symbol("4") } }, "wrong_type", "retry.maxAttempts"],
    [{ retry: { maxAttempts: [4] } }, "wrong_type", "retry.maxAttempts"],
    [{ retry: { maxAttempts: new Date() } }, "wrong_type", "retry.maxAttempts"],
    [{ retry: { baseMs: Infinity } }, "out_of_range", "retry.baseMs"],
    [{ retry: { jitter: "fulll" } }, "unknown_name", "retry.jitter"],
    [{ retry: { jitter: "x".repeat(100_000) } }, "unknown_name", "retry.jitter"],
    [{ retry: { ["x".repeat(100_000)]: 1 } }, "unknown_field", `retry.${"x".repeat(394)}`],
    [{ retry: new Map() }, "wrong_type", "retry"],
    [{ retry: 3 }, "wrong_type", "retry"],
    [{ retry: { capMs: 50, baseMs: 100 } }, "contradiction", "retry.capMs"],
    [{ retry: { __proto__: null, maxAttempts: -1 } }, "out_of_range", "retry.maxAttempts"],
    [{ name: "" }, "unknown_name", "name"],
    [{ classify: { transient: ["404"] } }, "wrong_type", "classify.transient"],
    [{ classify: { transient: [null] } }, "wrong_type", "classify.transient"],
    [{ classify: { transient: list } }, "wrong_type", "classify.transient"],
    [{ classify: { transient: [404], permanent: [404] } }, "contradiction", "classify.permanent"],
    [{ idempotency: { header: "not a header" } }, "unknown_name", "idempotency.header"],
    [cycle, "unknown_field", "retry.retry"],
  ];
  for (const [policy, code, field] of table) {
    const error = errorOf(policy);
    assert.deepEqual([error.code, error.field], [code, field], error.message);
  }
});

test("what is no object is no document", () => {
  for (const policy of [null, [], "x", 3, true, () => {}]) {
    const error = errorOf(policy);
    assert.deepEqual([error.code, error.field], ["bad_document", ""]);
    assert.match(error.message, /must be an object/);
  }
});

test("a document is JSON", () => {
  const client = ResilientClient.fromJson('{"name": "payments", "retry": {"maxAttempts": 2}}');
  assert.equal(client.name, "payments");
  assert.throws(() => ResilientClient.fromJson('{"name": '), { code: "bad_document", field: "" });
  assert.throws(() => ResilientClient.fromJson("[]"), { code: "bad_document" });
});

test("undefined is the same as left out, and sections can be switched off", () => {
  const off = { retry: false, breaker: false, budget: false, bulkhead: false, name: undefined };
  const client = new ResilientClient(off as unknown as Policy);
  assert.equal(client.stats().tokens, undefined);
});

test("a refused policy leaves nothing behind for the next one", () => {
  errorOf({ retry: { maxAttempts: -1 } });
  new ResilientClient({}).close();
});

test("engines are given back", () => {
  for (let i = 0; i < 70_000; i++) new ResilientClient().close();
});
