// node chromium.mjs PROGRAM MODULE FOLDER: replays the trace in FOLDER through core.wasm in Chromium.
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { lines } from "../replay/replay.mjs";

const [program, module, folder] = process.argv.slice(2);
const files = {
  "/replay.mjs": ["text/javascript", join(import.meta.dirname, "../replay/replay.mjs")],
  "/core.wasm": ["application/wasm", module],
  "/inputs.bin": ["application/octet-stream", join(folder, "inputs.bin")],
  "/trace.json": ["application/json", join(folder, "trace.json")],
};
const server = createServer(({ url }, response) => {
  const [type, file] = files[url] ?? [];
  response.writeHead(file || url === "/" ? 200 : 404, { "content-type": type ?? "text/html" });
  if (file) createReadStream(file).pipe(response);
  else response.end("<!doctype html><title>trace</title>");
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

const browser = await puppeteer.launch({
  executablePath: program,
  args: [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const result = await page.evaluate(async () => {
    const { replay } = await import("/replay.mjs");
    const { instance } = await WebAssembly.instantiateStreaming(fetch("/core.wasm"));
    const records = await (await fetch("/inputs.bin")).arrayBuffer();
    const trace = await (await fetch("/trace.json")).json();
    return replay(instance.exports, records, trace);
  });
  for (const line of lines("wasm (Chromium)", result)) console.log(line);
} finally {
  await browser.close();
  server.close();
}
