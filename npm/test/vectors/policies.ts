// Policies of vectors, whose numbers JSON cannot always write.
import type { Policy } from "../../src/index.ts";

export function policyOf(document: unknown): Policy {
  return JSON.parse(JSON.stringify(document ?? {}), (_, value: unknown) => {
    const odd = (value as { $number?: string } | null)?.$number;
    return odd === undefined ? value : Number(odd);
  }) as Policy;
}

export const SEED = 0;
