// Gives each file of types a twin for `require`: the same text with imports of the twins.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const relative = /((?:from|import)\s*\(?\s*["'])(\.{1,2}\/[^"']+?)\.(?:d\.ts|ts|js)(["'])/g;

for (const file of readdirSync("dist", { recursive: true })) {
  if (!file.endsWith(".d.ts")) continue;
  const types = readFileSync(`dist/${file}`, "utf8");
  writeFileSync(`dist/${file}`, types.replace(relative, "$1$2.js$3"));
  writeFileSync(`dist/${file.replace(/\.ts$/, ".cts")}`, types.replace(relative, "$1$2.cjs$3"));
}
