/** The caller's signal, while the body of a response that was handed out is read. @module */

import { unwatch, watch } from "./watch.ts";

const READERS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;

/** Keeps a controller alive as long as its body. */
const controllers = new WeakMap<ReadableStream, AbortController>();
const unread = new FinalizationRegistry((stop: () => void) => stop());

/**
 * Aborts the reading of the body when the caller's signal is aborted. The listener goes when the
 * body has been read by one of the response's methods, or is garbage.
 */
export function follow(response: Response, signal: AbortSignal, controller: AbortController): void {
  const { body } = response;
  if (!body) return;
  if (signal.aborted) return controller.abort(signal.reason);
  // Held weakly, so that a signal that lives for ever does not keep responses that were dropped.
  const held = new WeakRef(controller);
  const watcher = { onAbort: (reason: unknown) => held.deref()?.abort(reason) };
  const stop = (): void => unwatch(signal, watcher);
  controllers.set(body, controller);
  unread.register(body, stop);
  watch(signal, watcher);
  for (const name of READERS) hook(response, name, stop);
}

function hook(response: Response, name: (typeof READERS)[number], stop: () => void): void {
  const read = (response as unknown as Record<string, () => Promise<unknown>>)[name];
  if (typeof read !== "function") return;
  const value = async (): Promise<unknown> => {
    try {
      return await read.call(response);
    } finally {
      stop();
    }
  };
  // Where the response is frozen, the listener goes with the garbage.
  Reflect.defineProperty(response, name, { value, configurable: true, writable: true });
}
