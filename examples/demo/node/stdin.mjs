// The demo starts all hosts at once, and none outlives it.

/** Says that this host is ready and waits for a line. From then on the process ends with stdin. */
export function waitForLine() {
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
  return new Promise((resolve) => {
    process.stdin.once("data", resolve);
    process.stdin.on("end", () => process.exit(1));
  });
}
