// The same scripted calls in every host: with the same seed each must decide the same.

import { readFileSync } from "node:fs";

import { ResilientClient, decisionOf } from "../../../npm/dist/index.js";

/** The script of the demo is over after these. */
const CALLS = 8;

export async function runTrace(url, policy, headers, seed) {
  const client = ResilientClient.fromJson(readFileSync(policy, "utf8"), { seed: expand(seed) });
  let attempts = [];
  let waits = [];
  let sum = 0;
  client.on("attemptFailed", ({ kind }) => attempts.push(kind));
  client.on("callSucceeded", () => attempts.push("success"));
  client.on("retryScheduled", () => {
    // The engine's own sum: exact, where `waitMs` is shortened by what was lost on the way.
    const total = client.stats().totalWaitMs;
    waits.push(Math.round((total - sum) * 1e6));
    sum = total;
  });
  for (let call = 1; call <= CALLS; call++) {
    attempts = [];
    waits = [];
    const reason = await client
      .call(({ signal }) => fetch(url, { signal, headers }), { parse: (response) => response.text() })
      .then(
        () => "success",
        (error) => decisionOf(error)?.reason ?? String(error),
      );
    process.stdout.write(`${JSON.stringify({ call, attempts, waits_ns: waits, reason })}\n`);
  }
}

/** SplitMix64: how the other hosts make 256 bits of the 64 that they take as a seed. */
function expand(seed) {
  let state = BigInt(seed);
  const words = new BigUint64Array(4).map(() => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let word = state;
    word = BigInt.asUintN(64, (word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
    word = BigInt.asUintN(64, (word ^ (word >> 27n)) * 0x94d049bb133111ebn);
    return word ^ (word >> 31n);
  });
  return new Uint32Array(words.buffer);
}
