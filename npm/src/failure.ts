/** Failures as classified values. @module */

import type { Decision } from "./decision.ts";

/** How far the request of a failed attempt got. `not_sent`: it certainly never left. */
export type Phase = "not_sent" | "unknown";

/** A failure that may pass. */
export type Transient =
  | { readonly kind: "network"; readonly phase: Phase; readonly cause: unknown }
  | { readonly kind: "timeout"; readonly phase: Phase; readonly cause: unknown }
  | {
      readonly kind: "server";
      readonly status: number;
      readonly retryAfterMs?: number | undefined;
      readonly cause: unknown;
    }
  | {
      readonly kind: "throttled";
      readonly status: number;
      readonly retryAfterMs?: number | undefined;
      readonly cause: unknown;
    };

/** A failure that a repetition would not change. */
export type Permanent =
  /** The request was at fault. Status 0: it was never sent (an invalid URL). */
  | { readonly kind: "client"; readonly status: number; readonly cause: unknown }
  /** A refusal of the dependency's own domain. Code `unclassified`: no rule knows the error. */
  | { readonly kind: "business"; readonly code: string; readonly cause: unknown }
  /** The answer arrived whole and could not be understood. */
  | { readonly kind: "contract"; readonly cause: unknown };

/** stormproof itself, or the caller, ended the call. `cause`: the last real failure. */
export type Refused =
  | {
      readonly kind: "circuit_open";
      readonly retryAfterMs?: number | undefined;
      readonly cause: unknown;
    }
  | {
      readonly kind: "bulkhead_full" | "queue_timeout" | "deadline_exceeded";
      readonly cause: unknown;
    }
  /** `cause` is the caller's own reason. */
  | { readonly kind: "cancelled"; readonly cause: unknown };

/** Any failure. */
export type Failure = Transient | Permanent | Refused;

/** A call's end as a value. */
export type Result<T> =
  | { readonly ok: true; readonly value: T; readonly decision: Decision }
  | { readonly ok: false; readonly error: Failure; readonly decision: Decision };

/** May an attempt that ended in this be repeated at all? */
export function isRetryable(failure: Failure): failure is Transient {
  const { kind } = failure;
  return kind === "network" || kind === "timeout" || kind === "server" || kind === "throttled";
}
