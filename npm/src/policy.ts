/** The policy document, and building an engine from it. @module */

import { cells, core, putText, takeText } from "./core.ts";
import { PolicyError } from "./errors.ts";
import { POLICY_ERROR_CODES, type Safety } from "./names.ts";

/**
 * What a client does for one dependency: the policy document of every host. What is left out has
 * its default; `null` is "none"; `false` switches a section off. Durations are in milliseconds.
 */
export interface Policy {
  /** What the dependency is called in events and explanations. */
  readonly name?: string;
  /** Figures for a common case, where nothing else is set. Default `default`. */
  readonly preset?:
    | "default"
    | "article"
    | "ephemeral"
    | "interactive"
    | "background"
    | "payment";
  /** How often and when an operation is tried again. `false`: one attempt. */
  readonly retry?: RetryPolicy | boolean;
  /** What a `Retry-After` of the dependency does. */
  readonly retryAfter?: RetryAfterPolicy;
  /** When the dependency is left alone. `false`: never. */
  readonly breaker?: BreakerPolicy | boolean;
  /** How many retries all calls together may make. `false`: any number. */
  readonly budget?: BudgetPolicy | boolean;
  /** How many attempts run at once. `false`: any number. */
  readonly bulkhead?: BulkheadPolicy | boolean;
  /** Statuses that are classed otherwise than by the table. */
  readonly classify?: StatusPolicy;
  /** Whether an operation that nothing else is known of may be repeated. Default `idempotent`. */
  readonly safety?: Safety;
  /** Keys that make a repeated write one write. */
  readonly idempotency?: IdempotencyPolicy;
  /** What `fetch` tells the dependency. */
  readonly propagate?: PropagatePolicy;
  /** How long one attempt may take. Default 10,000; `null`: no limit. */
  readonly attemptTimeoutMs?: number | null;
  /** How long a call may take, its queueing, attempts and waits together. Default 30,000. */
  readonly overallTimeoutMs?: number | null;
  /** How many calls may be under way, abandoned attempts included. Default 1,048,576. */
  readonly maxCalls?: number | null;
}

/** How often and when an operation is tried again. */
export interface RetryPolicy {
  /** How many times it is tried at most, the first try included. Default 4. */
  readonly maxAttempts?: number;
  /** The ceiling of the delay before the first retry. Default 100. */
  readonly baseMs?: number;
  /** No own delay is longer. Default 20,000. */
  readonly capMs?: number | null;
  /** By what the ceiling grows from retry to retry. Default 2. */
  readonly factor?: number;
  /** How delays are spread below the ceiling. Default `full`: anything from 0 to the ceiling. */
  readonly jitter?: "none" | "full" | "equal" | "decorrelated";
  /** The lower end of `full` jitter. Default 0. */
  readonly minDelayMs?: number;
  /** Whether a retry that the circuit refuses sleeps until it may be asked. Default `false`. */
  readonly waitForCircuit?: boolean;
  /** When an unsafe call is repeated. Default `certain`: when it certainly had no effect. */
  readonly unsafe?: "never" | "certain" | "always";
}

/** What a `Retry-After` of the dependency does. */
export interface RetryAfterPolicy {
  /** A longer one ends the call. Default 60,000. */
  readonly maxMs?: number;
  /** What was asked plus a `spread` (default), or the `max` of it and the own delay. */
  readonly combine?: "spread" | "max";
}

/** When the dependency is left alone. */
export interface BreakerPolicy {
  /** The window in which outcomes count. Default 10,000. */
  readonly rollingWindowMs?: number;
  /** Opens at this part of failures. Default 0.8 unless another rule is named. */
  readonly failureRate?: number | null;
  /** How many outcomes a rate needs. Default 20. */
  readonly minimumCalls?: number;
  /** Opens at this many failures without a healthy outcome. Default 5 unless another is named. */
  readonly noSuccessFailures?: number | null;
  /** Opens at this many failures within the window; a success does not wipe them. */
  readonly failureThreshold?: number | null;
  /** Opens at this many failures in a row. */
  readonly consecutiveFailures?: number | null;
  /** Opens at this part of slow outcomes. */
  readonly slowCallRate?: number | null;
  /** An attempt that takes this long is slow. Needed by `slowCallRate`. */
  readonly slowCallDurationMs?: number | null;
  /** How long an open circuit refuses. Default 5,000. */
  readonly openDurationMs?: number;
  /** Adds up to half of that at random, so that a fleet does not probe at once. Default `true`. */
  readonly openJitter?: boolean;
  /** By what the open time grows with each opening in a row. Default 1. */
  readonly openGrowth?: number;
  /** The longest that a growing open time gets. Default 10 × `openDurationMs`, at most 100 years. */
  readonly openCapMs?: number | null;
  /** Whether the Retry-After of the answer that opens it lengthens that. Default `true`. */
  readonly honorRetryAfter?: boolean;
  /** How many probes a half-open circuit lets go at once. Default 1. */
  readonly probes?: number;
  /** How many probes must succeed to close it. Default 2. */
  readonly successThreshold?: number;
  /** How long a probe holds its slot. Default `openDurationMs`. */
  readonly probeLeaseMs?: number | null;
  /** Whether being throttled is a failure. Default `false`: who throttles is alive. */
  readonly count429?: boolean;
  /** Whether an attempt that the deadline cuts off is a failure. Default `true`. */
  readonly countDeadline?: boolean;
  /** What is admitted and counted: every `attempt` (default) or whole `call`s. */
  readonly scope?: "attempt" | "call";
}

