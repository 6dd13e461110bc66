// Vectors that drive an engine step by step, through the numbers of core.wasm.
import { cells, core } from "../../src/core.ts";
import { CIRCUITS, KINDS, SAFETIES, type Kind } from "../../src/names.ts";
import { buildEngine } from "../../src/policy.ts";
import { SEED, policyOf } from "./policies.ts";
import { instant, nanos, takeStep, type Step, type Trail } from "./trail.ts";

type Json = Record<string, unknown>;

const CONTROLS = ["force_open", "force_closed", "metrics_only", "reset"];
const PHASES = ["unknown", "not_sent"];
const FIELDS = new Set(
  `at start settle answer elapsed cancel poll control snapshot safety deadline cancelled outcome
  status retry_after_ms word expect`.split(/\s+/),
);

interface NamedCall {
  readonly name: string;
  readonly ids: number[];
  readonly safety: number;
}

/** Answers with what is not as expected. */
export function runSteps(vector: Json, trail: Trail): string[] {
  const run = new Run(buildEngine(policyOf(vector["policy"]), SEED), trail);
  try {
    return (vector["steps"] as Json[]).flatMap((step, place) =>
      run.step(step).map((fault) => `step ${place}: ${fault}`),
    );
  } finally {
    run.end();
  }
}

class Run {
  readonly #engine: number;
  readonly #trail: Trail;
  readonly #calls: NamedCall[] = [];

  constructor(engine: number, trail: Trail) {
    this.#engine = engine;
    this.#trail = trail;
  }

  end(): void {
    core().engine_free(this.#engine);
  }

  step(step: Json): string[] {
    for (const field of Object.keys(step)) {
      if (!FIELDS.has(field)) return [`${field} is not a field of a step`];
    }
    const now = step["at"] as number;
    const expected = (step["expect"] ?? {}) as Json;
    if (step["snapshot"] === true) return this.#snapshot(now, expected);
    const { code, named } = this.#event(now, step);
    const answer = takeStep(code);
    this.#trail.add(answer);
    if (typeof step["start"] === "string") this.#started(step["start"], step, answer);
    this.#follow(answer);
    return compare(expected, (field) => this.#field(answer, named, field));
  }

  #event(now: number, step: Json): { code: number; named: number } {
    const engine = this.#engine;
    const { start, set_word, on_settled, on_answered, on_elapsed, on_cancelled, poll_ready, control } =
      core();
    if (typeof step["start"] === "string") {
      const deadline = (step["deadline"] as number | null | undefined) ?? -1;
      const code = start(engine, now, safetyOf(step), deadline, Number(step["cancelled"] === true));
      return { code, named: 0 };
    }
    if (typeof step["control"] === "string") {
      return { code: control(engine, now, CONTROLS.indexOf(step["control"])), named: 0 };
    }
    const word = ((step["word"] as string | undefined) ?? "0").padStart(16, "0");
    set_word(parseInt(word.slice(0, 8), 16), parseInt(word.slice(8), 16));
    if (step["poll"] === true) return { code: poll_ready(engine, now), named: 0 };
    const verb = ["settle", "answer", "elapsed", "cancel"].find((verb) => verb in step);
    if (verb === undefined) throw new Error("a step without a verb");
    const name = step[verb] as string;
    const named = this.#id(name);
    if (verb === "settle") {
      const { kind, status, phase, wait } = outcomeOf(step["outcome"] as Json);
      return { code: on_settled(engine, now, named, kind, status, phase, wait), named };
    }
    if (verb === "answer") {
      const { safety } = this.#call(name);
      const wait = (step["retry_after_ms"] as number | null | undefined) ?? -1;
      const status = step["status"] as number;
      return { code: on_answered(engine, now, named, status, wait, safety), named };
    }
    return { code: (verb === "elapsed" ? on_elapsed : on_cancelled)(engine, now, named), named };
  }

  #started(name: string, step: Json, answer: Step): void {
    const hasId = answer.call !== 0 && answer.action !== "finish";
    this.#calls.push({ name, ids: hasId ? [answer.call] : [], safety: safetyOf(step) });
  }

