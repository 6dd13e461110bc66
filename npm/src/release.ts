/** Giving up responses that nobody will read. @module */

/** Bodies up to this many bytes are read to their end, so that the connection can serve again. */
const DRAINED = 65_536;

/** Lets go of the body of a response that will not be handed out. */
export function release(response: Response): void {
  // What becomes of it concerns nobody, and the response of another library may be of any make.
  try {
    const { body, bodyUsed, headers } = response;
    if (!body || bodyUsed || body.locked) return;
    const length = Number(headers.get("content-length") ?? Infinity);
    const end = length <= DRAINED ? response.arrayBuffer() : cancel(body);
    end?.then(undefined, () => {});
  } catch {
    // It is somebody else's to let go of.
  }
}

/** Some libraries answer with a stream of Node. */
function cancel(body: ReadableStream & { destroy?(): void }): Promise<void> | undefined {
  if (typeof body.cancel === "function") return body.cancel();
  body.destroy?.();
  return undefined;
}
