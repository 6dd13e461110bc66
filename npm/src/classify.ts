/** From errors and responses to failures. @module */

import { byCode } from "./codes.ts";
import { isBusinessError, isHttpError, isRefused, waitOf } from "./errors.ts";
import type { Failure } from "./failure.ts";
import { KINDS, SAFETIES, type Kind, type Safety } from "./names.ts";
import { core } from "./core.ts";
import { retryAfterOf } from "./retry-after.ts";

/** How deep, and how wide, a chain of causes is looked through. */
const DEPTH = 5;
const WIDTH = 16;

/** What `fetch` says in Chromium, Firefox, Safari, Node, Deno, Bun when the network fails. */
const NETWORK_TYPE_ERROR =
  /^(Failed to fetch( \(|\.?$)|NetworkError when attempting|Load failed|fetch failed|network error$|terminated$|error (sending request|reading a body)|Error in input stream|Unable to connect|The (network|Internet) connection|Could not connect|A server with the specified hostname)/i;
/** What workerd and Bun say, in plain errors. */
const NETWORK_ERROR = /^(Network connection lost|The socket connection was closed)/;
/** What Deno says below "fetch failed"; what Node says there of the network has a code. */
const DENO_CAUSE = /^error sending request|\(os error \d+\)$/;
/** Deno tells that it never got as far as a connection. */
const NEVER_CONNECTED = /client error \(Connect\)|^Unable to connect|^Could not connect/;
/** What `fetch` and its arguments say when the caller is at fault. */
const PROGRAMMING_TYPE_ERROR =
  /parse URL|invalid url|URL scheme|HEAD method|invalid header|header (name|value)|ByteString|HTTP method|includes credentials|duplex|already been (used|read)|body is (disturbed|unusable|locked)/i;

/**
 * What an error is that an operation ended with. An error that no rule recognises is a `business`
 * failure with code `unclassified`: it is not retried.
 *
 * Who fired an abort is known to a running call only: here, a `TimeoutError` is a `timeout` and an
 * `AbortError` is `cancelled`.
 */
export function classifyError(error: unknown): Failure {
  try {
    return recognise(error) ?? unclassified(error);
  } catch {
    return unclassified(error);
  }
}

/** What a response is. */
export function classifyResponse(
  response: Response,
  options?: {
    /** Of the request; a 409 of a `keyed` one is `throttled`. Default `idempotent`. */
    readonly safety?: Safety;
  },
): Failure | { readonly kind: "success" } {
  if (isNetworkError(response)) return { kind: "network", phase: "unknown", cause: response };
  const retryAfterMs = retryAfterOf(response);
  const safety = SAFETIES.indexOf(options?.safety ?? "idempotent");
  const kind = kindOfStatus(0, response.status, retryAfterMs, safety);
  return kind === "success" ? { kind } : byStatus(kind, response.status, retryAfterMs, response);
}

/** By the table of the engine with this handle; 0: the default table. */
export function kindOfStatus(
  handle: number,
  status: number,
  retryAfterMs: number | undefined,
  safety: number,
): Kind {
  const code = core().classify(handle || defaultEngine(), status, retryAfterMs ?? -1, safety);
  return KINDS[code] ?? "client";
}

/** The failure of a kind that a status stands for. */
export function byStatus(
  kind: Kind,
  status: number,
  retryAfterMs: number | undefined,
  cause: unknown,
): Failure {
  return kind === "client"
    ? { kind, status, cause }
    : { kind: kind as "server" | "throttled", status, retryAfterMs, cause };
}

/** Also one of another realm, or of a library that brings its own `fetch`. */
export function isResponse(value: object): value is Response {
  try {
    return (
      (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === "Response" &&
      typeof (value as Response).status === "number"
    );
  } catch {
    return false;
  }
}

/** `Response.error()`: what a service worker answers with when the network fails. */
export function isNetworkError(response: Response): boolean {
  return response.type === "error";
}

/** No rule recognises the error. The code of a business error is the dependency's: any text. */
export function isUnclassified(failure: Failure): boolean {
  if (failure.kind !== "business" || failure.code !== "unclassified") return false;
  return !isBusinessError(failure.cause);
}

function unclassified(cause: unknown): Failure {
  return { kind: "business", code: "unclassified", cause };
}

function recognise(error: unknown): Failure | undefined {
  if (isRefused(error)) {
    return error.code === "closed" ? undefined : { kind: error.code, cause: error };
  }
  if (isHttpError(error)) {
    const { status } = error;
    const retryAfterMs = waitOf(error);
    const kind = kindOfStatus(0, status, retryAfterMs, 0);
    return kind === "success" ? undefined : byStatus(kind, status, retryAfterMs, error);
  }
  if (isBusinessError(error)) return { kind: "business", code: error.code, cause: error };
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown };
  if (name === "AbortError") return { kind: "cancelled", cause: error };
  const found = search(error) ?? byMessage(error, name, message);
  return found && { ...found, cause: error };
}

/** The first known code in the chain. One that was perhaps sent outweighs those that were not. */
function search(top: unknown): Failure | undefined {
  const seen = new Set<unknown>();
  let found: Failure | undefined;
  const visit = (error: unknown, depth: number): void => {
    if (typeof error !== "object" || error === null) return;
    if (depth > DEPTH || seen.size >= WIDTH || seen.has(error)) return;
    seen.add(error);
    const failure = byCode(error) ?? byName(error);
    found ??= failure;
    if (failure && "phase" in failure && failure.phase === "unknown" && isNotSent(found)) {
      found = failure;
    }
    const { errors, cause } = error as { errors?: unknown; cause?: unknown };
    if (Array.isArray(errors)) errors.slice(0, WIDTH).forEach((each) => visit(each, depth + 1));
    visit(cause, depth + 1);
  };
  visit(top, 0);
  return found;
}

function isNotSent(failure: Failure | undefined): boolean {
  return failure !== undefined && "phase" in failure && failure.phase === "not_sent";
}

function byName(error: object): Failure | undefined {
  const isTimeout = (error as Error).name === "TimeoutError";
  return isTimeout ? { kind: "timeout", phase: "unknown", cause: error } : undefined;
}

function byMessage(error: unknown, name: unknown, message: unknown): Failure | undefined {
  if (typeof message !== "string" || message.length > 1024) return undefined;
  if (name === "Error" && NETWORK_ERROR.test(message)) return network(message);
  if (name !== "TypeError") return undefined;
  if (NETWORK_TYPE_ERROR.test(message)) {
    // Deno, of blocked ports and redirects.
    if (message.startsWith("Fetch failed: ")) return OUR_FAULT;
    const { cause } = error as Error;
    const isWrapped = message === "fetch failed" && cause instanceof Error && !("code" in cause);
    if (!isWrapped) return network(message);
    return DENO_CAUSE.test(cause.message) ? network(cause.message) : OUR_FAULT;
  }
  return PROGRAMMING_TYPE_ERROR.test(message) ? OUR_FAULT : undefined;
}

const OUR_FAULT: Failure = { kind: "client", status: 0, cause: undefined };

function network(message: string): Failure {
  if (message.includes("invalid peer certificate")) return OUR_FAULT;
  const phase = NEVER_CONNECTED.test(message) ? "not_sent" : "unknown";
  return { kind: "network", phase, cause: undefined };
}

let defaults = 0;

function defaultEngine(): number {
  if (defaults === 0) {
    const { policy_new, engine_new } = core();
    policy_new();
    defaults = engine_new() >>> 0;
  }
  return defaults;
}