/** How many retries all calls together may make. */
export interface BudgetPolicy {
  /** The tokens it can hold. Default `auto`: a fifth of the calls of the last 10 s, 5 to 1,000. */
  readonly capacity?: number | "auto";
  /** The tokens it holds at first. Default: all it can hold, and 5 for `auto`. */
  readonly initial?: number | null;
  /** What a retry costs. Default 1. */
  readonly cost?: number;
  /** What a retry after a `network` failure costs. Default: `cost`. */
  readonly costNetwork?: number | null;
  /** What a retry after a `timeout` costs. Default: `cost`. */
  readonly costTimeout?: number | null;
  /** What a retry after a `server` failure costs. Default: `cost`. */
  readonly costServer?: number | null;
  /** What a retry after being `throttled` costs. Default: `cost`. */
  readonly costThrottled?: number | null;
  /** What a success brings back. Default 0.1. */
  readonly refillPerSuccess?: number;
  /** What a second brings back. Default 0.01. */
  readonly refillPerSecond?: number;
}

/** How many attempts run at once. */
export interface BulkheadPolicy {
  /**
   * Default `null`: endless. Size it so that the sum over all processes stays below 0.2 × the
   * requests that the dependency can answer in one `attemptTimeoutMs`.
   */
  readonly maxConcurrent?: number | null;
  /** How many calls wait for a permit. Default 100; 0 refuses at once. */
  readonly maxQueue?: number;
  /** How long a call waits for a permit. Default `null`: until its deadline. */
  readonly queueTimeoutMs?: number | null;
  /** When the permit of an attempt that timed out comes back. Default `settled`. */
  readonly release?: "settled" | "timeout";
  /** When the permit of an attempt that never ends comes back all the same. Default 60,000. */
  readonly abandonedLeaseMs?: number;
}

/** Statuses that are classed otherwise than by the table, from 100 to 999. */
export interface StatusPolicy {
  /** The dependency did what it was asked. */
  readonly success?: readonly number[];
  /** A failure that may pass. */
  readonly transient?: readonly number[];
  /** The dependency asks to be called less. */
  readonly throttled?: readonly number[];
  /** An answer that a repetition would not change. */
  readonly permanent?: readonly number[];
}

/** Keys that make a repeated write one write. */
export interface IdempotencyPolicy {
  /** Whether every write by `fetch` (no GET, PUT, DELETE …) carries a key. Default `false`. */
  readonly auto?: boolean;
  /** How the key is written: `raw` (default) or `ietf`, in quotes. */
  readonly form?: "raw" | "ietf";
  /** The header that carries the key. Default `Idempotency-Key`. */
  readonly header?: string;
}

/** What `fetch` tells the dependency. */
export interface PropagatePolicy {
  /** The header that tells the milliseconds left of the attempt. Default: none. */
  readonly timeLeftHeader?: string | null;
  /** The header that tells the number of the attempt. Default: none. */
  readonly attemptHeader?: string | null;
}

/** Reads a policy document. */
export function parsePolicy(text: string): Policy {
  try {
    return JSON.parse(text, finite) as Policy;
  } catch (error) {
    const allowed = (error as Error).message;
    const message = `the policy document is not JSON: ${allowed}`;
    throw new PolicyError("bad_document", "", text, allowed, message);
  }
}

/** A number that no double holds is none, in every host. */
function finite(_key: string, value: unknown): unknown {
  if (value === Infinity || value === -Infinity) throw new RangeError("number out of range");
  return value;
}

