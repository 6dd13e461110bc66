/**
 * Survive the fall of what you depend on, and do not knock it down again.
 *
 * - {@link ResilientClient} calls one dependency, and decides by its {@link Policy}.
 * - {@link Failure} and {@link Result} are failures as values; {@link classifyError} and
 *   {@link classifyResponse} make them.
 * - {@link StormproofError} is what stormproof refuses with, {@link PolicyError} what is wrong
 *   with a policy, {@link HttpError} and {@link BusinessError} what operations throw.
 * - {@link decisionOf} tells why a call ended as it did.
 *
 * @module
 */

export type { Attempt } from "./attempt.ts";
export type { Body } from "./body.ts";
export { classifyError, classifyResponse } from "./classify.ts";
export {
  ResilientClient,
  type CallOptions,
  type Operation,
  type ParsedCallOptions,
} from "./client.ts";
export { decisionOf, type Decision } from "./decision.ts";
export {
  BusinessError,
  HttpError,
  IdempotencyKeyError,
  PolicyError,
  StormproofError,
  isRefused,
  type RefusalCode,
} from "./errors.ts";
export type { EventName, Events, Listener, ListenerErrorHook } from "./events.ts";
export {
  isRetryable,
  type Failure,
  type Permanent,
  type Phase,
  type Refused,
  type Result,
  type Transient,
} from "./failure.ts";
export type { FetchInit } from "./fetch.ts";
export type { HostOptions } from "./loop.ts";
export type {
  ChangeCause,
  Circuit,
  Kind,
  PolicyErrorCode,
  Reason,
  Safety,
  Why,
} from "./names.ts";
export type {
  BreakerPolicy,
  BudgetPolicy,
  BulkheadPolicy,
  IdempotencyPolicy,
  Policy,
  PropagatePolicy,
  RetryAfterPolicy,
  RetryPolicy,
  StatusPolicy,
} from "./policy.ts";
export { parseRetryAfter } from "./retry-after.ts";
export type { Stats } from "./stats.ts";
