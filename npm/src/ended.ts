/** What attempts end in when they do not succeed. @module */

import type { Trial } from "./attempt.ts";
import type { Wants } from "./call.ts";
import {
  byStatus,
  classifyError,
  isNetworkError,
  isUnclassified,
  kindOfStatus,
} from "./classify.ts";
import { HttpError, isHttpError, waitOf } from "./errors.ts";
import type { Failure } from "./failure.ts";
import type { Loop } from "./loop.ts";
import { kindCode } from "./names.ts";
import { retryAfterOf } from "./retry-after.ts";

/** What an attempt ended in, if not in success. */
export interface Ended {
  readonly failure: Failure;
  /** What the caller gets to see of it, if nothing follows: an error, or the response itself. */
  readonly error: unknown;
  readonly response?: Response | undefined;
}

/** What a response is that an operation answered with; nothing where it is a success. */
export function endedByResponse(loop: Loop, wants: Wants, response: Response): Ended | undefined {
  const { status } = response;
  if (isNetworkError(response)) {
    const error = wants.parse ? new TypeError("network error") : response;
    return { failure: { kind: "network", phase: "unknown", cause: error }, error, response };
  }
  const retryAfterMs = status < 400 ? undefined : retryAfterOf(response, loop.host.wallClock);
  const kind = kindOfStatus(loop.handle, status, retryAfterMs, wants.safety);
  if (kind === "success") return undefined;
  const error = wants.parse ? new HttpError(status, retryAfterMs, response) : response;
  return { failure: byStatus(kind, status, retryAfterMs, error), error, response };
}

/** What an error is that an operation ended with. */
export function endedByError(loop: Loop, wants: Wants, trial: Trial, error: unknown): Ended {
  if (trial.isOurFault) return { failure: { kind: "client", status: 0, cause: error }, error };
  if (isHttpError(error)) {
    try {
      return endedByHttpError(loop, wants, error);
    } catch {
      // One of another make, whose fields cannot be read.
    }
  }
  const failure = classifyError(error);
  if (!isUnclassified(failure)) return { failure, error };
  if (trial.isParsing) return { failure: { kind: "contract", cause: error }, error };
  return { failure: ask(loop, wants, trial, error) ?? failure, error };
}

/** Reports the end of an attempt to the engine. */
export function report(loop: Loop, trial: Trial, { failure }: Ended): number {
  const kind = kindCode(isUnclassified(failure) ? "unclassified" : failure.kind);
  const status = "status" in failure ? failure.status : 0;
  const phase = "phase" in failure && failure.phase === "not_sent" ? 1 : 0;
  const wait = ("retryAfterMs" in failure ? failure.retryAfterMs : undefined) ?? -1;
  return loop.core.on_settled(loop.handle, loop.now(), trial.id, kind, status, phase, wait);
}

function endedByHttpError(loop: Loop, wants: Wants, error: HttpError): Ended {
  const { status, response } = error;
  const retryAfterMs = waitOf(error);
  const kind = kindOfStatus(loop.handle, status, retryAfterMs, wants.safety);
  // An operation that throws has not succeeded, whatever the policy thinks of the status.
  const failure = byStatus(kind === "success" ? "client" : kind, status, retryAfterMs, error);
  return { failure, error, response };
}

/** Asks the user about an error that no rule recognises. */
function ask(loop: Loop, wants: Wants, trial: Trial, error: unknown): Failure | undefined {
  try {
    const given = loop.host.classify?.(error);
    if (given !== undefined) return given;
    const shouldRetry = wants.shouldRetry ?? loop.host.shouldRetry;
    if (!shouldRetry?.(error, trial.attempt)) return undefined;
    return { kind: "network", phase: "unknown", cause: error };
  } catch (fault) {
    loop.listeners.report(fault, "attemptFailed");
    return undefined;
  }
}
