/** One timer for any number of instants. @module */

/** Something that waits for an instant. */
export interface Sleeper {
  /** The instant may have come. */
  wake(): void;
  /** The instant in milliseconds of the client's clock; negative: never. */
  until: number;
  /** Its place in the heap; -1 outside. The alarm's own. */
  place: number;
}

/** How an alarm reads the clock and sets its timer. */
export interface Timing {
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** `setTimeout` holds no more: a longer wait ends early and is begun again. */
const LONGEST = 2 ** 31 - 1;

/**
 * Holds sleepers in a binary heap and wakes the client when the first is due. The timer is set
 * for the nearest instant and left standing when that sleeper leaves: calls that succeed at once
 * never set it anew. While nobody sleeps it does not keep the process alive.
 */
export class Alarm {
  readonly #heap: Sleeper[] = [];
  /** Those whose instant has come, until they have all been told. */
  #due: readonly Sleeper[] = [];
  readonly #timing: Timing;
  #timer: unknown;
  #setFor = Infinity;

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  /** Everybody who sleeps or is being woken. */
  get sleepers(): readonly Sleeper[] {
    return [...this.#due, ...this.#heap];
  }

  add(sleeper: Sleeper): void {
    const heap = this.#heap;
    if (heap.push(sleeper) === 1 && this.#timer !== undefined) this.#hold(true);
    this.#rise(sleeper, heap.length - 1);
    if (sleeper.place === 0) this.#set(sleeper.until);
  }

  remove(sleeper: Sleeper): void {
    const place = sleeper.place;
    if (place < 0) return;
    sleeper.place = -1;
    const heap = this.#heap;
    const last = heap.pop()!;
    if (last !== sleeper) {
      this.#rise(last, place);
      this.#sink(last, last.place);
    } else if (heap.length === 0) {
      this.#hold(false);
    }
  }

  /** The clock was set back: all instants keep their distance from now. */
  shift(ms: number): void {
    for (const sleeper of this.#heap) sleeper.until = Math.max(0, sleeper.until - ms);
    this.#setFor -= ms;
  }

  /** Ends the timer. */
  close(): void {
    this.#timing.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #set(until: number): void {
    if (until >= this.#setFor) return;
    if (this.#timer !== undefined) this.#timing.clearTimeout(this.#timer);
    const wait = Math.max(1, Math.ceil(until - this.#timing.now()));
    this.#setFor = until;
    this.#timer = this.#timing.setTimeout(this.#ring, Math.min(wait, LONGEST));
  }

  readonly #ring = (): void => {
    this.#timer = undefined;
    this.#setFor = Infinity;
    this.#due = this.#takeDue();
    for (const sleeper of this.#due) {
      if (sleeper.place < 0) sleeper.wake();
    }
    this.#due = [];
    const first = this.#heap[0];
    if (first !== undefined) this.#set(first.until);
  };

  #takeDue(): Sleeper[] {
    const now = this.#timing.now();
    const due: Sleeper[] = [];
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.until > now) return due;
      this.remove(first);
      due.push(first);
    }
  }

  #hold(on: boolean): void {
    const timer = this.#timer as { ref?(): void; unref?(): void } | undefined;
    if (on) timer?.ref?.();
    else timer?.unref?.();
  }

  #rise(sleeper: Sleeper, place: number): void {
    const heap = this.#heap;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (heap[above]!.until <= sleeper.until) break;
      this.#put(heap[above]!, place);
      place = above;
    }
    this.#put(sleeper, place);
  }

  #sink(sleeper: Sleeper, place: number): void {
    const heap = this.#heap;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.until < heap[below]!.until) below++;
      if (heap[below]!.until >= sleeper.until) break;
      this.#put(heap[below]!, place);
      place = below;
    }
    this.#put(sleeper, place);
  }

  #put(sleeper: Sleeper, place: number): void {
    this.#heap[place] = sleeper;
    sleeper.place = place;
  }
}
