/** Telling listeners what happens to a call. With no listener, nothing is put together. @module */

import type { Trial } from "./attempt.ts";
import { isUnclassified } from "./classify.ts";
import type { Decision } from "./decision.ts";
import type { Events } from "./events.ts";
import type { Failure } from "./failure.ts";
import type { Loop } from "./loop.ts";
import { REASONS, WHYS } from "./names.ts";

/** Reasons from here on end with stormproof's own error. */
const OWN = REASONS.indexOf("deadline_exceeded");

/** A change of the circuit that a step brought, if anybody wants to know. */
export type Change = Events["circuitChanged"] | undefined;

export function tellStarted({ listeners, name: client }: Loop, attempt: number): void {
  if (listeners.has("attemptStarted")) listeners.emit("attemptStarted", { client, attempt });
}

export function tellFailed(loop: Loop, trial: Trial, failure: Failure): void {
  const { listeners, name: client } = loop;
  if (!listeners.has("attemptFailed")) return;
  const kind = isUnclassified(failure) ? "unclassified" : failure.kind;
  listeners.emit("attemptFailed", { client, attempt: trial.attempt, kind, failure });
}

export function tellChange({ listeners }: Loop, change: Change): void {
  if (change) listeners.emit("circuitChanged", change);
}

export function tellRetry(
  { listeners, name: client }: Loop,
  before: Trial | undefined,
  last: Failure | undefined,
  waitMs: number,
  code: number,
): void {
  if (!listeners.has("retryScheduled")) return;
  const attempt = (before?.attempt ?? 0) + 1;
  const why = WHYS[code]!;
  const retryAfterUsed = why === "retry_after";
  const kind = last?.kind;
  listeners.emit("retryScheduled", { client, attempt, waitMs, why, retryAfterUsed, kind });
}

export function tellSuccess({ listeners, name: client }: Loop, decision: Decision): void {
  const { attempts, totalWaitMs } = decision;
  if (listeners.has("callSucceeded")) {
    listeners.emit("callSucceeded", { client, attempts, totalWaitMs });
  }
}

export function tellEnd(loop: Loop, decision: Decision, error: unknown): void {
  const { listeners, name: client } = loop;
  const { reason, attempts, lastKind: kind } = decision;
  const isOwn = REASONS.indexOf(reason) >= OWN;
  if (isOwn && listeners.has("refused")) {
    listeners.emit("refused", { client, kind: reason, attempts, error });
  } else if (!isOwn && listeners.has("callFailed")) {
    listeners.emit("callFailed", { client, reason, attempts, kind, error });
  }
}
