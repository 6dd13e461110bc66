// A server that is down for a while, and fifty callers that share one client.
//
//   cargo xtask build npm && node examples/node/storm.mjs
import { createServer } from "node:http";
import { ResilientClient, decisionOf } from "../../npm/dist/index.js";

let requests = 0;
const start = performance.now();
const server = createServer((_, response) => {
  requests++;
  const isDown = performance.now() - start < 1_000;
  response.writeHead(isDown ? 503 : 200).end();
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address();

const client = new ResilientClient({
  name: "shop",
  breaker: { openDurationMs: 300 },
  bulkhead: { maxConcurrent: 10 },
  attemptTimeoutMs: 500,
});
client.on("circuitChanged", ({ from, to, cause }) => {
  console.log(`${(performance.now() - start).toFixed(0)} ms: ${from} > ${to} (${cause})`);
});

const ends = new Map();
for (let round = 0; round < 40; round++) {
  const calls = Array.from({ length: 50 }, async () => {
    const answer = await client.fetch(`http://127.0.0.1:${port}/`).catch((error) => error);
    const reason = decisionOf(answer)?.reason ?? "unknown";
    ends.set(reason, (ends.get(reason) ?? 0) + 1);
  });
  await Promise.all(calls);
  await new Promise((resolve) => setTimeout(resolve, 50));
}
console.log("2,000 calls ended in", Object.fromEntries(ends));
console.log(`the server saw ${requests} requests; one call each would be 2,000, four tries 8,000`);
client.close();
server.close();
server.closeAllConnections();
