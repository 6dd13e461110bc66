import { getEventListeners } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { now } from "./log.mjs";

/** The server is dead: its sockets close as soon as the loop hears of it. */
const PATIENCE_MS = 5_000;

/** How much more the heap may hold, in bytes: less than 100 for each call of a run in CI. */
const SLACK = 4_000_000;

/** What the process holds while nothing happens, and what the client has counted. */
export async function measure(client, forever) {
  const end = now() + PATIENCE_MS;
  do {
    await sleep(50);
    global.gc();
  } while (openFiles().sockets > 0 && now() < end);
  // What finalizers let go of is free after the next round.
  for (let round = 0; round < 3; round++) {
    await sleep(20);
    global.gc();
  }
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const tasks = getEventListeners(forever, "abort").length;
  const memory = process.memoryUsage().heapUsed;
  return { t: now(), ...counted(client), ...openFiles(), timers, tasks, memory, memory_slack: SLACK };
}

function counted(client) {
  const { running, queued, abandoned, calls, attempts, retries, successes, failures, refusals } =
    client.stats();
  return { running, queued, abandoned, calls, attempts, retries, successes, failures, refusals };
}

function openFiles() {
  let names;
  try {
    names = readdirSync("/proc/self/fd");
  } catch {
    return { files: null, sockets: null };
  }
  let [files, sockets] = [0, 0];
  for (const name of names) {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      files++;
      if (target.startsWith("socket:")) sockets++;
    } catch {
      // The one that lists the others is closed by now.
    }
  }
  return { files, sockets };
}
