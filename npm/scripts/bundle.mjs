// Bundles each entry for `import` and for `require`.
import { rmSync, readdirSync } from "node:fs";
import { build } from "esbuild";
import { entries } from "./entries.mjs";

for (const file of readdirSync("dist")) {
  if (file !== "core.wasm") rmSync(`dist/${file}`, { recursive: true });
}

const shared = {
  entryPoints: entries.map((name) => `src/${name}.ts`),
  outdir: "dist",
  bundle: true,
  platform: "neutral",
  target: "es2022",
  external: ["node:*"],
  sourcemap: true,
  logLevel: "warning",
};

// Entries that are imported together share one core; `require` has no such split in esbuild.
await build({ ...shared, format: "esm", splitting: entries.length > 1 });
await build({ ...shared, format: "cjs", outExtension: { ".js": ".cjs" } });
