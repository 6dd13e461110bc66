import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Alarm, type Sleeper } from "../src/alarm.ts";
import { HttpError, ResilientClient } from "../src/index.ts";
import { VirtualClock, settled } from "./support/clock.ts";

test("a wait longer than a timer can hold is split (A24, RA-13)", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    {
      breaker: false,
      budget: false,
      overallTimeoutMs: null,
      attemptTimeoutMs: null,
      retryAfter: { maxMs: 10_000_000_000, combine: "max" },
    },
    clock.host,
  );
  const started: number[] = [];
  const call = client.call(({ attempt }) => {
    started.push(clock.time);
    if (attempt === 1) throw new HttpError(503, 2_592_000_000);
    return "ok";
  });
  await clock.advance(2_592_000_000);
  assert.equal(await call, "ok");
  assert.deepEqual(started, [1_000, 2_592_001_000]);
  assert.ok(clock.waits.every((ms) => ms >= 1 && ms < 2 ** 31));
});

test("a timer that fires early is set again", async () => {
  const clock = new VirtualClock();
  const { setTimeout } = clock.host;
  const early = { ...clock.host, setTimeout: (run: () => void, ms: number) => setTimeout!(run, Math.max(1, ms - 3)) };
  const client = new ResilientClient({ retry: { jitter: "none", baseMs: 50 } }, early);
  const started: number[] = [];
  const call = client.call(({ attempt }) => {
    started.push(clock.time);
    if (attempt === 1) throw new HttpError(503);
    return "ok";
  });
  await clock.advance(100);
  assert.equal(await call, "ok");
  assert.deepEqual(started, [1_000, 1_050]);
});

test("one timer for all calls, and fractions are rounded up", async () => {
  const clock = new VirtualClock();
  clock.time = 1_000.4;
  const client = new ResilientClient(
    { retry: false, breaker: false, attemptTimeoutMs: 50 },
    clock.host,
  );
  const calls = Array.from({ length: 100 }, () => client.tryCall(() => new Promise(() => {})));
  await settled();
  assert.equal(clock.timers.size, 1);
  await clock.advance(51);
  for (const { decision } of await Promise.all(calls)) assert.equal(decision.lastKind, "timeout");
  const quick = clock.waits.length;
  for (let i = 0; i < 1_000; i++) await client.call(() => 1);
  assert.ok(clock.waits.length <= quick + 1);
});

test("a suspended laptop: the deadline wins (E5)", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    { retry: { baseMs: 1 }, attemptTimeoutMs: 100, overallTimeoutMs: 1_000 },
    clock.host,
  );
  const call = client.tryCall(() => new Promise(() => {}));
  const [timer] = clock.timers;
  clock.time += 3_600_000;
  timer!.run();
  assert.equal((await call).decision.reason, "deadline_exceeded");
});

test("sleepers come and go in any order", () => {
  let now = 0;
  let ring = (): void => {};
  const alarm = new Alarm({
    now: () => now,
    setTimeout: (run) => (ring = run),
    clearTimeout: () => {},
  });
  const woken: number[] = [];
  const sleepers = Array.from({ length: 500 }, (_, i): Sleeper => {
    const until = (i * 7919) % 1_009;
    return { until, place: -1, wake: () => woken.push(until) };
  });
  for (const sleeper of sleepers) alarm.add(sleeper);
  for (const sleeper of sleepers.filter((_, i) => i % 3 === 0)) alarm.remove(sleeper);
  for (const sleeper of sleepers.filter((_, i) => i % 3 === 0)) alarm.remove(sleeper);
  const expected = sleepers.filter((_, i) => i % 3 !== 0).map(({ until }) => until);
  while (alarm.sleepers.length > 0) {
    now++;
    ring();
  }
  assert.deepEqual(woken, expected.sort((a, b) => a - b));
});

const index = new URL("../src/index.ts", import.meta.url);

function runs(program: string): { ms: number; stdout: string } {
  const start = performance.now();
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", `import { ResilientClient } from "${index}"; ${program}`],
    { cwd: fileURLToPath(new URL("..", import.meta.url)), timeout: 20_000, encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  return { ms: performance.now() - start, stdout };
}

test("an idle client lets the process end", () => {
  const { ms } = runs(`
    const client = new ResilientClient({ attemptTimeoutMs: 15_000 });
    await client.call(async () => 1);
  `);
  assert.ok(ms < 10_000, `${ms}`);
});

test("a call that waits keeps the process alive", () => {
  const { stdout } = runs(`
    const client = new ResilientClient({ retry: { jitter: "none", baseMs: 300 } });
    await client.call(async () => 1);
    client.call(async ({ attempt }) => {
      if (attempt === 1) throw Object.assign(new Error(), { code: "ECONNRESET" });
      console.log("went on");
    });
  `);
  assert.equal(stdout, "went on\n");
});

test("a poll that comes late forgets no waiter (E2)", async () => {
  const clock = new VirtualClock();
  const client = new ResilientClient(
    {
      retry: false,
      breaker: { failureThreshold: 1, openDurationMs: 10, openJitter: false },
      bulkhead: { maxConcurrent: 1, maxQueue: 1, abandonedLeaseMs: 1_000 },
      attemptTimeoutMs: 1,
      overallTimeoutMs: null,
    },
    clock.host,
  );
  // Slow enough for the circuit to let somebody go again, when the permit is still out.
  client.on("circuitChanged", ({ to }) => {
    if (to === "open") clock.time += 11;
  });
  const first = client.tryCall(() => new Promise<never>(() => {}));
  const second = client.tryCall(() => "ok");
  await clock.advance(2_000);
  assert.equal((await first).ok, false);
  assert.equal((await second).ok, true);
  client.close();
});
