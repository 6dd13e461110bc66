/** Names by their stable numbers, equal in all hosts. @module */

/** What an attempt ended in. */
export const KINDS = [
  "success",
  "network",
  "timeout",
  "server",
  "throttled",
  "client",
  "business",
  "contract",
  "unclassified",
  "circuit_open",
  "bulkhead_full",
  "queue_timeout",
  "deadline_exceeded",
  "cancelled",
] as const;

/** Why a call ended. */
export const REASONS = [
  "success",
  "permanent",
  "unsafe_to_retry",
  "attempts_exhausted",
  "budget_exhausted",
  "retry_after_too_long",
  "deadline_too_near",
  "deadline_exceeded",
  "circuit_open",
  "bulkhead_full",
  "queue_timeout",
  "cancelled",
] as const;

/** Whether an operation may be repeated. */
export const SAFETIES = ["idempotent", "keyed", "unsafe", "once"] as const;

/** What a wait is for. */
export const WHYS = ["backoff", "retry_after", "circuit", "running"] as const;

/** The state of a circuit. */
export const CIRCUITS = ["closed", "open", "half_open", "forced_open", "forced_closed"] as const;

/** Why a circuit changed its state. */
export const CAUSES = [
  "failure_rate",
  "no_success",
  "failure_threshold",
  "consecutive_failures",
  "slow_call_rate",
  "open_time_over",
  "probe_failed",
  "probes_succeeded",
  "manual",
] as const;

/** What is wrong with a policy. */
export const POLICY_ERROR_CODES = [
  "unknown_field",
  "wrong_type",
  "out_of_range",
  "too_fine",
  "unknown_name",
  "contradiction",
  "bad_document",
  "unreadable_file",
] as const;

/** What an attempt ended in. `unclassified`: an error that no rule recognises. */
export type Kind = (typeof KINDS)[number];

/**
 * Why a call ended. From `deadline_exceeded` on the call ends with stormproof's own error (or the
 * caller's reason), before that with the dependency's last one.
 */
export type Reason = (typeof REASONS)[number];

/**
 * Whether an operation may be repeated: repeating it has no further effect (`idempotent`), it
 * carries an idempotency key (`keyed`), it may act twice (`unsafe`), or it cannot be repeated at
 * all, its body being one that can be sent only once (`once`).
 */
export type Safety = (typeof SAFETIES)[number];

/** What a wait is for. */
export type Why = (typeof WHYS)[number];

/** The state of a circuit, as seen from outside. */
export type Circuit = (typeof CIRCUITS)[number];

/** Why a circuit changed its state. */
export type ChangeCause = (typeof CAUSES)[number];

/** What is wrong with a policy, equal in all hosts. */
export type PolicyErrorCode = (typeof POLICY_ERROR_CODES)[number];

/** The number of a kind. */
export const kindCode = (kind: Kind): number => KINDS.indexOf(kind);
