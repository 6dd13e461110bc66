/** Idempotency keys. @module */

import { core, putText, takeText } from "./core.ts";
import { IdempotencyKeyError } from "./errors.ts";

const FORMS = ["raw", "ietf"] as const;

/** The key of a call that asks for one: its own, or a new one. */
export function callKey(wanted: string | boolean | undefined): string | undefined {
  if (wanted === undefined || wanted === false) return undefined;
  if (wanted === true) return newKey();
  keyHeader(wanted, "raw");
  return wanted;
}

/**
 * The header's value for a key.
 *
 * @throws IdempotencyKeyError where it is no key.
 */
export function keyHeader(key: string, form: "raw" | "ietf"): string {
  const isShort = typeof key === "string" && key.length < 256;
  const length = isShort ? core().idempotency_value(putText(key), FORMS.indexOf(form)) : -1;
  if (length < 0) throw new IdempotencyKeyError(key);
  return takeText(length);
}

// `randomUUID` exists in secure contexts only.
function newKey(): string {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
