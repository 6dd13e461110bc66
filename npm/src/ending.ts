/** What a call without success hands to its caller. @module */

import type { Decision } from "./decision.ts";
import type { Ended } from "./ended.ts";
import { HttpError, StormproofError, type RefusalCode } from "./errors.ts";
import type { Refused } from "./failure.ts";
import type { Loop } from "./loop.ts";

/** Our own attempt timeout, as an outcome. */
export function timedOut(): Ended {
  const error = new DOMException("The attempt took too long", "TimeoutError");
  return { failure: { kind: "timeout", phase: "unknown", cause: error }, error };
}

/** stormproof's own error, the caller's own reason, or the dependency's last error, unchanged. */
export function endingOf(
  loop: Loop,
  decision: Decision,
  last: Ended | undefined,
  cancelled: { readonly reason: unknown } | undefined,
): Ended {
  const { reason } = decision;
  if (reason === "cancelled" && cancelled) {
    return { failure: { kind: reason, cause: cancelled.reason }, error: cancelled.reason };
  }
  if (reason in REFUSALS) {
    return refused(loop, reason as Exclude<RefusalCode, "closed">, decision, last);
  }
  return last!;
}

const REFUSALS = {
  circuit_open: "the circuit is open",
  bulkhead_full: "no permit and no place in the queue is free",
  queue_timeout: "no permit came free in time",
  deadline_exceeded: "the deadline passed",
} as const;

function refused(
  loop: Loop,
  kind: Exclude<RefusalCode, "closed">,
  decision: Decision,
  last: Ended | undefined,
): Ended {
  const { retryAfterMs } = decision;
  const when = retryAfterMs === undefined ? "" : ` (again in ${Math.ceil(retryAfterMs)} ms)`;
  const cause = causeOf(last);
  const error = new StormproofError(
    kind,
    `${loop.name}: ${REFUSALS[kind]}${when}`,
    cause,
    decision,
  );
  const failure: Refused = { kind, retryAfterMs, cause };
  return { failure, error };
}

/** A response is no error. */
function causeOf(last: Ended | undefined): unknown {
  if (last === undefined || last.error !== last.response) return last?.error;
  const { failure, response } = last;
  const wait = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  return response && new HttpError(response.status, wait, response);
}
