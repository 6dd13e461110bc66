// Every block of code in the README runs as it stands there.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("..", import.meta.url));

test("the README's code runs", async () => {
  const readme = readFileSync(`${folder}/README.md`, "utf8");
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  assert.ok(blocks.length >= 5);
  const server = createServer((request, response) => {
    response.end(JSON.stringify({ method: request.method }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const given = [
    `const url = "http://127.0.0.1:${port}/";`,
    'const intent = { id: "order-1" };',
  ];
  // Inside the package, so that its own name leads to it.
  const place = mkdtempSync(`${folder}/test/readme-`);
  try {
    const [first, ...rest] = blocks;
    writeFileSync(`${place}/policy.json`, '{ "preset": "payment" }');
    const names = [...blocks.join("\n").matchAll(/^import \{(.*?)\} from "(.*?)";$/gm)];
    const imports = new Map<string, string>();
    for (const [, list, from] of names) {
      for (const name of list!.split(",")) imports.set(name.trim(), from!);
    }
    const program = [
      ...[...imports].map(([name, from]) => `import { ${name} } from "${from}";`),
      ...given,
      withoutImports(first!),
      ...rest.map((block) => `{\n${withoutImports(block)}\n}`),
      "assert.equal(response.status, 200);",
      'import assert from "node:assert/strict";',
    ].join("\n");
    writeFileSync(`${place}/readme.ts`, program.replaceAll('"stormproof"', '"../../src/index.ts"'));
    const { code, output } = await run(place);
    assert.equal(code, 0, output);
    assert.match(output, /{ method: 'GET' }/);
    assert.match(output, /Succeeded at attempt 1 of 4\./);
  } finally {
    rmSync(place, { recursive: true });
    server.close();
    server.closeAllConnections();
  }
});

test("the code of the repository's front page runs", async () => {
  const readme = readFileSync(`${folder}/../README.md`, "utf8");
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  assert.equal(blocks.length, 1);
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    response.writeHead(keys.length === 1 ? 503 : 201).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const place = mkdtempSync(`${folder}/test/readme-`);
  try {
    const program = blocks[0]!
      .replaceAll("https://payments.example", `http://127.0.0.1:${port}`)
      .replaceAll('"stormproof"', '"../../src/index.ts"');
    writeFileSync(`${place}/readme.ts`, program);
    const { code, output } = await run(place);
    assert.equal(code, 0, output);
    assert.match(output, /^201 Succeeded at attempt 2 of 4, after [\d.]+ s of waiting\.$/m);
    assert.deepEqual(keys, ["order-17", "order-17"]);
  } finally {
    rmSync(place, { recursive: true });
    server.close();
    server.closeAllConnections();
  }
});

const withoutImports = (code: string): string => code.replace(/^import .*$/gm, "");

async function run(place: string): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ["--import", "tsx", "readme.ts"], { cwd: place });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}
