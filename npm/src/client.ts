/** The client of one dependency. @module */

import type { Attempt } from "./attempt.ts";
import { Call, type Wants } from "./call.ts";
import { cells, core, putText, takeText } from "./core.ts";
import { type Decision, decisionOf, isDecision, putDecision } from "./decision.ts";
import { StormproofError } from "./errors.ts";
import type { EventName, Listener } from "./events.ts";
import type { Result } from "./failure.ts";
import { readDocument } from "./file.ts";
import { fetchThrough, textsOf, type FetchInit, type Texts } from "./fetch.ts";
import { callKey } from "./key.ts";
import { Loop, type HostOptions } from "./loop.ts";
import type { Safety } from "./names.ts";
import { parsePolicy, type Policy } from "./policy.ts";
import { safetyCode } from "./safety.ts";
import { takeStats, type Stats } from "./stats.ts";
import { tellChange } from "./tell.ts";

/** What one call may say for itself. */
export interface CallOptions {
  /** Ends the call at once when it is aborted; the call then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | null | undefined;
  /**
   * Whether the operation may be repeated. Default: `keyed` with an `idempotencyKey`, else the
   * policy's `safety`, which takes an operation as `idempotent`.
   */
  readonly safety?: Safety | undefined;
  /** The same for all attempts, in `attempt.idempotencyKey`. `true`: a new one for this call. */
  readonly idempotencyKey?: string | boolean | undefined;
  /** In how many milliseconds the call must be over; `overallTimeoutMs` holds besides. */
  readonly deadlineMs?: number | undefined;
  /** Whether an error that no rule recognises may pass. Default: the client's. */
  readonly shouldRetry?: ((error: unknown, attempt: number) => boolean) | undefined;
}

/** The same with a parser. */
export interface ParsedCallOptions<R, T> extends CallOptions {
  /**
   * Makes the answer what the caller wants of it. What it throws is a `contract` failure, which is
   * not retried, unless it is an error that stormproof knows. A response that is no success does
   * not get here: the call ends with an `HttpError`.
   */
  readonly parse: (raw: R, attempt: Attempt) => T | PromiseLike<T>;
}

/** What is done at each attempt. */
export type Operation<T> = (attempt: Attempt) => T | PromiseLike<T>;

/**
 * Calls one dependency. All calls share its circuit breaker, retry budget and bulkhead: make one
 * client for each dependency, when the program starts.
 */
export class ResilientClient {
  /** What the dependency is called. */
  readonly name: string;
  readonly #loop: Loop;
  readonly #texts: Texts;

  /** @throws PolicyError where the policy cannot be. */
  constructor(policy: Policy = {}, host: HostOptions = {}) {
    this.#loop = new Loop(policy, host);
    this.#texts = textsOf(policy);
    this.name = this.#loop.name;
  }

  /** A client with the policy that this JSON text holds. */
  static fromJson(text: string, host?: HostOptions): ResilientClient {
    return new ResilientClient(parsePolicy(text), host);
  }

  /**
   * A client with the policy in a JSON file. Needs Node ≥ 20.16, Deno or Bun.
   *
   * @throws PolicyError with code `unreadable_file` where the file cannot be read.
   */
  static fromFile(path: string | URL, host?: HostOptions): ResilientClient {
    return ResilientClient.fromJson(readDocument(path), host);
  }

  /**
   * Does `operation` until it succeeds or the policy says to stop.
   *
   * Rejects with the operation's own last error, with the caller's own `signal.reason`, or with a
   * {@link StormproofError}. A `Response` is judged by its status; the last one is handed out
   * whatever its status, unless there is a parser.
   */
  call<R, T>(operation: Operation<R>, options: ParsedCallOptions<R, T>): Promise<T>;
  call<T>(operation: Operation<T>, options?: CallOptions): Promise<T>;
  call<T>(operation: Operation<unknown>, options?: CallOptions): Promise<T> {
    return new Promise((resolve, reject) => {
      new Call(this.#open(), operation, wantsOf(options), resolve, reject).start();
    });
  }

  /** As {@link call}, but every end is a value. A response that is no success is a failure. */
  tryCall<R, T>(operation: Operation<R>, options: ParsedCallOptions<R, T>): Promise<Result<T>>;
  tryCall<T>(operation: Operation<T>, options?: CallOptions): Promise<Result<T>>;
  tryCall<T>(operation: Operation<unknown>, options?: CallOptions): Promise<Result<T>> {
    return new Promise((resolve) => {
      new Call(this.#open(), operation, wantsOf(options), resolve).start();
    });
  }

  /**
   * Sends a request as the platform's `fetch` does, as often as it takes. Resolves with the last
   * response, whatever its status; rejects for network errors, refusals and cancels only. A
   * request is repeated by its method and key: a POST without a key only when it certainly had no
   * effect.
   *
   * Timeouts cover the time until the head is there. While the body is read, only `init.signal`
   * ends it.
   */
  fetch(input: RequestInfo | URL, init?: FetchInit | null): Promise<Response> {
    return new Promise((resolve) => {
      resolve(fetchThrough(this.#open(), this.#texts, input, init ?? {}));
    });
  }

  /**
   * Listens to an event; answers a function that ends it.
   *
   * @throws TypeError where there is no such event
   */
  on<E extends EventName>(event: E, listener: Listener<E>): () => void {
    return this.#loop.listeners.on(event, listener);
  }

  /** How the client stands and what it has done. */
  stats(): Stats {
    const { handle } = this.#open();
    core().snapshot(handle, this.#loop.now());
    return takeStats(this.#loop.now());
  }

  /**
   * One plain sentence that says why a call ended as it did.
   *
   * @param ending the decision, or the error or response that it stands behind
   * @throws TypeError where there is no decision
   */
  explain(ending: unknown): string {
    const { handle, name } = this.#open();
    const decision = isDecision(ending) ? ending : decisionOf(ending);
    if (!decision) throw new TypeError("explain: there is no decision behind this value");
    putDecision(decision);
    return takeText(core().explain(handle, putText(name)));
  }

  /** The decision behind an error or a response of this or any other client. */
  decisionOf(answer: unknown): Decision | undefined {
    return decisionOf(answer);
  }

  /** Refuses every attempt until further notice. */
  forceOpen(): void {
    this.#control(0);
  }

  /** Admits every attempt and counts nothing until further notice. */
  forceClosed(): void {
    this.#control(1);
  }

  /** Counts, but refuses nobody. */
  metricsOnly(): void {
    this.#control(2);
  }

  /** The circuit is closed and automatic, as new. */
  reset(): void {
    this.#control(3);
  }

  /** Ends every call under way with a {@link StormproofError} of code `closed`. */
  close(): void {
    this.#loop.close(closed(this.name));
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): Loop {
    if (this.#loop.isClosed) throw closed(this.name);
    return this.#loop;
  }

  #control(order: number): void {
    const loop = this.#open();
    core().control(loop.handle, loop.now(), order);
    const change = loop.note(cells());
    tellChange(loop, change);
    loop.poll();
  }
}

function closed(name: string): StormproofError {
  return new StormproofError("closed", `${name}: the client was closed`);
}

/** Of a call that says nothing. */
const NOTHING: Wants = { safety: safetyCode(undefined, undefined) };

function wantsOf(options: CallOptions | undefined): Wants {
  if (options === undefined) return NOTHING;
  const { signal, deadlineMs, shouldRetry } = options;
  const { parse } = options as Partial<ParsedCallOptions<never, unknown>>;
  const key = callKey(options.idempotencyKey);
  return { parse, signal, key, safety: safetyCode(options.safety, key), deadlineMs, shouldRetry };
}
