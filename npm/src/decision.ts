/** Why a call ended, with the numbers behind it. @module */

import { cells } from "./core.ts";
import { KINDS, REASONS, type Kind, type Reason } from "./names.ts";

/** Why a call ended, with the numbers behind it. */
export interface Decision {
  /** Why. */
  readonly reason: Reason;
  /** How many attempts were started. */
  readonly attempts: number;
  /** What the last attempt ended in, if one ended. */
  readonly lastKind: Kind | undefined;
  /** The HTTP status of the last attempt that ended, 0 where there is none. */
  readonly lastStatus: number;
  /** When the call ended, in milliseconds of the client's clock. */
  readonly at: number;
  /** In how many milliseconds from then it makes sense to come back, where that is known. */
  readonly retryAfterMs: number | undefined;
  /** Whether the circuit was forced by hand. */
  readonly forced: boolean;
  /** The planned waits of the call in milliseconds, without queueing. */
  readonly totalWaitMs: number;
  /** What the retry budget held; `undefined` where it is off. */
  readonly tokens: number | undefined;
  /** Whether the body could be sent only once, which is why the call was not retried. */
  readonly bodyNotReplayable?: true;
}

const known = new WeakMap<object, Decision>();

/**
 * The decision behind an error that a call ended with, or behind a response. Nothing for
 * successes of `call` that are no responses: `tryCall` hands the decision out with every result.
 */
export function decisionOf(answer: unknown): Decision | undefined {
  return isObject(answer) ? known.get(answer) : undefined;
}

export function isDecision(value: unknown): value is Decision {
  return isObject(value) && REASONS.includes((value as { reason?: Reason }).reason as Reason);
}

export function remember(answer: unknown, decision: Decision): void {
  if (isObject(answer)) known.set(answer, decision);
}

export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

const FIRST = 8;

/** The decision of the step that stands in the buffer. */
export function takeDecision(): Decision {
  const [reason, attempts, kind, status, at, retryAt, forced, wait, tokens] = cells().subarray(
    FIRST,
  ) as unknown as [number, number, number, number, number, number, number, number, number];
  return {
    reason: REASONS[reason]!,
    attempts,
    lastKind: KINDS[kind],
    lastStatus: status,
    at,
    retryAfterMs: retryAt < 0 ? undefined : Math.max(0, retryAt - at),
    forced: forced !== 0,
    totalWaitMs: wait,
    tokens: tokens < 0 ? undefined : tokens / 1000,
  };
}

/** The way back, for `explain`. */
export function putDecision(decision: Decision): void {
  const { at, retryAfterMs, tokens, lastKind } = decision;
  cells().set(
    [
      REASONS.indexOf(decision.reason),
      decision.attempts,
      lastKind === undefined ? -1 : KINDS.indexOf(lastKind),
      decision.lastStatus,
      at,
      retryAfterMs === undefined ? -1 : at + retryAfterMs,
      Number(decision.forced),
      decision.totalWaitMs,
      tokens === undefined ? -1 : Math.round(tokens * 1000),
    ],
    FIRST,
  );
}
