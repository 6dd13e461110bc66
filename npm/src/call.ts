/** One call, from its start to its end. @module */

import type { Sleeper } from "./alarm.ts";
import { Trial, type Attempt } from "./attempt.ts";
import { isResponse } from "./classify.ts";
import { cells } from "./core.ts";
import { isObject, remember, takeDecision, type Decision } from "./decision.ts";
import { endedByError, endedByResponse, report, type Ended } from "./ended.ts";
import { endingOf, timedOut } from "./ending.ts";
import { ATTEMPT, FINISH, GONE, QUEUE, WAIT, type Loop } from "./loop.ts";
import { WHYS } from "./names.ts";
import { discard } from "./release.ts";
import {
  tellChange,
  tellEnd,
  tellFailed,
  tellRetry,
  tellStarted,
  tellSuccess,
  type Change,
} from "./tell.ts";
import { unwatch, watch, type Watcher } from "./watch.ts";

/** What a call wants besides its operation. */
export interface Wants {
  readonly parse?: ((raw: never, attempt: Attempt) => unknown) | undefined;
  readonly shouldRetry?: ((error: unknown, attempt: number) => boolean) | undefined;
  readonly signal?: AbortSignal | null | undefined;
  readonly key?: string | undefined;
  /** By its number; any other number: the policy's. */
  readonly safety: number;
  /** Milliseconds from now. */
  readonly deadlineMs?: number | undefined;
  /** What is to be sent can be sent only once. */
  readonly isOneShot?: boolean;
}

const RUNNING = WHYS.indexOf("running");
const SUCCESS = 0;
const UNSAFE = "unsafe_to_retry";

/** One call. Everything that happens to it is one event to the engine, answered by one step. */
export class Call implements Sleeper, Watcher {
  until = -1;
  place = -1;
  readonly loop: Loop;
  readonly #operation: (attempt: Attempt) => unknown;
  readonly #wants: Wants;
  readonly #resolve: (value: never) => void;
  /** Nothing: the call ends in a `Result`. */
  readonly #reject: ((error: unknown) => void) | undefined;
  #id = 0;
  #isQueued = false;
  #isUntimed = false;
  #isOver = false;
  /** The attempt that runs. */
  #trial: Trial | undefined;
  /** The newest attempt that has ended; something of its response may still be read. */
  #before: Trial | undefined;
  #last: Ended | undefined;
  #cancelled: { readonly reason: unknown } | undefined;

  constructor(
    loop: Loop,
    operation: (attempt: Attempt) => unknown,
    wants: Wants,
    resolve: (value: never) => void,
    reject?: (error: unknown) => void,
  ) {
    this.loop = loop;
    this.#operation = operation;
    this.#wants = wants;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get key(): string | undefined {
    return this.#wants.key;
  }

