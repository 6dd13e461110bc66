import { now } from "./log.mjs";

/** How the client stands. An open circuit refuses until `open_until` at least. */
export function look(client) {
  const before = now();
  const { running, queued, circuit, openForMs } = client.stats();
  const open_until = openForMs === undefined ? null : before + openForMs;
  return { e: "state", t: now(), running, queued, circuit, open_until };
}

/** Writes down everything that the client tells. */
export function listen(client, operations, log) {
  const write = (name, fields) => log.write({ e: "event", t: now(), name, ...fields });
  client.on("attemptStarted", ({ attempt }) => {
    operations.told = now();
    write("attempt_started", { n: attempt });
  });
  client.on("attemptFailed", ({ attempt, kind }) => write("attempt_failed", { n: attempt, kind }));
  client.on("retryScheduled", ({ attempt }) => write("retry_scheduled", { n: attempt }));
  client.on("callSucceeded", () => write("call_succeeded", { reason: "success" }));
  client.on("callFailed", ({ reason }) => write("call_failed", { reason }));
  client.on("refused", ({ kind }) => write("refused", { reason: kind }));
  client.on("lateResult", ({ attempt }) => write("late_result", { n: attempt }));
  client.on("circuitChanged", ({ from, to }) => {
    write("circuit_changed", { from, to });
    log.write(look(client));
  });
}
