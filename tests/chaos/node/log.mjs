import { closeSync, openSync, writeSync } from "node:fs";

/** The clock of the log: the one that the client reads. */
export const now = () => performance.now();

/** The clock's readings go into the lines, the lines later into the file. */
export class Log {
  #file;
  #lines = [];

  constructor(path) {
    this.#file = openSync(path, "w");
  }

  /** What is put into the line before the next flush is written, too. */
  write(line) {
    this.#lines.push(line);
    return line;
  }

  flush() {
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length === 0) return;
    writeSync(this.#file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  close() {
    this.flush();
    closeSync(this.#file);
  }
}