  start(): void {
    const { signal, safety, deadlineMs } = this.#wants;
    const { core, handle } = this.loop;
    const now = this.loop.now();
    const deadline = deadlineMs === undefined ? -1 : deadlineFrom(now, deadlineMs);
    if (signal) {
      if (signal.aborted) this.#cancelled = { reason: signal.reason };
      else watch(signal, this);
    }
    this.apply(core.start(handle, now, safety, deadline, this.#cancelled ? 1 : 0));
  }

  /** Ends the call at once. */
  onAbort(reason: unknown): void {
    if (this.#isOver) return;
    this.#cancelled = { reason };
    const { core, handle } = this.loop;
    this.apply(core.on_cancelled(handle, this.loop.now(), this.#id));
  }

  /** The timer of the call fired. */
  wake(): void {
    if (this.#isOver) return;
    const { core, handle } = this.loop;
    this.apply(core.on_elapsed(handle, this.loop.now(), this.#id));
  }

  /**
   * Does what the step in the buffer says. Everything is read from the buffer, and the call is in
   * its new phase, before anybody else's code runs: that code may start and cancel calls.
   */
  apply(action: number, ended?: Ended, value?: unknown): void {
    // A hook of the host has closed the client meanwhile: what stands in the buffer is not ours.
    if (action === GONE) return;
    const buffer = cells();
    const id = buffer[0]!;
    const until = buffer[3]!;
    const detail = buffer[4]!;
    const planned = buffer[17]!;
    const change = this.loop.note(buffer);
    if (action === FINISH) this.#finish(ended, value, change);
    else if (action === ATTEMPT) this.#begin(id, until, detail, change);
    else if (action === WAIT && detail !== RUNNING) {
      this.#wait(id, until, detail, planned, ended, change);
    }
    else if (action === WAIT || action === QUEUE) {
      this.#enter(id, until, action === QUEUE);
      tellChange(this.loop, change);
    }
    this.loop.poll();
  }

  #begin(id: number, until: number, number: number, change: Change): void {
    const trial = new Trial(this, id, until, number);
    this.#trial = trial;
    this.#enter(id, until, false);
    this.#before?.supersede();
    tellChange(this.loop, change);
    tellStarted(this.loop, number);
    // A listener may have cancelled the call.
    if (trial.isCut) this.loop.late(trial, "rejected", undefined);
    else this.#run(trial, this.#operation);
  }

  #run(trial: Trial, operation: (attempt: Attempt) => unknown): void {
    try {
      const value = operation(trial);
      if (!isObject(value)) return this.#onValue(trial, value);
      Promise.resolve(value).then(
        (value) => this.#onValue(trial, value),
        (error) => this.#onError(trial, error),
      );
    } catch (error) {
      this.#onError(trial, error);
    }
  }

  #onValue(trial: Trial, value: unknown): void {
    if (trial.isCut) return this.loop.late(trial, "fulfilled", value);
    // A promise of whatever make may settle twice.
    if (trial !== this.#trial) return;
    if (!trial.isParsing) {
      let ended: Ended | undefined;
      try {
        const isAnswer = typeof value === "object" && value !== null && isResponse(value);
        ended = isAnswer ? endedByResponse(this.loop, this.#wants, value) : undefined;
      } catch (error) {
        // A response of another make, which cannot be read.
        return this.#onError(trial, error);
      }
      if (ended !== undefined) return this.#fail(trial, ended);
      const { parse } = this.#wants;
      if (parse !== undefined) {
        trial.isParsing = true;
        return this.#run(trial, (attempt) => parse(value as never, attempt));
      }
    }
    const { core, handle } = this.loop;
    this.#trial = undefined;
    this.apply(
      core.on_settled(handle, this.loop.now(), trial.id, SUCCESS, 0, 0, -1),
      undefined,
      value,
    );
  }

  #onError(trial: Trial, error: unknown): void {
    if (trial.isCut) return this.loop.late(trial, "rejected", error);
    if (trial !== this.#trial) return;
    this.#fail(trial, endedByError(this.loop, this.#wants, trial, error));
  }

  #fail(trial: Trial, ended: Ended): void {
    this.#trial = undefined;
    this.#before = trial;
    this.apply(report(this.loop, trial, ended), ended);
  }

  /** A retry will follow. */
  #wait(
    id: number,
    until: number,
    why: number,
    planned: number,
    given: Ended | undefined,
    change: Change,
  ): void {
    const trial = this.#trial;
    const ended = trial ? timedOut() : given;
    this.#trial = undefined;
    this.#before = trial ?? this.#before;
    this.#last = ended ?? this.#last;
    this.#enter(id, until, false);
    trial?.cut(ended?.error);
    if (ended?.response) this.#before?.release(ended.response);
    if (ended && this.#before) tellFailed(this.loop, this.#before, ended.failure);
    tellChange(this.loop, change);
    // A listener may have cancelled the call.
    if (this.#isOver) return;
    tellRetry(this.loop, this.#before, this.#last?.failure, planned, why);
  }

  #finish(given: Ended | undefined, value: unknown, change: Change): void {
    const isSuccess = cells()[8] === SUCCESS;
    const isPlain = !(typeof value === "object" && value !== null && isResponse(value));
    this.#leave();
    if (isSuccess && isPlain && this.#reject && !this.loop.listeners.has("callSucceeded")) {
      // The quick way: nobody asks for the decision.
      this.#end();
      this.#resolve(value as never);
      tellChange(this.loop, change);
    } else if (isSuccess) {
      this.#succeed(value, takeDecision(), isPlain, change);
    } else {
      this.#lose(given, takeDecision(), change);
    }
  }

  #succeed(value: unknown, decision: Decision, isPlain: boolean, change: Change): void {
    this.#end();
    if (!isPlain) remember(value, decision);
    this.#resolve((this.#reject ? value : { ok: true, value, decision }) as never);
    tellChange(this.loop, change);
    tellSuccess(this.loop, decision);
  }

  #lose(given: Ended | undefined, decision: Decision, change: Change): void {
    const trial = this.#trial;
    const { reason } = decision;
    const isCutOff = reason === "deadline_exceeded" || reason === "cancelled";
    const ended = trial && !isCutOff ? timedOut() : given;
    this.#last = ended ?? this.#last;
    const isOneShot = this.#wants.isOneShot && reason === UNSAFE;
    const told = isOneShot ? ({ ...decision, bodyNotReplayable: true } as const) : decision;
    this.#close(trial, ended, told, change);
  }

  /** The call ends without a success. `trial`: the attempt that runs all the same. */
  #close(trial: Trial | undefined, ended: Ended | undefined, decision: Decision, change: Change) {
    const failed = trial ?? (ended && this.#before);
    const ending = endingOf(this.loop, decision, this.#last, this.#cancelled);
    const { error, failure, response } = ending;
    this.#end();
    remember(error, decision);
    if (response === undefined) {
      if (this.#last?.response) discard(this.#last.response);
      this.#before?.supersede();
    }
    if (!this.#reject) this.#resolve({ ok: false, error: failure, decision } as never);
    else if (response !== undefined && response === error) this.#resolve(response as never);
    else this.#reject(error);
    trial?.cut(error);
    if (failed && decision.reason !== "cancelled") {
      tellFailed(this.loop, failed, (ended ?? timedOut()).failure);
    }
    tellChange(this.loop, change);
    tellEnd(this.loop, decision, error);
  }

  #end(): void {
    this.#isOver = true;
    this.#trial = undefined;
    const { signal } = this.#wants;
    if (signal) unwatch(signal, this);
  }

  /** The call is in another phase now. */
  #enter(id: number, until: number, isQueued: boolean): void {
    this.#leave();
    this.#id = id;
    this.until = until;
    if (until >= 0) {
      this.loop.alarm.add(this);
    } else {
      this.loop.untimed.add(this);
      this.#isUntimed = true;
    }
    if (isQueued) this.loop.queued.set(id, this);
    this.#isQueued = isQueued;
  }

  #leave(): void {
    if (this.place >= 0) this.loop.alarm.remove(this);
    if (this.#isUntimed) this.loop.untimed.delete(this);
    if (this.#isQueued) this.loop.queued.delete(this.#id);
    this.#isUntimed = this.#isQueued = false;
  }
}

/** The instant in so many milliseconds; negative: none. */
function deadlineFrom(now: number, ms: number): number {
  if (typeof ms !== "number" || Number.isNaN(ms)) {
    throw new TypeError(`deadlineMs: ${String(ms)} is no number of milliseconds`);
  }
  return ms === Infinity ? -1 : now + Math.max(0, ms);
}