/**
 * Builds an engine; answers its handle.
 *
 * @param seed fixes all random numbers; without it they come from the platform
 */
export function buildEngine(policy: Policy, seed: number | bigint | undefined): number {
  const { policy_new, engine_new, reseed } = core();
  const fixed = seed === undefined ? undefined : wholeSeed(seed);
  policy_new();
  draft(policy);
  cells().set(crypto.getRandomValues(new Uint32Array(8)));
  const handle = engine_new() >>> 0;
  if (handle === 0) throw fault(policy);
  if (fixed !== undefined) reseed(handle, Number(fixed >> 32n), Number(fixed & 0xffff_ffffn));
  return handle;
}

function wholeSeed(seed: number | bigint): bigint {
  const isWhole = typeof seed === "bigint" || Number.isSafeInteger(seed);
  const whole = isWhole ? BigInt(seed) : -1n;
  if (whole < 0n || whole >> 64n) throw new RangeError(`seed: ${seed} is no whole number of 64 bits`);
  return whole;
}

/** Drafts the policy in the core, as every host walks its documents. */
export function draft(policy: unknown): void {
  if (!isPlain(policy)) {
    const allowed = "must be an object";
    throw new PolicyError("bad_document", "", policy, allowed, `the policy document: ${allowed}`);
  }
  walkAll("", policy);
}

function walkAll(prefix: string, values: object): void {
  for (const [key, value] of Object.entries(values)) {
    // A dot inside a key is none between keys.
    walk(prefix + key.replaceAll(".", "\\."), value);
  }
}

// No knob lies deeper.
const MAX_SEGMENTS = 3;
/** Longer than every path, and short enough for the buffer. */
const MAX_TEXT = 400;

const NULL = 0;
const FLAG = 1;
const NUMBER = 2;
const TEXT = 3;
const OBJECT = 4;
const OTHER = 5;

function walk(path: string, value: unknown): void {
  if (value === undefined) return;
  const isListed = path.startsWith("classify.");
  if (isListed && Array.isArray(value)) {
    for (const member of value) set(path, member ?? null);
  } else if (isPlain(value)) {
    put(path, OBJECT);
    if (path.split(".").length >= MAX_SEGMENTS) return;
    walkAll(`${path}.`, value);
  } else if (isListed) {
    // What belongs in a list does not stand alone.
    put(path, OTHER);
  } else {
    set(path, value);
  }
}

function set(path: string, value: unknown): void {
  if (value === null) put(path, NULL);
  else if (typeof value === "boolean") put(path, FLAG, Number(value));
  else if (typeof value === "number") put(path, NUMBER, value);
  else if (typeof value === "string") put(path, TEXT, 0, value);
  else if (isPlain(value)) put(path, OBJECT);
  else put(path, OTHER);
}

function put(path: string, kind: number, number = 0, text = ""): void {
  const length = putText(path.slice(0, MAX_TEXT));
  core().policy_set(length, kind, number, putText(text.slice(0, MAX_TEXT), length));
}

function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === "[object Object]";
}

function fault(policy: unknown): Error {
  const [code = 0, ...lengths] = cells().subarray(0, 4);
  if (code < 0) {
    return new Error("stormproof: 65,536 clients are open; close those that are not needed");
  }
  let start = 0;
  const [field, spelled, allowed] = lengths.map((length) => {
    start += length;
    return takeText(length, start - length);
  }) as [string, string, string];
  const found = lookUp(policy, field);
  const value = found === undefined ? spelled || undefined : found;
  const name = POLICY_ERROR_CODES[code]!;
  if (name === "unknown_field") return unknownField(field, value, allowed);
  const text = spelled || spell(value);
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  const message = `${field}: ${short} is not allowed; allowed: ${allowed}`;
  return new PolicyError(name, field, value, allowed, message);
}

function unknownField(field: string, value: unknown, allowed: string): PolicyError {
  const message = `${field.slice(0, MAX_TEXT)} is not a field of a policy; ${allowed}`;
  return new PolicyError("unknown_field", field, value, allowed, message);
}

function lookUp(policy: unknown, field: string): unknown {
  let value = policy as Record<string, unknown> | null | undefined;
  if (value && Object.hasOwn(value, field)) return value[field];
  for (const key of field.split(".")) value = value?.[key] as typeof value;
  return value;
}

function spell(value: unknown): string {
  if (value === undefined) return "this value";
  try {
    const isJson = typeof value !== "number" && typeof value !== "bigint";
    return (isJson ? JSON.stringify(value) : undefined) ?? String(value);
  } catch {
    return "this value";
  }
}
