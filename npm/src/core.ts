/** The core: loading it, and the two buffers that it shares with its host. @module */

import bytes from "./wasm-bytes.ts";

/** What `core.wasm` exports. Numbers only. */
export interface Core {
  readonly memory: WebAssembly.Memory;
  text_buffer(): number;
  step_buffer(): number;
  policy_new(): void;
  policy_set(pathLength: number, kind: number, number: number, textLength: number): void;
  engine_new(): number;
  reseed(handle: number, high: number, low: number): void;
  engine_free(handle: number): void;
  set_word(high: number, low: number): void;
  start(handle: number, now: number, safety: number, deadline: number, cancelled: number): number;
  on_settled(
    handle: number,
    now: number,
    call: number,
    kind: number,
    status: number,
    phase: number,
    retryAfter: number,
  ): number;
  on_answered(
    handle: number,
    now: number,
    call: number,
    status: number,
    retryAfter: number,
    safety: number,
  ): number;
  on_elapsed(handle: number, now: number, call: number): number;
  on_cancelled(handle: number, now: number, call: number): number;
  poll_ready(handle: number, now: number): number;
  control(handle: number, now: number, order: number): number;
  classify(handle: number, status: number, retryAfter: number, safety: number): number;
  snapshot(handle: number, now: number): number;
  explain(handle: number, nameLength: number): number;
  retry_after(ms: number, xMs: number, plain: number, date: number, wall: number): number;
  idempotency_value(length: number, form: number): number;
  is_idempotent_method(length: number): number;
}

const STEP_CELLS = 64;
const TEXT_BYTES = 4096;

let loaded: Core | undefined;
let step: Float64Array = new Float64Array();
let text: Uint8Array = new Uint8Array();

/** The core, compiled when it is first needed. */
export function core(): Core {
  return (loaded ??= load());
}

function load(): Core {
  const module = new WebAssembly.Module(Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0)));
  return new WebAssembly.Instance(module).exports as unknown as Core;
}

/** The numbers of the newest step. Growing memory detaches the view, so ask for it each time. */
export function cells(): Float64Array {
  if (step.length === 0) {
    const { memory, step_buffer } = core();
    step = new Float64Array(memory.buffer, step_buffer(), STEP_CELLS);
  }
  return step;
}

function textBytes(): Uint8Array {
  if (text.length === 0) {
    const { memory, text_buffer } = core();
    text = new Uint8Array(memory.buffer, text_buffer(), TEXT_BYTES);
  }
  return text;
}

/** Hands a text over, from `start` on; answers its length in bytes. What does not fit is cut. */
export function putText(value: string, start = 0): number {
  return new TextEncoder().encodeInto(value, textBytes().subarray(start)).written;
}

/** Hands a header's value over: one byte for each character, as it was on the wire. */
export function putLatin1(value: string, start: number): number {
  const target = textBytes();
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    target[start + i] = code < 256 ? code : 0;
  }
  return value.length;
}

/** A text from the core. */
export function takeText(length: number, start = 0): string {
  return new TextDecoder().decode(textBytes().subarray(start, start + length));
}
