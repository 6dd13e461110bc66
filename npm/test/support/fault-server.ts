// The fault server of tests/server, one for each test file.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

export interface FaultServer {
  /** The address of a new script that serves these steps. */
  script(steps: readonly unknown[], after?: unknown): Promise<string>;
  /** What a script was asked. */
  log(url: string): Promise<LoggedRequest[]>;
  connections(): Promise<{ open: number; opened_total: number }>;
  close(): void;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

export async function startFaultServer(): Promise<FaultServer> {
  const build = spawnSync("cargo", ["build", "--quiet", "--package", "fault-server"], { cwd: root });
  if (build.status !== 0) throw new Error(String(build.stderr));
  const target = resolve(root, process.env["CARGO_TARGET_DIR"] ?? "target");
  const child = spawn(`${target}/debug/fault-server`, ["--exit-with-stdin"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { port, control_port } = JSON.parse(line);
  const control = `http://127.0.0.1:${control_port}/_`;
  let scripts = 0;
  return {
    async script(steps, after) {
      const id = `t${++scripts}`;
      const body = JSON.stringify(after === undefined ? { steps } : { steps, after });
      const response = await fetch(`${control}/script/${id}`, { method: "POST", body });
      if (!response.ok) throw new Error(await response.text());
      return `http://127.0.0.1:${port}/s/${id}`;
    },
    async log(url) {
      const id = url.split("/s/")[1];
      const entries = await (await fetch(`${control}/log/${id}`)).json();
      return (entries as (LoggedRequest & { body_base64: string })[]).map((entry) => ({
        ...entry,
        body: Buffer.from(entry.body_base64 ?? "", "base64"),
      }));
    },
    async connections() {
      return (await (await fetch(`${control}/connections`)).json()) as never;
    },
    close() {
      child.stdin.end();
      child.kill();
    },
  };
}

/** An address where nobody listens. */
export async function closedAddress(): Promise<string> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { port: number };
  listener.close();
  await once(listener, "close");
  return `http://127.0.0.1:${port}/`;
}

export const headersNamed = (request: LoggedRequest, name: string): string[] =>
  request.headers.filter(([known]) => known === name).map(([, value]) => value);
