/** `fetch` through a client. @module */

import type { Attempt, Trial } from "./attempt.ts";
import { freeze, freezeRequest, isOneShot, type Body, type PayloadSource } from "./body.ts";
import { Call, type Wants } from "./call.ts";
import { classifyError, isUnclassified } from "./classify.ts";
import { core, putText } from "./core.ts";
import { callKey, keyHeader } from "./key.ts";
import type { Loop } from "./loop.ts";
import type { Safety } from "./names.ts";
import type { IdempotencyPolicy, Policy, PropagatePolicy } from "./policy.ts";
import { safetyCode } from "./safety.ts";
import { follow } from "./tail.ts";

/** What `fetch` takes, and what a call may say for itself. */
export interface FetchInit extends Omit<RequestInit, "body"> {
  /**
   * Sent byte for byte at every attempt. A stream can be sent only once, so its call is never
   * retried, unless a function makes a new one for each attempt.
   */
  readonly body?: Body;
  /**
   * Sent in the `Idempotency-Key` header, the same for all attempts. `true`: a new one for this
   * call. A header that is set already wins.
   */
  readonly idempotencyKey?: string | boolean | undefined;
  /** Default: by the method, and `keyed` with a key. */
  readonly safety?: Safety | undefined;
  /** In how many milliseconds the call must be over; `overallTimeoutMs` holds besides. */
  readonly deadlineMs?: number | undefined;
}

/** What the policy document says about requests; the core does not need it. */
export interface Texts {
  readonly idempotency: IdempotencyPolicy;
  readonly propagate: PropagatePolicy;
}

export function textsOf(policy: Policy): Texts {
  return { idempotency: { ...policy.idempotency }, propagate: { ...policy.propagate } };
}

/** Sends a request, as often as it takes. Resolves with the last response, whatever its status. */
export function fetchThrough(
  loop: Loop,
  texts: Texts,
  input: RequestInfo | URL,
  init: FetchInit,
): Promise<Response> {
  const signal = init.signal === undefined && input instanceof Request ? input.signal : init.signal;
  const { operation, wants, newest } = prepare(loop, texts, input, init, signal);
  const answer = new Promise<Response>((resolve, reject) => {
    new Call(loop, operation, wants, resolve, reject).start();
  });
  if (!signal) return answer;
  return answer.then((response) => {
    const trial = newest();
    if (trial) follow(response, signal, trial.controller);
    return response;
  });
}

interface Prepared {
  readonly operation: (attempt: Attempt) => Promise<Response>;
  readonly wants: Wants;
  /** The attempt that was begun last. */
  newest(): Trial | undefined;
}

function prepare(
  loop: Loop,
  { idempotency, propagate }: Texts,
  input: RequestInfo | URL,
  init: FetchInit,
  signal: AbortSignal | null | undefined,
): Prepared {
  const { body, idempotencyKey, safety, deadlineMs, ...rest } = init;
  const request = input instanceof Request ? input : undefined;
  const target = request ?? String(input);
  const method = init.method ?? request?.method ?? "GET";
  const isIdempotent = core().is_idempotent_method(putText(method)) === 1;
  const headers = headersOf(init.headers ?? request?.headers);
  const isSingle = isOneShot(body);
  const key = chooseKey(headers, idempotency, idempotencyKey, !isIdempotent);
  const source = body == null && request ? freezeRequest(request) : freeze(body);
  let trial: Trial | undefined;
  const operation = (attempt: Attempt): Promise<Response> => {
    trial = attempt as Trial;
    return send(loop, target, rest, headers, propagate, source, trial);
  };
  const repeatable = safetyCode(safety, key, isIdempotent ? "idempotent" : "unsafe");
  const code = isSingle ? safetyCode("once", undefined) : repeatable;
  const wants = { signal, key, safety: code, deadlineMs, isOneShot: isSingle };
  return { operation, wants, newest: () => trial };
}

/** The caller's own header wins; else the key is written into the headers. */
function chooseKey(
  headers: Headers | Fault,
  policy: IdempotencyPolicy,
  wanted: string | boolean | undefined,
  isWrite: boolean,
): string | undefined {
  const name = policy.header ?? "Idempotency-Key";
  const own = headers instanceof Headers ? headers.get(name) : null;
  if (own !== null) return own;
  const key = callKey(wanted ?? (policy.auto === true && isWrite));
  if (key !== undefined && headers instanceof Headers) {
    headers.set(name, keyHeader(key, policy.form ?? "raw"));
  }
  return key;
}

async function send(
  loop: Loop,
  input: Request | string,
  init: RequestInit,
  headers: Headers | Fault,
  propagate: PropagatePolicy,
  source: PayloadSource,
  trial: Trial,
): Promise<Response> {
  try {
    if (!(headers instanceof Headers)) throw headers.error;
    const { body, type } = await source();
    const own = headersFor(headers, propagate, type, trial);
    const doFetch = loop.host.fetch ?? fetch;
    const { signal } = trial;
    const given = { ...referrerOf(input), ...init, headers: own, body: body!, signal };
    return await doFetch(input, given);
  } catch (error) {
    trial.isOurFault = isOurFault(error, input);
    throw error;
  }
}

function headersFor(
  headers: Headers,
  { timeLeftHeader, attemptHeader }: PropagatePolicy,
  type: string | undefined,
  { timeLeftMs, attempt }: Trial,
): Headers {
  const own = new Headers(headers);
  if (type !== undefined && !own.has("content-type")) own.set("content-type", type);
  if (timeLeftHeader && timeLeftMs < Infinity) own.set(timeLeftHeader, `${Math.floor(timeLeftMs)}`);
  if (attemptHeader) own.set(attemptHeader, `${attempt}`);
  return own;
}

/** Headers that cannot be are reported like a request that cannot be: by the attempt. */
interface Fault {
  readonly error: unknown;
}

function headersOf(init: HeadersInit | undefined): Headers | Fault {
  try {
    return new Headers(init);
  } catch (error) {
    return { error };
  }
}

// Any init resets the referrer of a request.
function referrerOf(input: Request | string): RequestInit {
  if (typeof input === "string") return {};
  const { referrer, referrerPolicy } = input;
  return { referrer, referrerPolicy };
}

function isTypeError(error: unknown): boolean {
  try {
    return (error as Error | undefined)?.name === "TypeError";
  } catch {
    return false;
  }
}

/** `fetch` reports a request that cannot be sent as it reports a network that fails. */
function isOurFault(error: unknown, input: Request | string): boolean {
  if (!isTypeError(error)) return false;
  if (isUnclassified(classifyError(error))) return true;
  const url = typeof input === "string" ? input : input.url;
  try {
    const { protocol } = new URL(url, (globalThis as { location?: Location }).location?.href);
    return !/^(https?|data|blob):$/.test(protocol);
  } catch {
    return true;
  }
}
