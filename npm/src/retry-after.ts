/** The wait that a response asks for. @module */

import { core, putLatin1 } from "./core.ts";

/** Longer values are no Retry-After. */
const LONGEST = 256;

const NAMES = ["retry-after-ms", "x-ms-retry-after-ms", "retry-after", "date"] as const;

/** The wait in milliseconds that these headers ask for; nothing where they ask for none. */
export function retryAfterOf(
  response: { readonly headers: { get(name: string): string | null } },
  wallClock: () => number = Date.now,
): number | undefined {
  const values = NAMES.map((name) => response.headers.get(name));
  if (values[0] === null && values[1] === null && values[2] === null) return undefined;
  const wall = wallClock();
  const [ms, xMs, plain, date] = hand(values) as [number, number, number, number];
  const delay = core().retry_after(ms, xMs, plain, date, wall);
  return delay < 0 ? undefined : delay;
}

/**
 * The wait in milliseconds that a `Retry-After` value asks for: seconds, or a date, which is
 * compared with the response's `date` or with the wall clock. Nothing where it is neither.
 */
export function parseRetryAfter(
  value: string | null | undefined,
  options?: {
    /** The response's `Date` header. */
    readonly date?: string | null;
    /** Milliseconds since 1970. Default: now. */
    readonly now?: number;
  },
): number | undefined {
  const fields: Record<string, string | null | undefined> = {
    "retry-after": value,
    date: options?.date,
  };
  return retryAfterOf(
    { headers: { get: (name) => fields[name] ?? null } },
    () => options?.now ?? Date.now(),
  );
}

function hand(values: (string | null)[]): number[] {
  let end = 0;
  return values.map((value) => {
    if (value === null || value.length > LONGEST) return -1;
    const length = putLatin1(value, end);
    end += length;
    return length;
  });
}
