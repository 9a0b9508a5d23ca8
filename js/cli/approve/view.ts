/** Renders a question for `filewright approve`: its head, every file and hunk, and the chosen ones among them. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { ChangeDetails } from "../../hooks/changed-files.ts";
import { escapeForPrinting } from "../../hooks/question.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import {
  renderPart,
  renderQuestion,
  type SelectablePart,
  selectableParts,
} from "../../hooks/terminal-view.ts";
import { hasColours, type Shell, styledText, withStyle } from "../person/style.ts";
import type { ChangeQuestion } from "./server.ts";
import { hiddenWords, titleWithoutSecrets, withoutSecrets } from "./secrets.ts";
import { plural } from "../../engine/escape.ts";

/** Returns the parts of a question that can be chosen one by one; none where it is answered as one. */
export function partsOf(
  { details }: ChangeQuestion,
  changes: readonly ChangeDetails[],
): readonly SelectablePart[] {
  if (!details.scopes.some(({ outcome }) => outcome === "proceed_parts")) return [];
  const parts = selectableParts(changes);
  return parts.length > 1 ? parts : [];
}

/** The settings with which a question is rendered. */
export interface QuestionView {
  readonly colour: boolean;
  /** The maximum number of lines; of further lines only their number is shown. */
  readonly maxLines: number;
  readonly parts: readonly SelectablePart[];
  readonly chosen: ReadonlySet<number>;
  /** The parts that were not in the question that this one replaces. */
  readonly news: ReadonlySet<number>;
}

/** Renders a question about a change. `cut` is true when lines are left out. */
export function renderChange(
  { id, details }: ChangeQuestion,
  { colour, maxLines, parts, chosen, news }: QuestionView,
): { readonly text: string; readonly cut: boolean } {
  const agent = details.agent === undefined ? "" : `  by ${escapeForPrinting(details.agent)}`;
  const name = `\n${styledText(colour, "place", id.slice(0, 8))}${agent}`;
  if (parts.length === 0) {
    const { text, cut } = renderQuestion(details, { colour, maxLines });
    return { text: name + text, cut };
  }
  const { title, tool, risk, isModifying = false, complete, incomplete } = details;
  const head = renderQuestion(
    withoutUndefined({ title, tool, risk, isModifying, complete, fileDiff: "", incomplete }),
    { colour, maxLines },
  );
  const lines = parts.flatMap((part, index) =>
    partLines(part, { index, isChosen: chosen.has(index), isNew: news.has(index), colour }),
  );
  const left = lines.length - maxLines;
  const shown =
    left > 0 ? [...lines.slice(0, maxLines), styledText(colour, "faint", moreLines(left))] : lines;
  return { text: `${name}${head.text}${shown.join("\n")}\n`, cut: left > 0 };
}

const moreLines = (count: number): string => `… ${plural(count, "more line")}`;

/** The settings with which a part is rendered. */
export interface PartView {
  /** Its number, from 0. */
  readonly index: number;
  readonly isChosen: boolean;
  readonly isNew: boolean;
  readonly colour: boolean;
}

/** Returns the lines of a part, with its number and whether it is chosen. */
export function partLines(
  part: SelectablePart,
  { index, isChosen, isNew, colour }: PartView,
): readonly string[] {
  const [first = "", ...others] = renderPart(part, colour);
  const mark = `[${isChosen ? "x" : " "}] ${index + 1}`;
  return [
    `${isChosen ? styledText(colour, "strong", mark) : mark}${isNew ? " new" : ""}  ${first}`,
    ...others,
  ];
}

/** Returns a key for the content of a part. It is the same when the lines of the part have moved in the file. */
export function contentOfPart({ path, lines }: SelectablePart): string {
  return [path, ...lines.filter((line) => !line.startsWith("@@ "))].join("\n");
}

/** Returns the title of a question in one line. */
export function questionTitle(question: PendingApproval): string {
  return escapeForPrinting(
    question.kind === "directory" ? question.question : titleWithoutSecrets(question.details.title),
  );
}

/** Returns a question as text without its secrets, for a list. */
export function formatQuestion(shell: Shell, question: PendingApproval): string {
  if (question.kind === "directory")
    return `${withStyle(shell, "place", question.id.slice(0, 8))}  ${questionTitle(question)}`;
  const { question: shown, hidden } = withoutSecrets(question, []);
  const { text } = renderChange(shown, {
    colour: hasColours(shell),
    maxLines: Number.POSITIVE_INFINITY,
    parts: [],
    chosen: new Set(),
    news: new Set(),
  });
  const more = hidden === 0 ? "" : `\n${hiddenWords(hidden)}: with --watch, h shows them.`;
  return `${text.trim()}${more}`;
}
