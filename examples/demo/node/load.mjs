// Calls at a steady rate, started whether or not the earlier ones have ended, as users do.

import { setTimeout as sleep } from "node:timers/promises";

/** Between two lines of the report. */
const PERIOD_MS = 250;

/** Starts `rate` calls a second for `seconds`, waits for the last, answers how many were lost. */
export async function runLoad(caller, rate, seconds) {
  const start = performance.now();
  const counts = { calls: 0, ok: 0, failed: {}, latencies: [] };
  const print = (more = {}) => {
    const line = { ...lineOf(counts, caller, performance.now() - start), ...more };
    counts.latencies = [];
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return line;
  };
  const printer = setInterval(print, PERIOD_MS);
  const calls = [];
  for (let number = 0; number < Math.floor(rate * seconds); number++) {
    const due = start + (number * 1_000) / rate;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    calls.push(countCall(caller, counts));
  }
  await Promise.allSettled(calls);
  clearInterval(printer);
  const { calls: started, done } = lineOf(counts, caller, 0, []);
  const lost = started - done;
  print({ summary: true, lost });
  return lost;
}

async function countCall(caller, counts) {
  counts.calls++;
  const begin = performance.now();
  const reason = await caller.call();
  counts.latencies.push(performance.now() - begin);
  if (reason === undefined) counts.ok++;
  else counts.failed[reason] = (counts.failed[reason] ?? 0) + 1;
}

function lineOf(counts, caller, elapsedMs, waits = caller.takeWaits()) {
  const { calls, ok, failed, latencies } = counts;
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0);
  return {
    t_ms: Math.floor(elapsedMs),
    calls,
    done: ok + failures,
    ok,
    failed,
    ...caller.standing(),
    waits_ms: waits.map(tenths),
    latencies_ms: latencies.map(tenths),
  };
}

function tenths(millis) {
  return Math.round(millis * 10) / 10;
}
