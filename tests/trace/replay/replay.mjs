// Replays the trace through the numbers of core.wasm. Runs in Node and in browsers alike: it is handed
// the exports of the module, the records and the policies, and answers with the digests of the blocks.

const RECORD = 40;
const NONE_HIGH = 0x8000_0000;
const TWO_32 = 2 ** 32;
/** The last instant there is has no double of its own. */
const NEVER = 2 ** 64 / 1e6;
const STEP_CELLS = 64;
const TEXT_BYTES = 4096;

export async function replay(core, records, { policies, name, block }) {
  const input = new DataView(records);
  const digest = new Digest();
  const blocks = [];
  const word = (at) => input.getUint32(at + 4, true) * TWO_32 + input.getUint32(at, true);
  const orNone = (at) => (input.getUint32(at + 4, true) === NONE_HIGH ? -1 : word(at));
  const millis = (nanos) => (nanos < 0 ? -1 : nanos >= 2 ** 62 ? 1e300 : nanos / 1e6);
  let engine = 0;
  let steps = 0;
  for (let at = 0; at < records.byteLength; at += RECORD) {
    const [operation, code, flag] = [0, 1, 2].map((place) => input.getUint8(at + place));
    const status = input.getUint16(at + 4, true);
    const [now, call] = [millis(word(at + 8)), word(at + 16)];
    if (operation >= 2 && operation <= 6) {
      core.set_word(input.getUint32(at + 28, true), input.getUint32(at + 24, true));
    }
    switch (operation) {
      case 0:
        if (engine !== 0) core.engine_free(engine);
        engine = build(core, policies[word(at + 32)]);
        continue;
      case 8:
        core.snapshot(engine, now);
        digest.snapshot(cells(core));
        continue;
      case 9:
        digest.text(explain(core, engine, name));
        continue;
    }
    const action = ask();
    digest.step(action, cells(core));
    if (action === 5) continue;
    steps += 1;
    if (steps % block === 0) blocks.push(await digest.closeBlock());

    function ask() {
      const extra = orNone(at + 32);
      switch (operation) {
        case 1:
          return core.start(engine, now, code, millis(extra), flag);
        case 2:
          return core.on_settled(engine, now, call, code, status, flag, extra);
        case 3:
          return core.on_answered(engine, now, call, status, extra, code);
        case 4:
          return core.on_elapsed(engine, now, call);
        case 5:
          return core.on_cancelled(engine, now, call);
        case 6:
          return core.poll_ready(engine, now);
        case 7:
          return core.control(engine, now, code);
        default:
          throw new Error(`record ${at / RECORD} has the operation ${operation}`);
      }
    }
  }
  return { steps, blocks };
}

/** The lines that every target prints. */
export function* lines(target, { steps, blocks }) {
  for (const [place, block] of blocks.entries()) yield `block ${place + 1} ${block}`;
  yield `trace ${target}: ${steps} steps, hash ${blocks.at(-1)}`;
}

const cells = (core) => new Float64Array(core.memory.buffer, core.step_buffer(), STEP_CELLS);
const textBytes = (core) => new Uint8Array(core.memory.buffer, core.text_buffer(), TEXT_BYTES);

function putText(core, text, start = 0) {
  return new TextEncoder().encodeInto(text, textBytes(core).subarray(start)).written;
}

function explain(core, engine, name) {
  const length = core.explain(engine, putText(core, name));
  return textBytes(core).slice(0, length);
}

function build(core, policy) {
  core.policy_new();
  draft(core, "", policy);
  const engine = core.engine_new() >>> 0;
  if (engine === 0) throw new Error(`the core refuses ${JSON.stringify(policy)}`);
  return engine;
}

function draft(core, prefix, fields) {
  for (const [key, value] of Object.entries(fields)) {
    const path = prefix + key;
    const put = (kind, number = 0, text = "") => {
      const length = putText(core, path);
      core.policy_set(length, kind, number, putText(core, text, length));
    };
    if (value === null) put(0);
    else if (typeof value === "boolean") put(1, Number(value));
    else if (typeof value === "number") put(2, value);
    else if (typeof value === "string") put(3, 0, value);
    else if (Array.isArray(value)) for (const member of value) put(2, member);
    else {
      put(4);
      draft(core, `${path}.`, value);
    }
  }
}

/** The digest that tests/trace/README.md describes. */
class Digest {
  #words = new Uint32Array(1 << 21);
  #length = 0;

  constructor() {
    this.#begin(new ArrayBuffer(32));
  }

  step(action, cells) {
    this.#word(action);
    if (action === 5) return;
    const change = cells[5] < 0 ? 0 : ((1 << 24) | (cells[5] << 16) | (cells[6] << 8) | cells[7]);
    for (const id of [0, 1]) this.#word(cells[id]);
    for (const instant of [2, 3]) this.#instant(cells[instant]);
    this.#word(cells[4]);
    this.#instant(action === 1 ? cells[17] : 0);
    this.#word(change);
    if (action !== 3) return;
    for (const count of [8, 9, 10, 11]) this.#orNone(cells[count]);
    for (const instant of [12, 13]) this.#instant(cells[instant]);
    this.#word(cells[14]);
    this.#instant(cells[15]);
    this.#orNone(cells[16]);
  }

  snapshot(cells) {
    this.#word(6);
    this.#word(cells[0]);
    this.#instant(cells[1]);
    for (let cell = 2; cell < 12; cell++) this.#orNone(cells[cell]);
    this.#instant(cells[12]);
    for (let cell = 13; cell < 42; cell++) this.#word(cells[cell]);
  }

  text(bytes) {
    this.#word(7);
    this.#word(bytes.length);
    new Uint8Array(this.#words.buffer, this.#length * 4, bytes.length).set(bytes);
    this.#length += Math.ceil(bytes.length / 8) * 2;
  }

  async closeBlock() {
    const bytes = this.#words.subarray(0, this.#length);
    const block = await crypto.subtle.digest("SHA-256", bytes);
    this.#begin(block);
    return Array.from(new Uint8Array(block, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** Each block begins with the digest of the one before it. */
  #begin(previous) {
    this.#words.fill(0);
    this.#words.set(new Uint32Array(previous));
    this.#length = 8;
  }

  #word(number) {
    this.#words[this.#length++] = number;
    this.#words[this.#length++] = number / TWO_32;
  }

  #halves(low, high) {
    this.#words[this.#length++] = low;
    this.#words[this.#length++] = high;
  }

  #orNone(number) {
    if (number < 0) this.#halves(0, NONE_HIGH);
    else this.#word(number);
  }

  #instant(millis) {
    if (millis < 0) return this.#halves(0, NONE_HIGH);
    if (millis >= NEVER) return this.#halves(0xffff_ffff, 0xffff_ffff);
    const whole = Math.trunc(millis);
    this.#word(whole * 1e6 + Math.round((millis - whole) * 1e6));
  }
}
