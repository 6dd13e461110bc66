// What a successful call costs, beside the operation itself. Run after `cargo xtask build npm`:
//
//   node --expose-gc bench/call.mjs
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { ResilientClient } from "../dist/index.js";

const ROUNDS = 15;
const CALLS = 100_000;

const client = new ResilientClient({
  name: "bench",
  breaker: { failureThreshold: 5 },
  budget: { capacity: 100 },
  bulkhead: { maxConcurrent: 10 },
  attemptTimeoutMs: 5_000,
  overallTimeoutMs: 15_000,
});
const operation = async () => 1;
const call = () => client.call(operation);

async function nanoseconds(work) {
  const start = performance.now();
  for (let i = 0; i < CALLS; i++) await work();
  return ((performance.now() - start) * 1e6) / CALLS;
}

let [bare, called] = [Infinity, Infinity];
for (let round = 0; round < ROUNDS; round++) {
  bare = Math.min(bare, await nanoseconds(operation));
  called = Math.min(called, await nanoseconds(call));
}
const times = (ns) => `${(ns / bare).toFixed(1)}×`;
console.log(`await operation()     ${bare.toFixed(0)} ns`);
console.log(`added by call         ${(called - bare).toFixed(0)} ns, ${times(called - bare)} (bar: 6×)`);

if (globalThis.gc) {
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 2_000; i++) await call();
  const bytes = (process.memoryUsage().heapUsed - before) / 2_000;
  console.log(`heap of a call        ${bytes.toFixed(0)} B, the operation's own included (bar: 1,536 B)`);
}

const { outputFiles } = await build({
  entryPoints: [new URL("../src/index.ts", import.meta.url).pathname],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  external: ["./wasm-bytes.ts"],
  write: false,
});
const gz = (bytes) => gzipSync(bytes, { level: 9 }).length;
const wasm = readFileSync(new URL("../dist/core.wasm", import.meta.url));
console.log(`JavaScript            ${outputFiles[0].contents.length} B min, ${gz(outputFiles[0].contents)} B min+gzip`);
console.log(`core.wasm             ${wasm.length} B, ${gz(wasm)} B gzip`);
client.close();
