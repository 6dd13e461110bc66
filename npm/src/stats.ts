/** How a client stands. @module */

import { cells } from "./core.ts";
import { CIRCUITS, KINDS, type Circuit, type Kind } from "./names.ts";

/** How a client stands and what it has done since it was made. */
export interface Stats {
  /** The state of the circuit. */
  readonly circuit: Circuit;
  /** In how many milliseconds an open circuit may be asked again. */
  readonly openForMs: number | undefined;
  /** What the retry budget holds; `undefined` where it is off. */
  readonly tokens: number | undefined;
  /** What the retry budget can hold now. */
  readonly capacity: number | undefined;
  /** Permits that are out. */
  readonly running: number;
  /** Calls that wait for a permit. */
  readonly queued: number;
  /** Attempts that were left behind and may still run. */
  readonly abandoned: number;
  /** Calls started, cancelled ones included. */
  readonly calls: number;
  /** Attempts sent. */
  readonly attempts: number;
  /** Attempts sent that were not the first of their call. */
  readonly retries: number;
  /** Attempts that succeeded. */
  readonly successes: number;
  /** Waits that were as long as they were because of Retry-After. */
  readonly retryAfterAdopted: number;
  /** The sum of all planned waits, in milliseconds. */
  readonly totalWaitMs: number;
  /** Operations that ended after their call had moved on. */
  readonly lateResults: number;
  /** Attempts that failed, by kind. Kinds that never occurred are left out. */
  readonly failures: { readonly [K in Kind]?: number };
  /** Calls that were refused, by kind. Kinds that never occurred are left out. */
  readonly refusals: { readonly [K in Kind]?: number };
}

/** The snapshot that stands in the buffer, taken at `now`. */
export function takeStats(now: number): Stats {
  const buffer = cells();
  const at = (cell: number): number => buffer[cell]!;
  const maybe = (cell: number): number | undefined => (at(cell) < 0 ? undefined : at(cell));
  const openUntil = maybe(1);
  const tokens = maybe(2);
  const capacity = maybe(3);
  return {
    circuit: CIRCUITS[at(0)]!,
    openForMs: openUntil && Math.max(0, openUntil - now),
    tokens: tokens && tokens / 1000,
    capacity: capacity && capacity / 1000,
    running: at(4),
    queued: at(5),
    abandoned: at(6),
    calls: at(7),
    attempts: at(8),
    retries: at(9),
    successes: at(10),
    retryAfterAdopted: at(11),
    totalWaitMs: at(12),
    lateResults: at(13),
    failures: byKind(buffer, 14),
    refusals: byKind(buffer, 14 + KINDS.length),
  };
}

function byKind(buffer: Float64Array, start: number): { [K in Kind]?: number } {
  const counts: { [K in Kind]?: number } = {};
  KINDS.forEach((kind, i) => {
    const count = buffer[start + i]!;
    if (count > 0) counts[kind] = count;
  });
  return counts;
}
