/** One try of a call. @module */

import type { Call } from "./call.ts";
import { release } from "./release.ts";

/** What an operation is told of the attempt that it is. */
export interface Attempt {
  /** 1 for the first. */
  readonly attempt: number;
  /** Aborted when the attempt times out, its call is cancelled or passes its deadline. */
  readonly signal: AbortSignal;
  /** How long the attempt may still take in milliseconds; `Infinity` where nothing limits it. */
  readonly timeLeftMs: number;
  /** The key of the call, the same for all its attempts; `undefined` where it has none. */
  readonly idempotencyKey: string | undefined;
}

/** One try of a call, as the loop sees it. */
export class Trial implements Attempt {
  readonly attempt: number;
  readonly call: Call;
  /** The id under which the end of the operation is reported, whenever that is. */
  readonly id: number;
  readonly until: number;
  /** The call has left it behind. */
  isCut = false;
  /** The operation has ended; its value is being parsed. */
  isParsing = false;
  /** `fetch` found that the request could not be sent as it is. */
  isOurFault = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  #stopReading: (() => void) | undefined;

  constructor(call: Call, id: number, until: number, attempt: number) {
    this.call = call;
    this.id = id;
    this.until = until;
    this.attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  // An AbortController costs more than the whole rest of a call: most operations need none.
  get controller(): AbortController {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isCut) this.#controller.abort(this.#reason);
    }
    return this.#controller;
  }

  get timeLeftMs(): number {
    return this.until < 0 ? Infinity : Math.max(0, this.until - this.call.loop.now());
  }

  get idempotencyKey(): string | undefined {
    return this.call.key;
  }

  /** Leaves the attempt behind. */
  cut(reason: unknown): void {
    this.isCut = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** Nobody will read the answer that it ended in. */
  release(answer: Response): void {
    this.#stopReading = release(answer);
  }

  /** What of its answer is still being read is not worth a connection any more. */
  supersede(): void {
    this.#controller?.abort();
    this.#stopReading?.();
  }
}
