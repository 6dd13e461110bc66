/** The errors that stormproof itself makes. @module */

import type { Decision } from "./decision.ts";
import type { PolicyErrorCode } from "./names.ts";

const BRAND = Symbol.for("stormproof.refusal");

/** What stormproof refuses with. `closed`: the client was closed. */
export type RefusalCode =
  | "circuit_open"
  | "bulkhead_full"
  | "queue_timeout"
  | "deadline_exceeded"
  | "closed";

/**
 * stormproof did not start, or cut short, what it was asked for. `cause` is the last real failure
 * of the dependency, if there was one.
 */
export class StormproofError extends Error {
  override readonly name: string = "StormproofError";
  /** Why. */
  readonly code: RefusalCode;
  /** In how many milliseconds it makes sense to come back, where that is known. */
  readonly retryAfterMs: number | undefined;
  /** The decision behind it. */
  readonly decision: Decision | undefined;

  constructor(code: RefusalCode, message: string, cause?: unknown, decision?: Decision) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.decision = decision;
    this.retryAfterMs = decision?.retryAfterMs;
  }
}

// Seen by every copy of the package that is loaded.
Object.defineProperty(StormproofError.prototype, BRAND, { value: true });

/** Is this a refusal by stormproof, whichever copy of the package made it? */
export function isRefused(error: unknown): error is StormproofError {
  if (typeof error !== "object" || error === null) return false;
  try {
    return (error as { [BRAND]?: unknown })[BRAND] === true;
  } catch {
    return false;
  }
}

/** A policy that no client is built from. */
export class PolicyError extends Error {
  override readonly name: string = "PolicyError";
  /** The kind of fault, equal in all hosts. */
  readonly code: PolicyErrorCode;
  /** The path of the field in the policy, such as `retry.baseMs`; empty for the whole. */
  readonly field: string;
  /** What stands there. */
  readonly value: unknown;
  /** What is allowed there, in words. */
  readonly allowed: string;

  constructor(
    code: PolicyErrorCode,
    field: string,
    value: unknown,
    allowed: string,
    message: string,
  ) {
    super(printable(message));
    this.code = code;
    this.field = field;
    this.value = value;
    this.allowed = allowed;
  }
}

// A document may come from anywhere: what it says must not forge lines of a log.
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (found) => `\\u{${found.charCodeAt(0).toString(16)}}`);
}

/** An idempotency key that cannot be sent. Nothing was sent. */
export class IdempotencyKeyError extends Error {
  override readonly name: string = "IdempotencyKeyError";
  readonly code = "invalid_key";
  /** The key. */
  readonly key: string;

  constructor(key: string) {
    super(`${JSON.stringify(key)} is no idempotency key: 1 to 255 visible ASCII characters are`);
    this.key = key;
  }
}

/** An answer of the dependency with a status that is not a success. */
export class HttpError extends Error {
  override readonly name: string = "HttpError";
  /** The HTTP status. */
  readonly status: number;
  /** The wait that the dependency asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The answer itself, its body unread, where there is one. */
  readonly response: Response | undefined;

  constructor(status: number, retryAfterMs?: number, response?: Response) {
    super(`HTTP ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.response = response;
  }
}

/** Also one of another copy of the package, or of somebody else's class of the same make. */
export function isHttpError(error: unknown): error is HttpError {
  try {
    const { name, status } = error as HttpError;
    return name === "HttpError" && typeof status === "number";
  } catch {
    return false;
  }
}

/** The wait that an error of whatever make tells. */
export function waitOf({ retryAfterMs }: HttpError): number | undefined {
  return typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined;
}

/**
 * The dependency answered with a refusal of its own domain ("card declined"). Throw it in an
 * operation or a parser: it is never retried, and counts as a sign of life.
 */
export class BusinessError extends Error {
  override readonly name: string = "BusinessError";
  /** What was refused, in the dependency's words. */
  readonly code: string;

  constructor(code: string, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Also one of another copy of the package. */
export function isBusinessError(error: unknown): error is BusinessError {
  try {
    const { name, code } = (error ?? {}) as Partial<BusinessError>;
    return name === "BusinessError" && typeof code === "string";
  } catch {
    return false;
  }
}
