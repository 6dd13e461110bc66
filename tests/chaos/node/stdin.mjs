// One line on each side at a time. No host outlives the one who started it.

const lines = [];
let waiting;
let isOver = false;

process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  lines.push(...text.split("\n").filter((line) => line !== ""));
  if (waiting && lines.length > 0) waiting(lines.shift());
});
process.stdin.on("end", () => {
  if (!isOver) process.exit(1);
});

export function say(word) {
  process.stdout.write(`${word}\n`);
}

export function nextLine() {
  if (lines.length > 0) return Promise.resolve(lines.shift());
  return new Promise((resolve) => {
    waiting = (line) => {
      waiting = undefined;
      resolve(line);
    };
  });
}

export function endOfStdin() {
  isOver = true;
  process.stdin.destroy();
}
