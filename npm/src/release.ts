/** Giving up responses that nobody will read. @module */

/** Bodies up to this many bytes are read to their end, so that the connection can serve again. */
const DRAINED = 65_536;

/**
 * Lets go of the body of a response that will not be handed out: a short one is read to its end,
 * at most until what this answers is called; any other is cancelled.
 */
export function release(response: Response): (() => void) | undefined {
  try {
    const body = unread(response);
    if (body === undefined) return undefined;
    const length = Number(response.headers.get("content-length") ?? Infinity);
    if (length > DRAINED || typeof body.getReader !== "function") return cancel(body);
    const reader = body.getReader();
    // What becomes of it concerns nobody.
    drain(reader).catch(() => {});
    return () => void reader.cancel().catch(() => {});
  } catch {
    // The response of another library may be of any make: it is somebody else's to let go of.
    return undefined;
  }
}

/** Cancels the body of a response that comes too late for anybody to wait for its end. */
export function discard(response: Response): void {
  try {
    const body = unread(response);
    if (body !== undefined) cancel(body);
  } catch {
    // As above.
  }
}

/** A stream of the platform, or of Node: some libraries answer with those. */
type Stream = ReadableStream<Uint8Array> & { destroy?(): void };

function unread({ body, bodyUsed }: Response): Stream | undefined {
  return body && !bodyUsed && !body.locked ? body : undefined;
}

/** The length that was told is that of what was sent: unpacked, it may be of any length. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let left = DRAINED;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    left -= value.byteLength;
    if (!(left >= 0)) return reader.cancel();
  }
}

function cancel(body: Stream): undefined {
  if (typeof body.cancel === "function") body.cancel()?.then(undefined, () => {});
  else body.destroy?.();
}
