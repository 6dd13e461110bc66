/** What all calls to one dependency share. @module */

import { Alarm, type Sleeper, type Timing } from "./alarm.ts";
import type { Trial } from "./attempt.ts";
import type { Call } from "./call.ts";
import { isResponse } from "./classify.ts";
import { cells, core, type Core } from "./core.ts";
import { Listeners, type ListenerErrorHook } from "./events.ts";
import type { Failure } from "./failure.ts";
import { CAUSES, CIRCUITS, kindCode } from "./names.ts";
import { buildEngine, type Policy } from "./policy.ts";
import { discard } from "./release.ts";
import type { Change } from "./tell.ts";

/** What the host of a client brings along. None of it belongs to the policy document. */
export interface HostOptions {
  /** What `client.fetch` calls. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch;
  /** Monotonic milliseconds. Default `performance.now()`. */
  readonly now?: () => number;
  /** Milliseconds since 1970, for dates in Retry-After. Default `Date.now()`. */
  readonly wallClock?: () => number;
  /** Default: the platform's. What it answers is handed to `clearTimeout`. */
  readonly setTimeout?: (callback: () => void, ms: number) => unknown;
  /** Default: the platform's. */
  readonly clearTimeout?: (timer: unknown) => void;
  /**
   * A whole number of 64 bits that fixes all jitter, for tests: the same as in a Python client of
   * this seed. Default: random.
   */
  readonly seed?: number | bigint;
  /** Says what an error is that no rule recognises; nothing leaves it unrecognised. */
  readonly classify?: (error: unknown) => Failure | undefined;
  /** Whether an error that no rule recognises may pass: a `network` failure, perhaps sent. */
  readonly shouldRetry?: (error: unknown, attempt: number) => boolean;
  /** Takes what a listener threw. Default: `console.error`. */
  readonly onListenerError?: ListenerErrorHook;
}

// Answers of the core.
export const ATTEMPT = 0;
export const WAIT = 1;
export const QUEUE = 2;
export const FINISH = 3;
export const STALE = 4;
export const NOTHING = 5;
export const GONE = 6;

const engines = new FinalizationRegistry((handle: number) => core().engine_free(handle));

/** One engine, its timer, its listeners and the calls under way. */
export class Loop implements Timing, Sleeper {
  readonly core: Core;
  readonly handle: number;
  readonly name: string;
  readonly host: HostOptions;
  readonly listeners: Listeners;
  readonly alarm: Alarm;
  readonly now: () => number;
  /** Calls in line, by their ids. */
  readonly queued: Map<number, Call> = new Map();
  /** Calls that no timer will wake. */
  readonly untimed: Set<Call> = new Set();
  isClosed = false;
  /** When polling may yield something. */
  until = -1;
  place = -1;
  #isPolling = false;

  constructor(policy: Policy, host: HostOptions) {
    this.core = core();
    this.handle = buildEngine(policy, host.seed);
    this.name = policy.name ?? "the dependency";
    this.host = host;
    this.now = host.now === undefined ? () => performance.now() : this.#watched(host.now);
    this.listeners = new Listeners(host.onListenerError);
    this.alarm = new Alarm(this);
    engines.register(this, this.handle, this);
  }

  setTimeout(callback: () => void, ms: number): unknown {
    return (this.host.setTimeout ?? setTimeout)(callback, ms);
  }

  clearTimeout(timer: unknown): void {
    (this.host.clearTimeout ?? clearTimeout)(timer as number);
  }

  /** Takes from a step what concerns no call: when to poll. Calls no listener. */
  note(buffer: Float64Array): Change {
    const pollAt = buffer[2]!;
    if (pollAt !== this.until) this.#pollAt(pollAt);
    const from = buffer[5]!;
    if (from < 0 || !this.listeners.has("circuitChanged")) return undefined;
    return {
      client: this.name,
      from: CIRCUITS[from]!,
      to: CIRCUITS[buffer[6]!]!,
      cause: CAUSES[buffer[7]!]!,
    };
  }

  /** Lets waiting calls go as long as there are any that may. */
  poll(): void {
    if (this.until < 0 || this.#isPolling) return;
    this.#isPolling = true;
    try {
      while (this.until >= 0 && this.until <= this.now()) this.#pollOnce();
    } finally {
      this.#isPolling = false;
    }
  }

  wake(): void {
    this.poll();
  }

  /** The operation of an attempt that was left behind has ended. */
  late(trial: Trial, outcome: "fulfilled" | "rejected", result: unknown): void {
    const { core, handle } = this;
    if (typeof result === "object" && result !== null && isResponse(result)) discard(result);
    const action = core.on_settled(handle, this.now(), trial.id, CANCELLED, 0, 0, -1);
    if (action !== STALE) return;
    const buffer = cells();
    const isLate = buffer[4] === 1;
    this.note(buffer);
    if (isLate && this.listeners.has("lateResult")) {
      const { attempt } = trial;
      this.listeners.emit("lateResult", { client: this.name, attempt, outcome, result });
    }
    this.poll();
  }

  /** Ends every call with `reason` and gives the engine back. */
  close(reason: Error): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const calls = [...this.alarm.sleepers, ...this.untimed];
    for (const call of calls) if (call !== this) (call as Call).onAbort(reason);
    this.#pollAt(-1);
    this.alarm.close();
    engines.unregister(this);
    this.core.engine_free(this.handle);
  }

  #pollOnce(): void {
    const now = this.now();
    const action = this.core.poll_ready(this.handle, now);
    if (action > STALE) {
      this.#pollAt(action === NOTHING ? cells()[2]! : -1);
      return;
    }
    const buffer = cells();
    const call = this.queued.get(buffer[1]!);
    if (call === undefined) this.note(buffer);
    else call.apply(action);
  }

  /** A clock that may be set back, by hand or by the network. */
  #watched(clock: () => number): () => number {
    let newest = -Infinity;
    return () => {
      const now = clock();
      const isSetBack = now <= newest - STEP_BACK;
      if (isSetBack) this.alarm.shift(newest - now);
      if (isSetBack || now > newest) newest = now;
      return now;
    };
  }

  #pollAt(instant: number): void {
    this.alarm.remove(this);
    this.until = instant;
    if (instant >= 0 && instant > this.now()) this.alarm.add(this);
  }
}

const CANCELLED = kindCode("cancelled");
/** In milliseconds. The core takes less for threads that race, and waits until it is made up. */
const STEP_BACK = 1000;
