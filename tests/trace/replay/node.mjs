// node node.mjs TARGET MODULE FOLDER: replays the trace in FOLDER through core.wasm, or through what
// wasm2js made of it.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { lines, replay } from "./replay.mjs";

const [target, module, folder] = process.argv.slice(2);
const core = module.endsWith(".wasm")
  ? (await WebAssembly.instantiate(await readFile(module))).instance.exports
  : await import(pathToFileURL(resolve(module)).href);
const { buffer, byteOffset, byteLength } = await readFile(join(folder, "inputs.bin"));
const trace = JSON.parse(await readFile(join(folder, "trace.json"), "utf8"));
const result = await replay(core, buffer.slice(byteOffset, byteOffset + byteLength), trace);
for (const line of lines(target, result)) console.log(line);
