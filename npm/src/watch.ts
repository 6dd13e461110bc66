/** Listening to the signals of callers. @module */

/** Is told when the signal is aborted. */
export interface Watcher {
  onAbort(reason: unknown): void;
}

/** All who watch one signal, behind one listener: a signal is shared by any number of calls. */
class Watch {
  readonly watchers: Set<Watcher> = new Set();
  // Held by the signal alone, which the listener is told of.
  handleEvent({ target }: Event): void {
    for (const watcher of this.watchers) watcher.onAbort((target as AbortSignal).reason);
  }
}

const watches = new WeakMap<AbortSignal, Watch>();

export function watch(signal: AbortSignal, watcher: Watcher): void {
  let watch = watches.get(signal);
  if (watch === undefined) watches.set(signal, (watch = new Watch()));
  if (watch.watchers.size === 0) signal.addEventListener("abort", watch);
  watch.watchers.add(watcher);
}

/** The last one to go takes the listener along. */
export function unwatch(signal: AbortSignal, watcher: Watcher): void {
  const watch = watches.get(signal);
  if (watch?.watchers.delete(watcher) && watch.watchers.size === 0) {
    signal.removeEventListener("abort", watch);
  }
}
