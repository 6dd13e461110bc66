// One dependency, called with stormproof. Everything else in this program is load and paper.

import { readFileSync } from "node:fs";

// In a project of your own: from "stormproof".
import { ResilientClient, decisionOf } from "../../../npm/dist/index.js";

/** What calls `url` by the policy document in the file `policy`. */
export function makeDependency(url, policy, headers) {
  const client = ResilientClient.fromJson(readFileSync(policy, "utf8"));
  let waits = [];
  client.on("retryScheduled", ({ waitMs }) => waits.push(waitMs));

  return {
    /** One call. Answers why it failed; nothing for a value. */
    async call() {
      try {
        await client.call(({ signal }) => fetch(url, { signal, headers }), {
          // The body belongs to the attempt: an answer that breaks off is none.
          parse: (response) => response.text(),
        });
        return undefined;
      } catch (error) {
        return decisionOf(error)?.reason ?? "unknown";
      }
    },

    standing() {
      const stats = client.stats();
      return {
        attempts: stats.attempts,
        retries: stats.retries,
        refused: Object.values(stats.refusals).reduce((sum, count) => sum + count, 0),
        circuit: stats.circuit,
        tokens: stats.tokens,
        running: stats.running,
        queued: stats.queued,
      };
    },

    takeWaits() {
      const taken = waits;
      waits = [];
      return taken;
    },
  };
}
