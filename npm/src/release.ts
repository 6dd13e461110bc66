/** Giving up responses that nobody will read. @module */

/** Bodies up to this many bytes are read to their end, so that the connection can serve again. */
const DRAINED = 65_536;

/** Lets go of the body of a response that will not be handed out. */
export function release(response: Response): void {
  const { body, bodyUsed, headers } = response;
  if (!body || bodyUsed || body.locked) return;
  const length = Number(headers.get("content-length") ?? Infinity);
  const end = length <= DRAINED ? response.arrayBuffer() : body.cancel();
  // What becomes of it concerns nobody.
  end.then(undefined, () => {});
}
