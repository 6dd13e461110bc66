// What people write without a library: four tries, 100 ms apart.

import { setTimeout as sleep } from "node:timers/promises";

const TRIES = 4;
const WAIT_MS = 100;
const TIMEOUT_MS = 1_000;

export function makeNaive(url, headers) {
  let attempts = 0;
  let retries = 0;
  let waits = [];

  async function tryOnce() {
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
      await response.text();
      return response.ok ? undefined : "status";
    } catch (error) {
      return error?.name === "TimeoutError" ? "timeout" : "network";
    }
  }

  return {
    async call() {
      for (let number = 1; ; number++) {
        attempts++;
        const failure = await tryOnce();
        if (failure === undefined || number === TRIES) return failure;
        retries++;
        waits.push(WAIT_MS);
        await sleep(WAIT_MS);
      }
    },

    standing() {
      return { attempts, retries, refused: 0, running: 0, queued: 0 };
    },

    takeWaits() {
      const taken = waits;
      waits = [];
      return taken;
    },
  };
}
