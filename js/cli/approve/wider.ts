/** Asks for a wider answer at the terminal: one that also allows later calls, in the words of the review page. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { ReadStream, WriteStream } from "node:tty";
import { escapeForPrinting } from "../../hooks/question.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import { readAnyKey, readLine } from "../../hooks/terminal/keys.node.ts";
import { widerOfferOf } from "../../review/questions/wider.ts";
import {
  coveredSentence,
  END_WORDS,
  endsOf,
  narrowestDraft,
  PLACE_WORDS,
  sentenceOf,
  type WidenableQuestion,
  type WiderDraft,
  type Widening,
  wideningOfDraft,
} from "../../review/questions/wider-draft.ts";
import type { ApprovalServer } from "./server.ts";

/** Where a wider answer is asked for. */
interface WiderHost {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly server: ApprovalServer;
  /** Fires when the question does not wait any more. */
  readonly signal: AbortSignal;
}

/** Returns the scope that the person allows beyond this call; undefined for none. @throws the reason of `signal` */
export async function askWider(
  pending: PendingApproval,
  { input, output, server, signal }: WiderHost,
): Promise<Widening | undefined> {
  const say = (line: string): void => void output.write(`${line}\n`);
  // What a scope covers is compiled by the engine, which the other answers do not need.
  await (await import("../../engine/index.node.ts")).ready();
  const question = widenableOf(pending);
  if (question === undefined) {
    say("This can only be allowed once.");
    return undefined;
  }
  let draft = narrowestDraft(question, Date.now());
  say("Allow, and allow later calls too");
  for (;;) {
    const widening = wideningOfDraft(question, draft, Date.now());
    for (const line of choiceLines(question, draft)) say(line);
    say(
      widening === undefined ? "The time is in the past." : escapeForPrinting(sentenceOf(question, widening)),
    );
    if (widening !== undefined && "wider" in widening) {
      const count = await server.covered(pending.id, widening.wider);
      say(
        count === undefined
          ? "How many calls it would have covered is not known: this server has no review page."
          : coveredSentence(count),
      );
    }
    output.write("Allow and remember? [y, Esc to go back, or a letter above] ");
    const key = await readAnyKey(input, signal);
    output.write(key === undefined || key < " " ? "\n" : `${key}\n`);
    if (key === undefined || END_KEYS.has(key)) return undefined;
    if (key === "y" && widening !== undefined) return widening;
    draft = key === "t" ? await withTime(draft, { input, output, signal }) : changed(question, draft, key);
  }
}

/** The keys that go back: Ctrl-C, Ctrl-D, Escape and those of the question. */
const END_KEYS: ReadonlySet<string> = new Set(["\u0003", "\u0004", "\u001b", "q", "n"]);

/** Returns a question as the choices need it; undefined for one that offers no wider answer. */
function widenableOf(pending: PendingApproval): WidenableQuestion | undefined {
  if (pending.kind === "directory") return pending;
  const { tool, agent } = pending.details;
  const wider = widerOfferOf(pending.details);
  return wider && withoutUndefined({ kind: "change", tool, wider, agent });
}

/** Returns a line for each choice, with the key that changes it. */
function choiceLines(question: WidenableQuestion, draft: WiderDraft): readonly string[] {
  const end =
    draft.end === "time" ? `until ${draft.time.replace("T", " ")} (t: another time)` : END_WORDS[draft.end];
  const forLine = `  f  for  ${end}`;
  if (question.kind === "directory")
    return [`  c  access  ${draft.access === "read" ? "read" : "read and write"}`, forLine];
  const { places = [], files = [] } = question.wider ?? {};
  const isSeveral = draft.place === "files" && files.length > 1;
  return [
    ...(places.length > 1 ? [`  o  on   ${isSeveral ? "these files" : PLACE_WORDS[draft.place]}`] : []),
    ...(question.agent === undefined
      ? []
      : [`  b  by   ${draft.isAgentOnly ? `only ${escapeForPrinting(question.agent)}` : "any agent"}`]),
    forLine,
  ];
}

/** Returns the choices after a key; the same ones for a key that changes nothing. */
function changed(question: WidenableQuestion, draft: WiderDraft, key: string): WiderDraft {
  switch (key) {
    case "f":
      return { ...draft, end: after(endsOf(question), draft.end) };
    case "c":
      return { ...draft, access: draft.access === "read" ? "write" : "read" };
    case "b":
      return { ...draft, isAgentOnly: !draft.isAgentOnly && question.agent !== undefined };
    case "o":
      return question.kind === "change"
        ? { ...draft, place: after(question.wider?.places ?? [draft.place], draft.place) }
        : draft;
    default:
      return draft;
  }
}

/** Returns the item after one, and the first after the last. */
function after<T>(items: readonly T[], item: T): T {
  return items[(items.indexOf(item) + 1) % items.length] ?? item;
}

/** Asks for the time at which the answer ends. */
async function withTime(
  draft: WiderDraft,
  { input, output, signal }: Pick<WiderHost, "input" | "output" | "signal">,
): Promise<WiderDraft> {
  output.write(`Until (such as ${draft.time.replace("T", " ")}): `);
  const line = (await readLine(input, output, signal))?.trim().replace(" ", "T");
  if (line === undefined || line === "") return draft;
  if (!Number.isNaN(Date.parse(line))) return { ...draft, end: "time", time: line };
  output.write("This is no time.\n");
  return draft;
}
