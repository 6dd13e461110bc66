// The shared vectors; tests/vectors/README.md describes them. STORMPROOF_VECTORS names another folder.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runSteps } from "./vectors/run.ts";
import { checkSingle } from "./vectors/single.ts";
import { Trail } from "./vectors/trail.ts";

const folder =
  process.env["STORMPROOF_VECTORS"] ??
  fileURLToPath(new URL("../../tests/vectors", import.meta.url));

test("vectors", () => {
  const trail = new Trail();
  const ids = new Set<string>();
  const failed: string[] = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
    const { vectors } = JSON.parse(readFileSync(`${folder}/${file}`, "utf8"));
    for (const vector of vectors) {
      const faults = faultsOf(vector, trail);
      if (ids.has(vector.id)) faults.push("the id is used twice");
      ids.add(vector.id);
      if (faults.length > 0) failed.push(`${file} ${vector.id}:\n  ${faults.join("\n  ")}`);
    }
  }
  const passed = ids.size - failed.length;
  console.log(`vectors node: ${passed} passed, ${failed.length} failed, steps ${trail.hash}`);
  assert.equal(failed.length, 0, `\n${failed.join("\n")}\n`);
  assert.notEqual(passed, 0, "there are no vectors");
});

function faultsOf(vector: Record<string, unknown>, trail: Trail): string[] {
  try {
    return Array.isArray(vector["steps"]) ? runSteps(vector, trail) : checkSingle(vector);
  } catch (error) {
    return [String(error)];
  }
}
