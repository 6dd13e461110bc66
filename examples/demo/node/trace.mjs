// The same scripted calls in every host: with the same seed each must decide the same.

import { readFileSync } from "node:fs";

import { ResilientClient, decisionOf } from "../../../npm/dist/index.js";

/** The script of the demo is over after these. */
const CALLS = 8;

export async function runTrace(url, policy, headers, seed) {
  const client = ResilientClient.fromJson(readFileSync(policy, "utf8"), { seed: BigInt(seed) });
  let attempts = [];
  let waits = [];
  client.on("attemptFailed", ({ kind }) => attempts.push(kind));
  client.on("callSucceeded", () => attempts.push("success"));
  client.on("retryScheduled", ({ waitMs }) => waits.push(Math.round(waitMs * 1e6)));
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
