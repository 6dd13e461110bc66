/** Bodies that are sent more than once, byte for byte. @module */

/** What `fetch` takes as a body, or a function that makes it. */
export type Body = RequestInit["body"] | (() => RequestInit["body"]);

/** A body as it is sent at each attempt. */
export interface Payload {
  readonly body: RequestInit["body"];
  /** The media type that belongs to the bytes, where nobody else would name it. */
  readonly type?: string | undefined;
}

/** Answers with the payload of an attempt. */
export type PayloadSource = () => Payload | Promise<Payload>;

/** Can it be sent only once? */
export function isOneShot(body: unknown): boolean {
  if (typeof body !== "object" || body === null || isBytes(body) || isValue(body)) return false;
  return "getReader" in body || Symbol.asyncIterator in body || Symbol.iterator in body;
}

/** Keeps a body as it is now: what the caller does to it later changes no attempt. */
export function freeze(body: Body): PayloadSource {
  if (typeof body === "function") return freezeMade(body);
  if (body instanceof FormData) return once(() => serialise(new Response(copyForm(body))));
  const frozen = copy(body);
  return () => ({ body: frozen });
}

/** The body of a request, read when it is first needed. */
export function freezeRequest(request: Request): PayloadSource {
  const { body, method } = request;
  // A browser that cannot stream requests does not show their bodies.
  const isEmpty = body === undefined ? /^(GET|HEAD)$/.test(method) : body === null;
  if (isEmpty) return () => ({ body: undefined });
  return once(async () => ({ body: await request.arrayBuffer() }));
}

/** What a function makes is made once, unless it can be sent only once. */
function freezeMade(make: () => RequestInit["body"]): PayloadSource {
  let source: PayloadSource | undefined;
  return () => {
    if (source !== undefined) return source();
    const made = make();
    if (isOneShot(made)) return { body: made };
    source = freeze(made);
    return source();
  };
}

function once(work: () => Promise<Payload>): PayloadSource {
  let payload: Promise<Payload> | undefined;
  return () => (payload ??= work());
}

// Each serialisation of a form draws a new boundary.
async function serialise(form: Response): Promise<Payload> {
  return { type: form.headers.get("content-type") ?? undefined, body: await form.arrayBuffer() };
}

function copyForm(form: FormData): FormData {
  const copied = new FormData();
  for (const [name, value] of form) copied.append(name, value as string);
  return copied;
}

function copy(body: RequestInit["body"]): RequestInit["body"] {
  if (typeof body !== "object" || body === null) return body;
  if (body instanceof URLSearchParams) return new URLSearchParams(body);
  if (!isBytes(body)) return body;
  return ArrayBuffer.isView(body)
    ? new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength).slice()
    : body.slice(0);
}

function isBytes(body: object): body is ArrayBuffer | ArrayBufferView<ArrayBuffer> {
  return ArrayBuffer.isView(body) || body instanceof ArrayBuffer;
}

function isValue(body: object): boolean {
  return body instanceof Blob || body instanceof URLSearchParams || body instanceof FormData;
}
