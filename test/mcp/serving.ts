/** `filewright serve` in this process or as one of its own, and requests that `fetch` would not send. */
import { spawn } from "node:child_process";
import { type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { startInProcess } from "../support/in-process.ts";
import { COMMAND } from "./harness.ts";

/** The clients' token of {@link serve}, unless the environment says otherwise. */
export const TOKEN = "a-token-that-only-this-test-knows";
export const bearer = { authorization: `Bearer ${TOKEN}` };

/** How long a server may take to end after its test. */
const ENDING_MS = 2_000;

/** A running server. */
export interface Serving extends AsyncDisposable {
  readonly url: string;
  /** Returns its output on standard error until now. */
  said(): string;
  /** Settled with the exit status, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  kill(signal: NodeJS.Signals): void;
}

/** A server process. */
export interface ServingProcess extends Serving {
  readonly pid: number;
}

const URL_LINE = /at (http:\S+)\s/u;

/**
 * Starts `filewright serve` on any free port in this process. Rejects with what it said where it does not start. Only
 * SIGTERM and SIGINT end it.
 */
export async function serve(argv: readonly string[], env: Record<string, string> = {}): Promise<Serving> {
  const { program, ended } = await startInProcess(
    ["serve", ...argv, "--port", "0"],
    { ...process.env, FILEWRIGHT_TOKEN: TOKEN, ...env },
    URL_LINE,
  );
  const url = URL_LINE.exec(program.err)?.[1];
  if (url === undefined) throw new Error(`ended with ${await ended}: ${program.err}`);
  return {
    url,
    said: () => program.err,
    ended,
    kill: (signal) => void program.emit(signal),
    async [Symbol.asyncDispose]() {
      program.emit("SIGTERM");
      expect([await ended, program.out]).toEqual([0, ""]);
    },
  };
}

/** As {@link serve}, in a process of its own. */
export async function serveProcess(
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<ServingProcess> {
  const child = spawn(process.execPath, [COMMAND, "serve", ...argv, "--port", "0"], {
    env: { ...process.env, FILEWRIGHT_TOKEN: TOKEN, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const ended = new Promise<number | string | null>((resolve) =>
    child.once("exit", (status, signal) => resolve(signal ?? status)),
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => reject(new Error(`standard output: ${chunk}`)));
    child.stderr.on("data", (chunk) => {
      said += chunk;
      const found = URL_LINE.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (status) => reject(new Error(`ended with ${status}: ${said}`)));
  });
  return {
    url,
    pid: child.pid as number,
    said: () => said,
    ended,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      // A process that is killed does not write down which lines it ran.
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), ENDING_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/** An answer. */
export interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The first message of a client of the older era. */
export const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "0" } },
});

/** Sends a request with any headers, also those that `fetch` keeps to itself. */
export function send(
  url: string,
  headers: Record<string, string>,
  { method = "POST", body = INITIALIZE as string | Buffer } = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const all = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    };
    const outgoing = httpRequest(url, { method, headers: all }, (incoming) => {
      let text = "";
      incoming.on("data", (chunk) => {
        text += chunk;
      });
      incoming.on("end", () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }),
      );
      incoming.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(method === "GET" || method === "OPTIONS" ? undefined : body);
  });
}

/** A call of a tool as one request of the older era, and its answer; undefined where the answer is no message. */
export async function callOver(
  url: string,
  name: string,
  args: object,
  headers: Record<string, string> = bearer,
): Promise<{ readonly status: number; readonly result?: Record<string, unknown> }> {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  const { status, text } = await send(url, headers, { body: JSON.stringify(message) });
  const data = /^data: (\{.*\})$/mu.exec(text)?.[1] ?? text;
  try {
    return { status, result: (JSON.parse(data) as { result: Record<string, unknown> }).result };
  } catch {
    return { status };
  }
}

/** Sends raw bytes and gives what came back until the server closed, or `waitMs` passed. */
export function raw(port: number, bytes: string, waitMs = 2000): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket: Socket = connect(port, "127.0.0.1", () => void socket.write(bytes));
    const end = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(waitMs, end);
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\r\n\r\n")) end();
    });
    socket.on("error", end).on("close", end);
  });
}
