/**
 * Protocol doubles of sandbox services on loopback: they answer as the documentation of E2B and of Cloudflare's sandbox
 * bridge says, and run the commands in a directory of this machine. They are no tests against the services.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How a double departs from its protocol in the next command. */
export type Fault =
  | "none"
  | "cut after output"
  | "success without a code"
  | "garbage"
  | "output that is not base64"
  | "an unknown event"
  | "an endless line"
  | "status 500"
  | "an error event";

/** A running double. */
export interface Double extends AsyncDisposable {
  readonly url: string;
  /** The directory in which commands run. */
  readonly directory: string;
  /** The requests: method, path and headers. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage["headers"]; body: string }[];
  /** The sandboxes that exist. */
  readonly sandboxes: Set<string>;
  fault: Fault;
  /** True to refuse the deletion of sandboxes. */
  keepsSandboxes: boolean;
}

/** How one service writes the events of a command. */
interface Dialect {
  readonly type: string;
  /** The answer to the creation of a sandbox. */
  created(id: string): object;
  readonly createPath: string;
  isRun(path: string): boolean;
  /** The program, its arguments and its variables in a request. */
  command(body: Buffer): { argv: readonly string[]; env: Record<string, string> };
  output(stream: "stdout" | "stderr", bytes: Buffer): Buffer;
  end(code: number): Buffer;
  readonly faults: Partial<Record<Fault, Buffer>>;
}

const KEY = "a-key-that-only-this-test-knows";
export { KEY as SERVICE_KEY };

async function startDouble(dialect: Dialect): Promise<Double> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "filewright-double-")));
  const running = new Map<string, Set<ChildProcess>>();
  const double: Omit<Double, keyof AsyncDisposable> & { url: string } = {
    url: "",
    directory,
    requests: [],
    sandboxes: new Set(),
    fault: "none",
    keepsSandboxes: false,
  };
  let made = 0;
  const run = (body: Buffer, id: string, outgoing: ServerResponse): void => {
    const { fault } = double;
    if (fault === "status 500") return void outgoing.writeHead(500).end("boom");
    outgoing.writeHead(200, { "content-type": dialect.type });
    const { argv, env } = dialect.command(body);
    const [program = "", ...args] = argv;
    const child = spawn(program, args, {
      cwd: directory,
      env: { PATH: process.env["PATH"], ...env },
      detached: true,
    });
    running.get(id)?.add(child);
    child.stdout.on("data", (bytes) => outgoing.write(dialect.output("stdout", bytes)));
    child.stderr.on("data", (bytes) => outgoing.write(dialect.output("stderr", bytes)));
    child.once("close", (code) => {
      running.get(id)?.delete(child);
      if (fault === "cut after output") return void outgoing.destroy();
      outgoing.end(dialect.faults[fault] ?? dialect.end(code ?? 137));
    });
  };
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url: path = "", headers } = incoming;
      const body = Buffer.concat(chunks);
      double.requests.push({ line: `${method} ${path}`, headers, body: body.toString("latin1") });
      if (method === "POST" && path === dialect.createPath) {
        const id = `sb-${++made}`;
        double.sandboxes.add(id);
        running.set(id, new Set());
        return void outgoing.writeHead(201).end(JSON.stringify(dialect.created(id)));
      }
      const id = [...double.sandboxes].find(
        (one) => path.split("/").includes(one) || headers["e2b-sandbox-id"] === one,
      );
      if (id === undefined) return void outgoing.writeHead(404).end();
      if (method === "DELETE") {
        if (double.keepsSandboxes) return void outgoing.writeHead(500).end();
        double.sandboxes.delete(id);
        for (const child of running.get(id) ?? [])
          if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
        return void outgoing.writeHead(204).end();
      }
      if (dialect.isRun(path)) return run(body, id, outgoing);
      outgoing.writeHead(404).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(double, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true, force: true });
    },
  });
}

const envelope = (message: string, flags = 0): Buffer => {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(Buffer.byteLength(message), 1);
  return Buffer.concat([head, Buffer.from(message)]);
};
const e2bEvent = (event: object): Buffer => envelope(JSON.stringify({ event }));

/** Starts a double of E2B: the platform's interface and the process service on one address. */
export const startE2bDouble = (): Promise<Double> =>
  startDouble({
    type: "application/connect+json",
    createPath: "/sandboxes",
    created: (id) => ({ sandboxID: id, envdAccessToken: `token-of-${id}`, templateID: "base" }),
    isRun: (path) => path === "/process.Process/Start",
    command(body) {
      const { process: given } = JSON.parse(body.subarray(5).toString()) as {
        process: { cmd: string; args: readonly string[]; envs: Record<string, string> };
      };
      return { argv: [given.cmd, ...given.args], env: given.envs };
    },
    output: (stream, bytes) => e2bEvent({ data: { [stream]: bytes.toString("base64") } }),
    // JSON of protocol buffers leaves out a zero.
    end: (code) =>
      Buffer.concat([
        e2bEvent({
          end: { ...(code === 0 ? {} : { exitCode: code }), exited: true, status: `exit status ${code}` },
        }),
        envelope("{}", 2),
      ]),
    faults: {
      "success without a code": e2bEvent({ end: { status: "done" } }),
      garbage: Buffer.from("HTTP/1.1 200 OK\r\nwhatever"),
      "output that is not base64": e2bEvent({ data: { stdout: "%%%" } }),
      "an unknown event": e2bEvent({ teapot: {} }),
      "an endless line": Buffer.concat([Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), Buffer.alloc(1_000)]),
      "an error event": envelope(JSON.stringify({ error: { code: "internal", message: "rm -rf / now" } }), 2),
    },
  });

const serverEvent = (event: string, data: string): Buffer =>
  Buffer.from(`event: ${event}\ndata: ${data}\n\n`);

/** Starts a double of Cloudflare's sandbox bridge. */
export const startBridgeDouble = (): Promise<Double> =>
  startDouble({
    type: "text/event-stream",
    createPath: "/v1/sandbox",
    created: (id) => ({ id }),
    isRun: (path) => path.endsWith("/exec"),
    command: (body) => ({ argv: (JSON.parse(body.toString()) as { argv: readonly string[] }).argv, env: {} }),
    output: (stream, bytes) => serverEvent(stream, bytes.toString("base64")),
    end: (code) => serverEvent("exit", JSON.stringify({ exit_code: code })),
    faults: {
      "success without a code": serverEvent("exit", "{}"),
      garbage: Buffer.from("<html>it works</html>\n\n"),
      "output that is not base64": serverEvent("stdout", "%%%"),
      "an unknown event": serverEvent("teapot", "{}"),
      "an endless line": Buffer.alloc(17 * 1024 * 1024, "x"),
      "an error event": serverEvent(
        "error",
        JSON.stringify({ error: "rm -rf / now", code: "exec_transport_error" }),
      ),
    },
  });
