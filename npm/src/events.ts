/** What listeners are told. @module */

import type { Failure } from "./failure.ts";
import type { ChangeCause, Circuit, Kind, Reason, Why } from "./names.ts";

/** Every event by its name. Each call ends in one of `callSucceeded`, `callFailed`, `refused`. */
export interface Events {
  /** An attempt starts. */
  attemptStarted: { readonly client: string; readonly attempt: number };
  /** An attempt failed, timed out, or was cut off by the deadline. */
  attemptFailed: {
    readonly client: string;
    readonly attempt: number;
    readonly kind: Kind;
    readonly failure: Failure;
  };
  /** Another attempt will follow. */
  retryScheduled: {
    readonly client: string;
    /** The number of the attempt to come. */
    readonly attempt: number;
    /** In milliseconds. */
    readonly waitMs: number;
    readonly why: Why;
    /** Whether the dependency's Retry-After is the longer part of the wait. */
    readonly retryAfterUsed: boolean;
    /** What the attempt before ended in. */
    readonly kind: Kind | undefined;
  };
  /** A call succeeded. */
  callSucceeded: {
    readonly client: string;
    readonly attempts: number;
    readonly totalWaitMs: number;
  };
  /** A call ended with the dependency's own error. */
  callFailed: {
    readonly client: string;
    readonly reason: Reason;
    readonly attempts: number;
    readonly kind: Kind | undefined;
    readonly error: unknown;
  };
  /** A call ended with a refusal or was cancelled. */
  refused: {
    readonly client: string;
    readonly kind: Reason;
    readonly attempts: number;
    readonly error: unknown;
  };
  /** The circuit changed its state. */
  circuitChanged: {
    readonly client: string;
    readonly from: Circuit;
    readonly to: Circuit;
    readonly cause: ChangeCause;
  };
  /** An operation ended after its call had moved on. Its result is discarded. */
  lateResult: {
    readonly client: string;
    readonly attempt: number;
    readonly outcome: "fulfilled" | "rejected";
    /** The value or the error. */
    readonly result: unknown;
  };
}

/** The name of an event. */
export type EventName = keyof Events;

const NAMES: Readonly<Record<EventName, true>> = {
  attemptStarted: true,
  attemptFailed: true,
  retryScheduled: true,
  callSucceeded: true,
  callFailed: true,
  refused: true,
  circuitChanged: true,
  lateResult: true,
};

/** Is told of an event. What it throws is reported and changes nothing. */
export type Listener<E extends EventName> = (event: Events[E]) => void;

/** Takes what a listener threw. */
export type ListenerErrorHook = (error: unknown, event: EventName) => void;

/** The listeners of one client. */
export class Listeners {
  readonly #lists: { [E in EventName]?: readonly { call: Listener<E> }[] } = {};
  readonly #onError: ListenerErrorHook;
  /** Nobody listens to anything. */
  isIdle = true;

  constructor(onError: ListenerErrorHook | undefined) {
    this.#onError = onError ?? report;
  }

  on<E extends EventName>(event: E, listener: Listener<E>): () => void {
    if (!Object.hasOwn(NAMES, event)) {
      throw new TypeError(`on: ${String(event)} is none of ${Object.keys(NAMES).join(", ")}`);
    }
    const entry = { call: listener };
    const lists = this.#lists as Record<string, readonly { call: Listener<E> }[] | undefined>;
    lists[event] = [...(lists[event] ?? []), entry];
    this.isIdle = false;
    return () => {
      const rest = lists[event]?.filter((other) => other !== entry);
      lists[event] = rest?.length ? rest : undefined;
      this.isIdle = Object.values(lists).every((list) => list === undefined);
    };
  }

  /** Ask before an event is put together. */
  has(event: EventName): boolean {
    return !this.isIdle && this.#lists[event] !== undefined;
  }

  emit<E extends EventName>(event: E, detail: Events[E]): void {
    for (const listener of this.#lists[event] ?? []) {
      try {
        const result: unknown = listener.call(detail);
        if (result instanceof Promise) result.catch((error) => this.report(error, event));
      } catch (error) {
        this.report(error, event);
      }
    }
  }

  /** A listener, or a hook that was asked at this event, has thrown. */
  report(error: unknown, event: EventName): void {
    try {
      this.#onError(error, event);
    } catch {
      // An observer of observers changes nothing either.
    }
  }
}

// Not `reportError`: there are runtimes that end the process on it.
function report(error: unknown, event: EventName): void {
  console.error(`stormproof: a listener of ${event} failed:`, error);
}
