/** `filewright approve`: lists the questions that wait at a server, and answers them. */
import process from "node:process";
import { createInterface, type Interface } from "node:readline/promises";
import { setTimeout } from "node:timers/promises";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { ApprovalSummary, PendingApproval } from "../../hooks/queue/summary.ts";
import { escapeForPrinting, questionLines } from "../../hooks/question.ts";
import { DEFAULT_PORT } from "../../mcp/command.ts";
import { approverTokenFor, requestJson } from "../approver-requests.ts";
import { type Command, FLAG_OPTION, VALUE_OPTION, EXIT_STATUS } from "../command.ts";
import { colourDiff, printText, printJson } from "../streams.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";
import { withStyle } from "../person/style.ts";

/** The command `runApprove`. */
export const APPROVE_COMMAND: Command = {
  name: "approve",
  summary: "answer the questions of a server that waits for approvals",
  usage: "filewright approve [ID | all | --watch] [--refuse [--reason TEXT]] [--url URL] [--token-file FILE]",
  about:
    "Without ID it lists the waiting changes with their diffs. With ID (or its beginning) it allows the change once, or refuses it. The server must have been started with filewright serve --approve or --review.",
  options: {
    url: VALUE_OPTION,
    "token-file": VALUE_OPTION,
    refuse: FLAG_OPTION,
    reason: VALUE_OPTION,
    watch: FLAG_OPTION,
  },
  help: [
    ["--watch", "wait for questions until Ctrl-C: asks each one at a terminal, otherwise prints it"],
    ["--refuse", "refuse instead of allowing"],
    ["--reason TEXT", "the reason, for the model"],
    ["--url URL", `the address of the server (http://127.0.0.1:${DEFAULT_PORT})`],
    [
      "--token-file FILE",
      "the token for approvals, which differs from that of the clients; default: FILEWRIGHT_APPROVE_TOKEN, or the file that the server wrote",
    ],
  ],
  examples: [
    ["filewright approve", "the waiting changes"],
    ["filewright approve --watch", "answer each change as it comes"],
    ["filewright approve 3fa9", "allow the change whose id begins with this"],
    [`filewright approve all --refuse --reason "not today"`, "refuse everything"],
  ],
  takes: [0, 1],
  run: runApprove,
};

async function runApprove({ positionals, values }: ParsedCommandLine): Promise<number> {
  const base = String(values["url"] ?? `http://127.0.0.1:${DEFAULT_PORT}`);
  if (!URL.canParse(base)) throw new UsageError(`'${base}' is no URL`);
  const headers = { authorization: `Bearer ${approverTokenFor(base, values)}` };
  const at = new URL("/approvals", base);
  if (values["watch"] === true) {
    if (positionals.length > 0) throw new UsageError("--watch takes no id: it waits for what comes");
    await watchQuestions(at, headers, values["json"] === true);
    return EXIT_STATUS.ok;
  }
  const waiting = await requestWaiting(at, headers);
  const wanted = positionals[0];
  const load = async (some: readonly ApprovalSummary[]): Promise<readonly PendingApproval[]> => {
    const found = await Promise.all(some.map(({ id }) => requestQuestion(id, at, headers)));
    return found.filter((question) => question !== undefined);
  };
  if (wanted === undefined) {
    const pending = await load(waiting);
    if (values["json"] === true) printJson(pending);
    else printText(pending.map(formatQuestion).join("\n\n") || "Nothing waits.");
    return 0;
  }
  const chosen = wanted === "all" ? waiting : waiting.filter(({ id }) => id.startsWith(wanted));
  if (chosen.length === 0 && wanted !== "all") {
    const message = `Nothing waits whose id begins with '${escapeControls(wanted)}'.`;
    throw new FilewrightError("NOT_FOUND", message, { complete: true });
  }
  if (chosen.length > 1 && wanted !== "all")
    throw new UsageError(`several ids begin with '${wanted}'; give more of it`);
  const refuse = values["refuse"] === true;
  for (const question of await load(chosen)) {
    const body = JSON.stringify(replyToQuestion(question, refuse, values["reason"]));
    await requestJson(new URL(`/approvals/${question.id}`, base), { method: "POST", headers, body });
    printText(`${refuse ? "Refused" : "Allowed"} ${question.id.slice(0, 8)}  ${questionTitle(question)}`);
  }
  return 0;
}

/** Returns the summaries of the waiting questions. */
async function requestWaiting(at: URL, headers: Record<string, string>): Promise<readonly ApprovalSummary[]> {
  const { pending } = (await requestJson(at, { headers })) as {
    readonly pending: readonly ApprovalSummary[];
  };
  return pending;
}