  #follow({ call, previous, action }: Step): void {
    if (action === "none" || call === previous || call === 0) return;
    this.#calls.find(({ ids }) => ids.at(-1) === previous)?.ids.push(call);
  }

  #call(text: string): NamedCall {
    const name = text.split("#")[0];
    const found = this.#calls.findLast((call) => call.name === name);
    if (found === undefined) throw new Error(`no call is named ${name}`);
    return found;
  }

  #id(text: string): number {
    const place = text.split("#")[1];
    const id = this.#call(text).ids.at(place === undefined ? -1 : Number(place));
    if (id === undefined) throw new Error(`${text} has no id`);
    return id;
  }

  #field(step: Step, named: number, field: string): unknown {
    const { action, decision } = step;
    if (field === "action") return action;
    if (action === "none") return undefined;
    switch (field) {
      case "until":
        return ["attempt", "wait", "queue"].includes(action) ? step.until : undefined;
      case "number":
        return action === "attempt" ? step.number : undefined;
      case "why":
        return step.why;
      case "late":
        return action === "stale" ? step.number === 1 : undefined;
      case "poll_at":
        return step.pollAt;
      case "circuit":
        return step.change;
      case "call":
        return this.#calls.findLast(({ ids }) => ids.includes(step.call))?.name ?? "nobody";
      case "same_id":
        return step.call === named;
      default:
        return decision && decided(decision)[field];
    }
  }

  #snapshot(now: number, expected: Json): string[] {
    core().snapshot(this.#engine, now);
    const at = (cell: number): number => cells()[cell]!;
    const tokens = (cell: number): number | null => (at(cell) < 0 ? null : at(cell) / 1000);
    const kinds = (start: number, field: string): Json => {
      const named = Object.keys((expected[field] ?? {}) as Json);
      return Object.fromEntries(named.map((name) => [name, at(start + KINDS.indexOf(name as Kind))]));
    };
    const counts = `running queued abandoned calls attempts retries successes retry_after_adopted
      - late_results`.split(/\s+/);
    const found: Json = {
      ...Object.fromEntries(counts.map((name, i) => [name, at(4 + i)])),
      circuit: CIRCUITS[at(0)],
      open_until: instant(at(1)),
      tokens: tokens(2),
      capacity: tokens(3),
      total_wait: nanos(at(12)),
      failures: kinds(14, "failures"),
      refusals: kinds(14 + KINDS.length, "refusals"),
    };
    return compare(expected, (field) => found[field]);
  }
}

function decided(decision: NonNullable<Step["decision"]>): Json {
  const own = ["deadline_exceeded", "circuit_open", "bulkhead_full", "queue_timeout", "cancelled"];
  return {
    reason: decision.reason,
    own_error: own.includes(decision.reason),
    attempts: decision.attempts,
    last_kind: decision.lastKind,
    last_status: decision.lastStatus,
    retry_at: decision.retryAt,
    forced: decision.forced,
    total_wait: decision.totalWait,
    tokens: decision.tokens === null ? null : decision.tokens / 1000,
  };
}

function outcomeOf(outcome: Json): { kind: number; status: number; phase: number; wait: number } {
  const kind = KINDS.indexOf(outcome["kind"] as Kind);
  const phase = PHASES.indexOf((outcome["phase"] as string | undefined) ?? "unknown");
  if (kind < 0 || phase < 0) throw new Error(`no outcome: ${JSON.stringify(outcome)}`);
  const status = (outcome["status"] as number | undefined) ?? 0;
  return { kind, phase, status, wait: (outcome["retry_after_ms"] as number | null) ?? -1 };
}

function safetyOf(step: Json): number {
  const safety = SAFETIES.indexOf(((step["safety"] as string) ?? "idempotent") as never);
  if (safety < 0) throw new Error(`no safety: ${String(step["safety"])}`);
  return safety;
}

/** Instants are whole nanoseconds; what is found as such is compared as such. */
function compare(expected: Json, found: (field: string) => unknown): string[] {
  return Object.entries(expected).flatMap(([field, want]) => {
    const got = found(field);
    const wanted = typeof got === "bigint" && typeof want === "number" ? nanos(want) : want;
    const spell = (value: unknown): string =>
      typeof value === "bigint" ? `${value} ns` : JSON.stringify(value);
    return spell(got) === spell(wanted) ? [] : [`${field}: expected ${spell(want)}, got ${spell(got)}`];
  });
}
