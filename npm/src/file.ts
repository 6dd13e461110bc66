/** Reading a policy document, where the runtime has files. @module */

import { PolicyError } from "./errors.ts";

interface Files {
  readFileSync(path: string | URL): Uint8Array;
}

/** The text of a file. */
export function readDocument(path: string | URL): string {
  try {
    // A number would be an open file, perhaps one that never ends.
    if (typeof path === "number") throw new TypeError("a path is a text or a URL");
    const bytes = files().readFileSync(path);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const reason = (error as Error).message;
    throw new PolicyError("unreadable_file", "", path, reason, `${String(path)}: ${reason}`);
  }
}

// Not an import: bundlers would look for it, and browsers have none.
function files(): Files {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): unknown };
  };
  const found = process?.getBuiltinModule?.("node:fs") as Files | undefined;
  if (found === undefined) throw new Error("this runtime opens no files; use fromJson");
  return found;
}
