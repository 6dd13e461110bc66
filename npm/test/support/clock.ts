// Virtual time, where exactness is needed.
import type { HostOptions } from "../../src/index.ts";

interface Timer {
  readonly due: number;
  readonly ms: number;
  readonly run: () => void;
}

export class VirtualClock {
  time = 1000;
  readonly timers: Set<Timer> = new Set();
  /** Every wait that was asked for. */
  readonly waits: number[] = [];

  get host(): HostOptions {
    return {
      now: () => this.time,
      setTimeout: (run, ms) => {
        this.waits.push(ms);
        const timer = { due: this.time + ms, ms, run };
        this.timers.add(timer);
        return timer;
      },
      clearTimeout: (timer) => void this.timers.delete(timer as Timer),
      seed: 7,
    };
  }

  /** Lets `ms` pass, timer by timer, and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await settled();
    for (;;) {
      const next = [...this.timers].sort((a, b) => a.due - b.due)[0];
      if (next === undefined || next.due > end) break;
      this.timers.delete(next);
      this.time = next.due;
      next.run();
      await settled();
    }
    this.time = end;
  }
}

/** Everything that was ready to run has run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
