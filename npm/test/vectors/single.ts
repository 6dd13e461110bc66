// Vectors that ask one question.
import { core, putLatin1, putText } from "../../src/core.ts";
import { kindOfStatus } from "../../src/classify.ts";
import { PolicyError, IdempotencyKeyError } from "../../src/index.ts";
import { keyHeader } from "../../src/key.ts";
import { SAFETIES } from "../../src/names.ts";
import { buildEngine } from "../../src/policy.ts";
import { SEED, policyOf } from "./policies.ts";

type Json = Record<string, unknown>;

/** Answers with what is not as expected. */
export function checkSingle(vector: Json): string[] {
  const [expected, got] = pair(vector).map((value) => JSON.stringify(value));
  return expected === got ? [] : [`expected ${expected}, got ${got}`];
}

function pair(vector: Json): [unknown, unknown] {
  if ("policy_error" in vector) {
    const { code, field } = vector["policy_error"] as Json;
    return [{ code, field }, verdict(vector["policy"])];
  }
  if ("policy_ok" in vector) return ["fine", verdict(vector["policy"])];
  if ("retry_after" in vector) {
    return [vector["delay_ms"], delayMs(vector["retry_after"] as Json)];
  }
  if ("classify" in vector) return [vector["kind"], kind(vector["classify"] as Json)];
  if ("method" in vector) {
    const length = putText(vector["method"] as string);
    return [vector["idempotent"], core().is_idempotent_method(length) === 1];
  }
  if ("key" in vector) {
    return [vector["header"], header(vector["key"] as string, vector["form"] as "raw")];
  }
  throw new Error("nothing to check");
}

function verdict(document: unknown): unknown {
  try {
    core().engine_free(buildEngine(policyOf(document), SEED));
    return "fine";
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { code: error.code, field: error.field };
  }
}

function delayMs({ fields, wall_ms }: Json): number | null {
  let end = 0;
  const [ms, xMs, plain, date] = ["retry-after-ms", "x-ms-retry-after-ms", "retry-after", "date"].map(
    (name) => {
      const lines = (fields as Record<string, string[] | undefined>)[name];
      if (!Array.isArray(lines)) return -1;
      const length = putLatin1(lines.join(", "), end);
      end += length;
      return length;
    },
  ) as [number, number, number, number];
  const delay = core().retry_after(ms, xMs, plain, date, wall_ms as number);
  return delay < 0 ? null : delay;
}

function kind({ status, retry_after_ms, safety, policy }: Json): string {
  const engine = buildEngine(policyOf(policy), SEED);
  const code = SAFETIES.indexOf((safety ?? "idempotent") as never);
  const wait = (retry_after_ms as number | null | undefined) ?? undefined;
  const kind = kindOfStatus(engine, status as number, wait, code);
  core().engine_free(engine);
  return kind;
}

function header(key: string, form: "raw" | "ietf"): string | null {
  try {
    return keyHeader(key, form);
  } catch (error) {
    if (error instanceof IdempotencyKeyError) return null;
    throw error;
  }
}
