// node host.mjs --url URL --policy FILE [--host-name NAME] [--rate N] [--seconds S] [--naive | --trace SEED]
//
// Calls one dependency N times a second, whatever becomes of the calls, and prints a line of JSON
// four times a second. `dependency.mjs` is the part to learn from.

import { parseArgs } from "node:util";

import { makeDependency } from "./dependency.mjs";
import { runLoad } from "./load.mjs";
import { makeNaive } from "./naive.mjs";
import { waitForLine } from "./stdin.mjs";
import { runTrace } from "./trace.mjs";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    policy: { type: "string" },
    "host-name": { type: "string", default: "node" },
    rate: { type: "string", default: "25" },
    seconds: { type: "string", default: "10" },
    naive: { type: "boolean", default: false },
    trace: { type: "string" },
    "start-with-stdin": { type: "boolean", default: false },
  },
});
if (!values.url || !values.policy) throw new Error("--url and --policy are needed");

const headers = { "x-host": values["host-name"] };

if (values.trace) {
  await runTrace(values.url, values.policy, headers, values.trace);
} else {
  const caller = values.naive
    ? makeNaive(values.url, headers)
    : makeDependency(values.url, values.policy, headers);
  if (values["start-with-stdin"]) await waitForLine();
  const lost = await runLoad(caller, Number(values.rate), Number(values.seconds));
  process.exit(lost > 0 ? 1 : 0);
}
