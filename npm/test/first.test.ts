import assert from "node:assert/strict";
import { test } from "node:test";
import { ResilientClient } from "../src/index.ts";

test("a 503, a retry, a success", async () => {
  const client = new ResilientClient({ name: "payments", retry: { baseMs: 5 } });
  const seen: string[] = [];
  client.on("retryScheduled", (event) => seen.push(`${event.attempt} ${event.why} ${event.kind}`));
  const value = await client.call(async ({ attempt }) =>
    attempt === 1 ? new Response("", { status: 503 }) : `attempt ${attempt}`,
  );
  assert.equal(value, "attempt 2");
  assert.deepEqual(seen, ["2 backoff server"]);
  assert.equal(client.stats().retries, 1);
});
