// A small MCP client over the standard streams of the published command, and a person on its review page. It sends
// lines as they are, also malformed ones, which the client of the official SDK cannot.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { openTab } from "../../support/proving.mjs";
import { COMMAND, waitFor } from "./lib.mjs";

const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Starts `filewright COMMAND ARGS` and returns a client of it. `onMessage` is given what answers no request of ours.
 * @param {import("./lib.mjs").Attack} attack
 */
export function startServer(attack, args, { env, command = "mcp", onMessage = () => {} }) {
  const child = spawn(process.execPath, [COMMAND, command, ...args], { env, stdio: "pipe" });
  const exited = once(child, "exit");
  const waiting = new Map();
  let errors = "";
  let lastId = 0;
  child.stdin.on("error", () => {});
  child.stderr.on("data", (data) => {
    errors += data;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parsed(line);
    const answered = message?.method === undefined ? waiting.get(message?.id) : undefined;
    waiting.delete(message?.id);
    if (answered !== undefined) answered(message);
    else if (message !== undefined) onMessage(message, send);
  });
  const sendLine = (line) => child.stdin.write(`${line}\n`);
  const send = (message) => sendLine(JSON.stringify(message));
  /** Sends a request. @returns the message that answers it, or `{ late: true }` */
  const request = (method, params, milliseconds = REQUEST_TIMEOUT_MS) =>
    new Promise((resolve) => {
      const id = ++lastId;
      const timer = setTimeout(() => resolve({ late: true }), milliseconds);
      waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      send({ jsonrpc: "2.0", id, method, params });
    });
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  attack.atEnd(stop);
  return {
    sendLine,
    request,
    stop,
    errors: () => errors,
    /** Waits for a line on standard error. @returns its match */
    line: (pattern) => waitFor(() => pattern.exec(errors), `line ${pattern} in: ${errors}`),
    async initialize(capabilities = {}) {
      const clientInfo = { name: "attack", version: "1" };
      const params = { protocolVersion: "2025-06-18", capabilities, clientInfo };
      const answer = await request("initialize", params);
      send({ jsonrpc: "2.0", method: "notifications/initialized" });
      return answer;
    },
    notify: (method) => send({ jsonrpc: "2.0", method }),
    call: (name, args, milliseconds) => request("tools/call", { name, arguments: args }, milliseconds),
  };
}

/** @returns what a line of JSON contains, or undefined */
function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Logs in at the review page by a link, `http://127.0.0.1:PORT/review#t=TICKET`. @throws if the ticket is refused */
export async function login(link) {
  const tab = await openTab(link);
  const { get, post } = tab;
  const waiting = async () => (await (await get("state")).json()).state?.waiting ?? [];
  return {
    ...tab,
    waiting,
    /** @returns the first waiting question that `isMeant` accepts */
    question: (isMeant = () => true) => waitFor(async () => (await waiting()).find(isMeant), "question"),
    answer: (question, outcome, more = {}) =>
      post(`approvals/${question.id}`, {
        outcome,
        ...(question.digest ? { digest: question.digest } : {}),
        ...more,
      }),
  };
}

/** @returns the text of an answer to tools/call, or its error */
export const textOf = (answer) =>
  answer.late ? "no answer" : (answer.error?.message ?? answer.result?.content?.[0]?.text ?? "");
