// Checked by tsc: each line below says what a type must be or must refuse.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ResilientClient,
  StormproofError,
  classifyError,
  isRefused,
  isRetryable,
  type Decision,
  type Failure,
  type Policy,
  type Result,
  type Transient,
} from "../src/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._: Same<A, B> extends true ? [] : [never]): void => {};

test("types hold", async () => {
  const client = new ResilientClient({ retry: { maxAttempts: 2 }, breaker: false });

  const number = client.call(async () => 1);
  same<typeof number, Promise<number>>();
  const sync = client.call(() => "a");
  same<typeof sync, Promise<string>>();
  const parsed = client.call(async () => new Response("{}"), {
    parse: async (response) => ({ status: response.status }),
  });
  same<typeof parsed, Promise<{ status: number }>>();

  const result: Result<number> = await client.tryCall(async () => 1);
  if (result.ok) {
    same<typeof result.value, number>();
  } else {
    // @ts-expect-error A failure has no value.
    void result.value;
    if (isRetryable(result.error)) same<typeof result.error, Transient>();
    if (result.error.kind === "server") same<typeof result.error.status, number>();
    if (result.error.kind === "business") same<typeof result.error.code, string>();
    if (result.error.kind === "circuit_open") same<typeof result.error.retryAfterMs, number | undefined>();
    // @ts-expect-error A timeout has no status.
    if (result.error.kind === "timeout") void result.error.status;
  }
  same<typeof result.decision, Decision>();

  const caught: unknown = new Error("x");
  if (isRefused(caught)) same<typeof caught, StormproofError>();
  const failure = classifyError(caught);
  same<typeof failure, Failure>();

  const policies: Policy[] = [
    { retry: { jitter: "equal" }, budget: { capacity: "auto" }, attemptTimeoutMs: null },
    // @ts-expect-error A field that is none.
    { retry: { baseMS: 3 } },
    // @ts-expect-error A name that is none.
    { retry: { jitter: "fulll" } },
    // @ts-expect-error A text is no number.
    { attemptTimeoutMs: "5000" },
    // @ts-expect-error A preset that is none.
    { preset: "payments" },
  ];
  assert.equal(policies.length, 5);

  client.on("retryScheduled", ({ waitMs, why }) => {
    same<typeof waitMs, number>();
    same<typeof why, "backoff" | "retry_after" | "circuit" | "running">();
  });
  // @ts-expect-error An event that is none.
  assert.throws(() => client.on("retryScheduledd", () => {}), TypeError);
  // @ts-expect-error An attempt is read, not written.
  await client.call((attempt) => void (attempt.attempt = 2)).catch(() => {});
});
