// The entries of the package, whose one home is `exports` in package.json: "./dist/NAME.js" is built from "src/NAME.ts".
import { readFileSync } from "node:fs";

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));

export const entries = Object.values(exports).flatMap((entry) => {
  const name = /^\.\/dist\/(.+)\.js$/.exec(entry.import?.default)?.[1];
  return name === undefined ? [] : [name];
});
