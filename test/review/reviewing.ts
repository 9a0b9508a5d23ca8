/** Real servers whose changes wait at one page, and requests of a page that is logged in. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeProver, UnprovenError } from "../../js/review/proof/prover.ts";
import type { ReviewSnapshot } from "../../js/review/protocol.ts";
import { type CliFixture, place } from "../cli/running.ts";
import { ticketOf } from "../support/proving.mjs";
import { COMMAND, type ConnectedProcess, connectToProcess } from "../mcp/harness.ts";

/** A state directory and a port of one test, so that it never meets the page of this machine's user. */
export interface Desk extends AsyncDisposable {
  readonly port: number;
  readonly env: Record<string, string>;
  /** The file with the key of the owner. */
  readonly key: string;
  /** Runs a command of the person. */
  readonly cli: CliFixture;
  /** Starts `filewright mcp --review` on a new directory with this file, for a client of the SDK. */
  agent(name: string, more?: readonly string[]): Promise<Agent>;
}

/** A client with its server and its directory. */
interface Agent {
  readonly root: string;
  readonly server: ConnectedProcess;
  /** Writes the file `a.txt`, which waits for an answer. */
  write(content: string): ReturnType<ConnectedProcess["call"]>;
}

/** Returns a port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Makes a place for servers that share a page. */
export async function openDesk(): Promise<Desk> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "filewright-desk-")));
  const cli = await place({});
  const port = await freePort();
  const env = { XDG_STATE_HOME: join(base, "state") };
  const agents: ConnectedProcess[] = [];
  return {
    port,
    env,
    key: join(env.XDG_STATE_HOME, "filewright", "review", "key"),
    cli,
    async agent(name, more = []) {
      const root = join(base, name);
      await mkdir(root);
      await writeFile(join(root, "a.txt"), "one\n");
      const server = await connectToProcess([COMMAND, "mcp", root, `--review=${port}`, ...more], { env });
      agents.push(server);
      return {
        root,
        server,
        write: (content) =>
          server.call("write_file", { path: join(root, "a.txt"), content, whole_file: true }),
      };
    },
    async [Symbol.asyncDispose]() {
      // A server that was killed has no connection to close.
      await Promise.allSettled(agents.map((agent) => agent[Symbol.asyncDispose]()));
      await cli.remove();
      await rm(base, { recursive: true, force: true });
    },
  };
}

/** The time in milliseconds between two looks at a page. */
const LOOK_MS = 25;

/** A page that is logged in. It stays so when another process serves it. */
export interface Watcher {
  get(path: string): Promise<Response>;
  post(path: string, body: object): Promise<Response>;
  /** Resolves with the first state of the page for which `found` returns something; a page that is gone is asked again. */
  until<T>(found: (snapshot: ReviewSnapshot) => T | undefined): Promise<T>;
}

/** Logs in with a link. */
export async function watcherOf(link: string): Promise<Watcher> {
  const { origin } = new URL(link);
  const { kind, id, key } = ticketOf(link);
  const prover = makeProver(`${origin}/review`, async () => ({
    kind: kind as "ticket",
    id,
    key: new Uint8Array(key),
  }));
  const get = (path: string): Promise<Response> => prover.send(path, { mayStream: true });
  await get("state");
  return {
    get,
    post: (path, body) => prover.send(path, { body: JSON.stringify(body), headers: { origin } }),
    async until(found) {
      for (;;) {
        const response = await get("state").catch((error: unknown) => {
          if (error instanceof UnprovenError) throw error;
        });
        const value = response === undefined ? undefined : found((await response.json()) as ReviewSnapshot);
        if (value !== undefined) return value;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
  };
}

/** The time in milliseconds after which a server that has not said something is taken as one that will not. */
const SAY_MS = 60_000;

/** Resolves with the first group of a match in what a server says on standard error; rejects with what it has said. */
export async function saidBy(server: ConnectedProcess, pattern: RegExp): Promise<string> {
  for (const start = performance.now(); performance.now() - start < SAY_MS; ) {
    const found = pattern.exec(server.errors())?.[1];
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`it does not say ${pattern}, but: ${server.errors()}`);
}