/** Returns a whole question; undefined when it does not wait any more. */
async function requestQuestion(
  id: string,
  at: URL,
  headers: Record<string, string>,
): Promise<PendingApproval | undefined> {
  try {
    return (await requestJson(new URL(`/approvals/${id}`, at), { headers })) as PendingApproval;
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

/** The interval in milliseconds at which the server is asked for new questions. */
const POLL_INTERVAL_MS = 500;

/**
 * Prints each new question once, and asks for the answer if there is a terminal. Runs until Ctrl-C is
 * pressed.
 */
async function watchQuestions(at: URL, headers: Record<string, string>, json: boolean): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort()).once("SIGTERM", () => stop.abort());
  const asks = process.stdin.isTTY === true && process.stdout.isTTY === true && !json;
  const lines = asks ? createInterface({ input: process.stdin, output: process.stdout }) : undefined;
  lines?.once("close", () => stop.abort());
  if (!json) process.stderr.write(`Waiting for questions of ${at.origin}; Ctrl-C ends.\n`);
  const seen = new Set<string>();
  try {
    while (!stop.signal.aborted) {
      for (const { id } of await requestWaiting(at, headers)) {
        if (seen.has(id)) continue;
        seen.add(id);
        const question = await requestQuestion(id, at, headers);
        if (question === undefined) continue;
        // Rings the terminal's bell for a person who looks at another window.
        if (lines !== undefined) process.stderr.write("\u0007");
        printText(json ? JSON.stringify(question) : formatQuestion(question));
        if (lines !== undefined)
          await askAndAnswer(question, lines, at, headers, stop.signal).catch(printIfLate);
      }
      await setTimeout(POLL_INTERVAL_MS, undefined, { signal: stop.signal });
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    lines?.close();
  }
}

/** Prints that an answer came too late, which does not end the watch. @throws any other error */
function printIfLate(error: unknown): void {
  if (!(error instanceof FilewrightError) || (error.code !== "CONFLICT" && error.code !== "NOT_FOUND"))
    throw error;
  printText(error.message);
}

/** Asks the person at the terminal for the answer to a question, and sends it to the server. */
async function askAndAnswer(
  question: PendingApproval,
  lines: Interface,
  at: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const said = (await lines.question("Allow this? [y]es, [n]o, [l]ater: ", { signal }))
      .trim()
      .toLowerCase();
    if (said === "l" || said === "later") return;
    const allowed = said === "y" || said === "yes";
    if (!allowed && said !== "n" && said !== "no") continue;
    const reason = allowed ? "" : await lines.question("Why not? (for the model; may be empty) ", { signal });
    const body = JSON.stringify(
      replyToQuestion(question, !allowed, reason.trim() === "" ? undefined : reason.trim()),
    );
    await requestJson(new URL(`/approvals/${question.id}`, at), { method: "POST", headers, body });
    printText(`${allowed ? "Allowed" : "Refused"} ${question.id.slice(0, 8)}  ${questionTitle(question)}`);
    return;
  }
}

function replyToQuestion(
  question: PendingApproval,
  refuse: boolean,
  reason: unknown,
): Record<string, unknown> {
  if (question.kind === "directory") return { answer: refuse ? "no" : "yes" };
  const payload = {
    by: process.env["USER"] ?? "command line",
    digest: question.details.digest,
    ...(typeof reason === "string" ? { reason } : {}),
  };
  return { outcome: refuse ? "cancel" : "proceed_once", payload };
}

function questionTitle(question: PendingApproval): string {
  return escapeControls(question.kind === "directory" ? question.question : question.details.title);
}

function formatQuestion(question: PendingApproval): string {
  const head = `${withStyle("place", question.id.slice(0, 8))}  ${questionTitle(question)}`;
  if (question.kind === "directory") return head;
  const { risk, fileDiff, complete, incomplete } = question.details;
  const lines = questionLines(question.details);
  const details = lines.filter(({ part }) => part === "detail").map(({ text }) => escapeForPrinting(text));
  const isDiff = lines.length > details.length;
  return [
    `${head}  (risk: ${risk})`,
    ...(complete ? [] : [`  This does not show all of the change (${incomplete}): it can only be refused.`]),
    ...details,
    ...(isDiff ? [colourDiff(fileDiff.split("\n").map(escapeForPrinting).join("\n"))] : []),
  ].join("\n");
}
