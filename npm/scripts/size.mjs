// Prints what each entry adds to a web page: bundled and minified with its wasm, and the same after gzip -9.
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { entries } from "./entries.mjs";

for (const name of entries) {
  const { outputFiles } = await build({
    entryPoints: [`dist/${name}.js`],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
  });
  const [{ contents }] = outputFiles;
  const gzip = gzipSync(contents, { level: 9 }).length;
  console.log(`size npm ${name}: min ${contents.length} B, min+gzip ${gzip} B`);
}
