/** Whether an operation may be repeated, as the core wants to hear it. @module */

import { SAFETIES, type Safety } from "./names.ts";

/** No number of a safety: the policy decides. */
const POLICYS = 255;

/** What was said, else `keyed` with a key, else the fallback, else what the policy says. */
export function safetyCode(
  said: Safety | undefined,
  key: string | undefined,
  fallback?: Safety,
): number {
  const safety = said ?? (key === undefined ? fallback : "keyed");
  if (safety === undefined) return POLICYS;
  const code = SAFETIES.indexOf(safety);
  if (code < 0) throw new TypeError(`safety: ${String(safety)} is none of ${SAFETIES.join(", ")}`);
  return code;
}
