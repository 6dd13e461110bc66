import { setTimeout as sleep } from "node:timers/promises";

import { decisionOf } from "../../../npm/dist/index.js";
import { look } from "./events.mjs";
import { now } from "./log.mjs";

/** Between two looks at the client. */
const SAMPLE_MS = 20;
/** What a user does after a refusal; after anything else the next call comes soon. */
const SULK_MS = [500, 2_000];
const PAUSE_MS = 50;
/** Users come one after the other, within this time. */
const ARRIVAL_MS = 2_000;
/** Nobody gives a call more time. */
const LONGEST_MS = 20_000;
/** After the load whoever still calls leaves within this time. */
const LEAVE_MS = [1_000, 5_000];

const REFUSALS = new Set(["circuit_open", "bulkhead_full"]);

/** People who call, whatever becomes of it, and call again. */
export class Users {
  #client;
  #operations;
  #log;
  #dice;
  #calls = 0;
  #end = Infinity;
  #forever = new AbortController();

  constructor(client, operations, log, dice) {
    this.#client = client;
    this.#operations = operations;
    this.#log = log;
    this.#dice = dice;
  }

  /** A signal that outlives all calls. */
  get forever() {
    return this.#forever.signal;
  }

  /** So many calls at once, one each. */
  async burst(count) {
    const user = async () => {
      await sleep(this.#dice.between(0, ARRIVAL_MS));
      await this.#call({ withinMs: 60_000, cancelMs: undefined });
    };
    await this.#whileLooking(user, count);
  }

  /** So many users for so long, and until the last call has ended. */
  async load(count, ms) {
    const end = now() + ms;
    this.#end = end;
    const user = async () => {
      await sleep(this.#dice.between(0, ARRIVAL_MS));
      while (now() < end) {
        const reason = await this.#call(this.#wish());
        const pause = REFUSALS.has(reason) ? this.#dice.between(...SULK_MS) : this.#dice.between(0, PAUSE_MS);
        await sleep(pause);
      }
    };
    await this.#whileLooking(user, count);
  }

  async #whileLooking(user, count) {
    const timer = setInterval(() => {
      this.#log.write(look(this.#client));
      this.#log.flush();
    }, SAMPLE_MS);
    await Promise.all(Array.from({ length: count }, user));
    clearInterval(timer);
  }

  #wish() {
    const leftMs = this.#end - now();
    let cancelMs;
    if (this.#dice.unit() < 0.15) cancelMs = this.#dice.between(0, 4_000);
    else if (leftMs < LONGEST_MS) cancelMs = leftMs + this.#dice.between(...LEAVE_MS);
    return { withinMs: this.#dice.between(300, LONGEST_MS), cancelMs };
  }

  async #call({ withinMs, cancelMs }) {
    const call = ++this.#calls;
    const safety = this.#dice.pick({ idempotent: 6, keyed: 2, unsafe: 2 });
    const line = this.#log.write({ e: "call", t: now(), call, safety, within: withinMs });
    const caller = cancelMs === undefined ? undefined : new AbortController();
    const signal = caller?.signal ?? this.#forever.signal;
    const answer = this.#start(call, safety, signal, withinMs);
    line.deadline = now() + withinMs;
    const timer = caller && setTimeout(() => this.#cancel(call, caller), cancelMs);
    const ending = await answer;
    clearTimeout(timer);
    this.#log.write({ e: "end", t: now(), call, ...ending });
    return ending.reason;
  }

  /** Begins at once. Answers why the call ended, and how many attempts the client counted. */
  #start(call, safety, signal, deadlineMs) {
    const method = safety === "idempotent" ? "GET" : "POST";
    const idempotencyKey = safety === "keyed";
    const way = this.#dice.pick({ call: 1, tryCall: 1, fetch: 1 });
    if (way === "fetch") {
      const headers = { "x-call": `${call}` };
      const body = method === "POST" ? "pay" : undefined;
      const init = { method, headers, body, signal, idempotencyKey, deadlineMs };
      return this.#client.fetch(this.#operations.url, init).then(readBody, endingOf);
    }
    const { operation, parse } = this.#operations.of(call, method);
    const options = { parse, safety, signal, idempotencyKey, deadlineMs };
    if (way === "call") {
      const ok = () => ({ reason: "success", attempts: null });
      return this.#client.call(operation, options).then(ok, endingOf);
    }
    const told = ({ decision: { reason, attempts } }) => ({ reason, attempts });
    return this.#client.tryCall(operation, options).then(told);
  }

  #cancel(call, caller) {
    this.#log.write({ e: "cancel", t: now(), call });
    caller.abort(new Error("the caller has gone"));
  }
}

function endingOf(ending) {
  const { reason, attempts } = decisionOf(ending) ?? { reason: `none: ${ending}`, attempts: null };
  return { reason, attempts };
}

/** The call is over; what becomes of the body is the caller's own affair. */
function readBody(response) {
  response.arrayBuffer().catch(() => {});
  return endingOf(response);
}
