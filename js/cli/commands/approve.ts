/** `filewright approve`: lists the questions that wait at a server, and answers them. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import type { Program } from "../../mcp/program.ts";
import { DEFAULT_PORT } from "../../mcp/command.ts";
import { pageServer } from "../approve/page-server.ts";
import {
  type ApprovalServer,
  personOf,
  queueServer,
  type TerminalAnswer,
  type WaitingQuestion,
} from "../approve/server.ts";
import { formatQuestion, questionTitle } from "../approve/view.ts";
import { printQuestions, watchAtTerminal } from "../approve/watch.ts";
import { whyNotAnswered } from "../approve/words.ts";
import { type ApproverConnection, connectApprover } from "../approver-requests.ts";
import { type Command, EXIT_STATUS } from "../command.ts";
import type { Shell } from "../person/style.ts";
import { tryRunningPages } from "../running-pages.ts";
import { printText, printJson } from "../streams.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";

/** The command `runApprove`. */
export const APPROVE_COMMAND: Command = {
  name: "approve",
  summary: "answer the questions of a server that waits for approvals",
  usage: "filewright approve [ID | all | --watch] [--refuse [--reason TEXT]] [--url URL] [--token-file FILE]",
  about:
    "Without ID it lists the waiting changes with their diffs. With ID (or its beginning) it allows the change once, or refuses it. With --watch it asks each one by keys, as the review page does: some of its hunks can be allowed, and later calls too. The server must have been started with --review (filewright mcp or serve) or with filewright serve --approve. Without --url the questions of all servers on the review page of this machine are asked.",
  help: [
    ["--watch", "ask each question at this terminal as it comes; with --json print it as a line"],
    ["--refuse", "refuse instead of allowing"],
    ["--reason TEXT", "the reason, for the model"],
    [
      "--url URL",
      `the address of the server or of the page (default: the review page, else http://127.0.0.1:${DEFAULT_PORT})`,
    ],
    [
      "--token-file FILE",
      "the token for approvals, which differs from that of the clients; default: FILEWRIGHT_APPROVE_TOKEN, or the key of this user in the state directory",
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

async function runApprove({ positionals, values }: ParsedCommandLine, shell: Shell): Promise<number> {
  const { program } = shell;
  const isJson = values["json"] === true;
  if (values["watch"] === true) {
    if (positionals.length > 0) throw new UsageError("--watch takes no id: it waits for what comes");
    if (!isJson && (program.stdin.isTTY !== true || program.stdout.isTTY !== true))
      throw new UsageError(
        "--watch asks at a terminal, and there is none; with --json it prints each question as a line, which filewright approve ID answers",
      );
    const { server } = await findServer(values, program);
    await (isJson ? printQuestions(server, shell) : watchAtTerminal(server, shell));
    return EXIT_STATUS.ok;
  }
  const { server, waiting } = await findServer(values, program);
  const wanted = positionals[0];
  const load = async (some: readonly { readonly id: string }[]): Promise<readonly PendingApproval[]> => {
    const found = await Promise.all(some.map(({ id }) => server.question(id)));
    return found.filter((question) => question !== undefined);
  };
  if (wanted === undefined) {
    const pending = await load(waiting);
    if (isJson) printJson(shell, pending);
    else
      printText(
        shell,
        pending.map((question) => formatQuestion(shell, question)).join("\n\n") || "Nothing waits.",
      );
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
    const result = await server.answer(question, [], answerOf(refuse, values["reason"]));
    if (result.result !== "answered")
      throw new FilewrightError(
        result.result === "withdrawn" || result.result === "unknown" ? "NOT_FOUND" : "CONFLICT",
        whyNotAnswered(result),
        { complete: true },
      );
    printText(
      shell,
      `${refuse ? "Refused" : "Allowed"} ${question.id.slice(0, 8)}  ${questionTitle(question)}`,
    );
  }
  return 0;
}

/** A server with the questions that wait there. */
interface FoundServer {
  readonly server: ApprovalServer;
  readonly waiting: readonly WaitingQuestion[];
}

/**
 * Returns the server of the given address, or the review page of this person, or else the server of the default port.
 * @throws FilewrightError when none can be reached, or the token is not the one for it
 */
async function findServer(values: ParsedCommandLine["values"], program: Program): Promise<FoundServer> {
  const { url } = values;
  const found = async (server: ApprovalServer): Promise<FoundServer> => ({
    server,
    waiting: await server.waiting(),
  });
  const person = personOf(program);
  const connect = (base: string, area: "review" | "approvals"): ApproverConnection =>
    connectApprover(base, area, { values, program });
  const page = async (base: string): Promise<FoundServer> =>
    found(pageServer(connect(base, "review"), person));
  const queue = async (base: string): Promise<FoundServer> =>
    found(queueServer(connect(base, "approvals"), connect(base, "review"), person));
  if (url === undefined)
    return tryRunningPages(
      async (base, isPage) => (isPage ? page(base) : queue(base)),
      "No server that asks for approvals runs on this machine. Start one with filewright mcp --review or filewright serve --approve, or name its address with --url.",
    );
  const base = String(url);
  if (!URL.canParse(base)) throw new UsageError(`'${base}' is no URL`);
  try {
    return await queue(base);
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "NOT_FOUND") throw error;
    // The page of several servers has no queue of its own.
    return page(base).catch((reason: unknown) => {
      throw reason instanceof FilewrightError && reason.code === "NOT_FOUND" ? error : reason;
    });
  }
}

/** Returns the answer that allows a question once, or refuses it. */
function answerOf(refuse: boolean, reason: unknown): TerminalAnswer {
  if (!refuse) return { outcome: "allow" };
  return withoutUndefined({ outcome: "refuse", reason: typeof reason === "string" ? reason : undefined });
}
