import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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

test("a document may be a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "policy-"));
  const path = join(folder, "policy.json");
  try {
    writeFileSync(path, '{"name": "payments"}');
    for (const place of [path, pathToFileURL(path)]) {
      const client = ResilientClient.fromFile(place);
      assert.equal(client.name, "payments");
      client.close();
    }
    writeFileSync(path, "{");
    assert.throws(() => ResilientClient.fromFile(path), { code: "bad_document" });
    writeFileSync(path, Uint8Array.of(0x22, 0xff, 0x22));
    assert.throws(() => ResilientClient.fromFile(path), { code: "unreadable_file" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file that cannot be read is told by its path and the reason", () => {
  const path = join(tmpdir(), "no-such-folder", "policy.json");
  assert.throws(() => ResilientClient.fromFile(path), (error) => {
    assert.ok(error instanceof PolicyError);
    assert.deepEqual([error.code, error.field, error.value], ["unreadable_file", "", path]);
    assert.ok(error.message.startsWith(`${path}: `) && error.message.includes("ENOENT"));
    return true;
  });
  for (const odd of ["", tmpdir(), "a\0b", 0, undefined, {}, new URL("https://example.org/")]) {
    assert.throws(() => ResilientClient.fromFile(odd as string), { code: "unreadable_file" });
  }
});

test("where there are no files, a file cannot be read", () => {
  const { getBuiltinModule } = process;
  try {
    for (const missing of [undefined, () => undefined]) {
      process.getBuiltinModule = missing as never;
      assert.throws(() => ResilientClient.fromFile("policy.json"), {
        code: "unreadable_file",
        message: /^policy\.json: this runtime opens no files/,
      });
    }
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
});

test("a name with a dot names no deeper field", () => {
  for (const [name, value] of [["retry.baseMs", 5], ["classify.success", [404]]] as const) {
    const error = errorOf({ [name]: value });
    assert.deepEqual([error.code, error.field, error.value], ["unknown_field", name, value]);
  }
  assert.equal(errorOf({ retry: { "baseMs.x": 5 } }).field, "retry.baseMs.x");
});

test("null stands in the error as it stands in the policy", () => {
  for (const [policy, field] of [[{ retry: null }, "retry"], [{ name: null }, "name"]] as const) {
    const error = errorOf(policy);
    assert.deepEqual([error.field, error.value], [field, null]);
    assert.match(error.message, /^\w+: null is not allowed/);
  }
});

test("a message is short, however long the value is", () => {
  const long = "x".repeat(1_000_000);
  const values = [long, Array.from(long)];
  for (const value of values) {
    const error = errorOf({ retry: { jitter: value } });
    assert.equal(error.value, value);
    assert.ok(error.message.length < 1000);
  }
  assert.ok(errorOf({ [long]: 1 }).message.length < 1000);
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

test("a document forges no line of a log", () => {
  const breaking = /[\p{Cc}\u2028\u2029]/u;
  const texts = ['{"retry\\nINFO all is well": 1}', '{"\\u001b[2J": 1}', '{"a\\u2028b": 1}', '{"a":\n\u001b[2J'];
  for (const text of texts) {
    assert.throws(
      () => ResilientClient.fromJson(text),
      (error) => error instanceof PolicyError && !breaking.test(error.message),
      text,
    );
  }
  assert.equal(errorOf({ "a\nb": 1 }).field, "a\nb");
  assert.equal(errorOf({ name: "a\nb" }).field, "name");
});
