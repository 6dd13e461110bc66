// node --expose-gc host.mjs --url URL --policy FILE --log FILE --seed N --calls N --seconds S
//
// Makes calls by the policy and writes down what happens. Each step is answered on stdout and waits
// for a line on stdin: warm, rest, rested, load, drained, rest, rested.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

// In a project of your own: from "stormproof".
import { ResilientClient } from "../../../npm/dist/index.js";
import { Dice } from "./dice.mjs";
import { listen } from "./events.mjs";
import { Log, now } from "./log.mjs";
import { Operations } from "./operations.mjs";
import { measure } from "./rest.mjs";
import { endOfStdin, nextLine, say } from "./stdin.mjs";
import { Users } from "./users.mjs";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    policy: { type: "string" },
    log: { type: "string" },
    seed: { type: "string" },
    calls: { type: "string" },
    seconds: { type: "string" },
  },
});

const log = new Log(values.log);
log.write({ e: "start", t: now(), wall: Date.now(), host: "node" });
const operations = new Operations(values.url, log);
const client = ResilientClient.fromJson(readFileSync(values.policy, "utf8"), {
  fetch: operations.fetch,
});
operations.client = client;
listen(client, operations, log);
const users = new Users(client, operations, log, new Dice(Number(values.seed)));

await users.burst(Number(values.calls));
await rest("before", "warm");
await nextLine();
await users.load(Number(values.calls), Number(values.seconds) * 1_000);
await rest("after", "drained");
client.close();
log.close();
endOfStdin();

async function rest(stage, done) {
  log.flush();
  say(done);
  await nextLine();
  log.write({ e: "rest", stage, ...(await measure(client, users.forever)) });
  log.flush();
  say("rested");
}
