// A hash over every step that an engine took: FNV-1a, 64 bits.
import { cells } from "../../src/core.ts";
import { CAUSES, CIRCUITS, KINDS, REASONS, WHYS } from "../../src/names.ts";

export const ACTIONS = ["attempt", "wait", "queue", "finish", "stale", "none"] as const;

/** A step as the runners of all hosts spell it. */
export interface Step {
  readonly action: (typeof ACTIONS)[number];
  readonly call: number;
  readonly previous: number;
  readonly pollAt: bigint | null;
  readonly until: bigint | null;
  readonly number: number;
  readonly why: string | undefined;
  readonly change: readonly [string, string, string] | null;
  readonly decision: StepDecision | undefined;
}

export interface StepDecision {
  readonly reason: string;
  readonly attempts: number;
  readonly lastKind: string | null;
  readonly lastStatus: number;
  readonly retryAt: bigint | null;
  readonly forced: boolean;
  readonly totalWait: bigint;
  readonly tokens: number | null;
}

const NANOS = 1_000_000n;
const NEVER = 2 ** 64 / 1e6;

/** Milliseconds to whole nanoseconds. The last instant there is does not fit a double. */
export function nanos(millis: number): bigint {
  if (millis >= NEVER) return 2n ** 64n - 1n;
  const whole = Math.trunc(millis);
  return BigInt(whole) * NANOS + BigInt(Math.round((millis - whole) * 1e6));
}

export function instant(millis: number): bigint | null {
  return millis < 0 ? null : nanos(millis);
}

/** Reads the step that stands in the buffer. */
export function takeStep(code: number): Step {
  const action = ACTIONS[code];
  if (action === undefined) throw new Error(`the core answered ${code}`);
  const at = (cell: number): number => cells()[cell]!;
  const named = (names: readonly string[], cell: number): string => names[at(cell)]!;
  return {
    action,
    call: at(0),
    previous: at(1),
    pollAt: instant(at(2)),
    until: instant(at(3)),
    number: at(4),
    why: action === "wait" ? named(WHYS, 4) : undefined,
    change: at(5) < 0 ? null : [named(CIRCUITS, 5), named(CIRCUITS, 6), named(CAUSES, 7)],
    decision: action !== "finish" ? undefined : {
      reason: named(REASONS, 8),
      attempts: at(9),
      lastKind: at(10) < 0 ? null : named(KINDS, 10),
      lastStatus: at(11),
      retryAt: instant(at(13)),
      forced: at(14) === 1,
      totalWait: nanos(at(15)),
      tokens: at(16) < 0 ? null : at(16),
    },
  };
}

export class Trail {
  #hash = 0xcbf29ce484222325n;

  get hash(): string {
    return this.#hash.toString(16).padStart(16, "0");
  }

  add(step: Step): void {
    for (const byte of new TextEncoder().encode(`${line(step)}\n`)) {
      this.#hash = BigInt.asUintN(64, (this.#hash ^ BigInt(byte)) * 0x100000001b3n);
    }
  }
}

function line(step: Step): string {
  if (step.action === "none") return "none";
  const { action, call, previous, pollAt, until, number, why, change, decision } = step;
  const details = { attempt: number, wait: why, queue: "-", finish: "-", stale: number };
  const changed = change === null ? "-" : `${change[0]}>${change[1]}:${change[2]}`;
  const parts = [action, call, previous, pollAt ?? "-", until ?? "-", details[action], changed];
  return [...parts, decision ? decided(decision) : "-"].join(" ");
}

function decided(decision: StepDecision): string {
  const { reason, attempts, lastKind, lastStatus, retryAt, forced, totalWait, tokens } = decision;
  const head = [reason, attempts, lastKind ?? "-", lastStatus, retryAt ?? "-", Number(forced)];
  return [...head, totalWait, tokens ?? "-"].join(",");
}
