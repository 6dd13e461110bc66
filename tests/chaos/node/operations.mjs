import { now } from "./log.mjs";

/** What is done at each attempt, and what is written down of it. */
export class Operations {
  client;
  /** When the client told of an attempt. */
  told = 0;
  #url;
  #log;

  constructor(url, log) {
    this.#url = url;
    this.#log = log;
  }

  /** An operation and a parser for `call`: the body belongs to the attempt. */
  of(call, method) {
    let trial;
    const operation = async (attempt) => {
      const before = now();
      const left = attempt.timeLeftMs;
      const until = left > 0 ? [before + left, now() + left] : null;
      trial = new Trial(this.#log, this.client, call, attempt.attempt, until, attempt.signal);
      const headers = { "x-call": `${call}`, "x-attempt": `${attempt.attempt}` };
      if (attempt.idempotencyKey) headers["idempotency-key"] = attempt.idempotencyKey;
      const body = method === "POST" ? "pay" : undefined;
      const { signal } = attempt;
      return this.#watch(trial, async (own) => {
        const response = await fetch(this.#url, { method, headers, body, signal });
        if (!response.ok || signal.aborted) own.ended(response.status, false);
        return response;
      });
    };
    const parse = (response) =>
      this.#watch(trial, async (own) => {
        const text = await response.text();
        own.ended(response.status, true);
        return text;
      });
    return { operation, parse };
  }

  /** For `client.fetch`, whose attempts end when the head is there. */
  fetch = (input, init) => {
    const [call, n, left] = ["x-call", "x-attempt", "x-time-left"].map((name) =>
      Number(init.headers.get(name)),
    );
    // The header has whole milliseconds, and was written after the client told of an attempt.
    const until = left > 0 ? [this.told + left, now() + left + 1] : null;
    const trial = new Trial(this.#log, this.client, call, n, until, init.signal);
    return this.#watch(trial, async (own) => {
      const response = await fetch(input, init);
      own.ended(response.status, false);
      return response;
    });
  };

  get url() {
    return this.#url;
  }

  async #watch(trial, work) {
    try {
      return await work(trial);
    } catch (error) {
      trial.failed();
      throw error;
    }
  }
}

class Trial {
  #log;
  #name;
  #signal;
  #isOver = false;

  constructor(log, client, call, n, until, signal) {
    this.#log = log;
    this.#name = { call, n };
    this.#signal = signal;
    log.write({ e: "try", t: now(), call, n, until, circuit: client.stats().circuit });
    const cut = () => {
      if (!this.#isOver) log.write({ e: "cut", t: now(), call, n });
    };
    if (signal.aborted) cut();
    else signal.addEventListener("abort", cut, { once: true });
  }

  ended(status, read) {
    const how = this.#signal.aborted ? "cut" : "answer";
    this.#end({ how, status: how === "cut" ? null : status, read });
  }

  failed() {
    this.#end({ how: this.#signal.aborted ? "cut" : "network", status: null, read: false });
  }

  #end(fields) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#log.write({ e: "ended", t: now(), ...this.#name, ...fields });
  }
}
