/**
 * Renders a question for a terminal. Text from files, names and models is escaped, so that no
 * content can move the cursor, hide a line or forge an answer.
 */
import { type DiffStyle, paintDiff } from "../diff/paint.ts";
import type { ChangeHunk, ConfirmedChange, HunkRow } from "./changed-files.ts";
import type { Confirmation, Outcome, Scope } from "./confirm.ts";
import { escapeForPrinting, questionLines, type ShownQuestion } from "./question.ts";
import { plural } from "../engine/escape.ts";

/** Options for rendering a question. */
export interface QuestionViewOptions {
  readonly colour: boolean;
  /** The maximum number of lines of the diff; of further lines only their number is shown. */
  readonly maxLines: number;
}

/** A key that the reviewer may press, and its meaning. */
export interface KeyChoice {
  readonly key: string;
  readonly label: string;
}

const KEY_BY_OUTCOME: Readonly<Record<Outcome, string>> = {
  proceed_once: "y",
  proceed_always: "a",
  proceed_always_tool: "t",
  proceed_always_server: "s",
  proceed_parts: "p",
  modify_with_editor: "e",
  look_again: "l",
  cancel: "n",
};

/** Returns the outcome of a key; undefined for a key that was not offered. */
export function outcomeOfKey(key: string, scopes: readonly Scope[]): Outcome | undefined {
  return scopes.find(({ outcome }) => KEY_BY_OUTCOME[outcome] === key)?.outcome;
}

/** Returns the choices of a question about a change. */
export function keyChoicesOf(scopes: readonly Scope[]): readonly KeyChoice[] {
  return scopes.map(({ outcome, label }) => ({ key: KEY_BY_OUTCOME[outcome], label }));
}

/** Renders a question: title, risk, and the diff or the arguments. `cut` is true when lines are left out. */
export function renderQuestion(
  details: Pick<Confirmation, "title" | "tool" | "risk" | "isModifying"> &
    Partial<Pick<Confirmation, "complete" | "incomplete">> &
    ShownQuestion,
  { colour, maxLines }: QuestionViewOptions,
): { readonly text: string; readonly cut: boolean } {
  const paint = makePainter(colour);
  const risk = details.risk === "high" ? paint("1;31", "high risk") : `${details.risk} risk`;
  const edited = details.isModifying === true ? ", as you changed it" : "";
  const head = `${paint("1", escapeForPrinting(details.title))} (${escapeForPrinting(details.tool)}, ${risk}${edited})`;
  const body = questionBodyLines(details, paint);
  const shown = body.slice(0, maxLines);
  const left = body.length - shown.length;
  if (details.complete === false) {
    const reason = details.incomplete ?? "it is too large";
    shown.unshift(
      escapeForPrinting(`  This does not show all of the change (${reason}): it can only be refused.`),
    );
  }
  if (left > 0) shown.push(paint("2", `… ${plural(left, "more line")}`));
  return { text: `\n${[head, ...shown].join("\n")}\n`, cut: left > 0 };
}

/** Renders the offered keys, one a line, each with its meaning. */
export function renderChoices(choices: readonly KeyChoice[], colour: boolean): string {
  const paint = makePainter(colour);
  return `${choices.map(({ key, label }) => `  ${paint("1", key)}  ${escapeForPrinting(label)}`).join("\n")}\n`;
}

type Paint = (code: string, text: string) => string;

/** Returns a function that sets a text in an ANSI code, or returns it unchanged without colour. */
function makePainter(colour: boolean): Paint {
  return colour ? (code, text) => `\u001b[${code}m${text}\u001b[0m` : (_, text) => text;
}

function questionBodyLines(question: ShownQuestion, paint: Paint): string[] {
  const lines = questionLines(question);
  const details = lines.filter(({ part }) => part === "detail").map(({ text }) => escapeForPrinting(text));
  const diff = lines.filter(({ part }) => part === "diff").map(({ text }) => text);
  return [...details, ...diffLines(diff, paint)];
}

/** A part of a change that can be accepted alone. */
export interface SelectablePart {
  /** The `path` of the change. */
  readonly path: string;
  /** The accepted hunks: one, or all hunks of a change that can only be made as one. */
  readonly hunks: readonly number[];
  /** The lines that show it: one with the path and, where it has text, those of a diff. */
  readonly lines: readonly string[];
}

/** Returns the parts of a change that can be accepted one by one. */
export function selectableParts(changes: readonly ConfirmedChange[]): readonly SelectablePart[] {
  return changes.flatMap((change): SelectablePart[] => {
    const { path, hunks, whole } = change;
    const shown = hunks.map((hunk) => (hunk.rows.length === 0 ? [] : hunkLines(hunk)));
    const head = changes.length > 1 || whole ? headLines(change) : [];
    if (whole) return [{ path, hunks: hunks.map((_, index) => index), lines: [...head, ...shown.flat()] }];
    return shown.map((lines, index) => ({ path, hunks: [index], lines: [...head, ...lines] }));
  });
}

/** Returns the hunks of parts by the paths of their changes, in their order. */
export function hunksByPath(parts: readonly SelectablePart[]): ReadonlyMap<string, readonly number[]> {
  const byPath = new Map<string, readonly number[]>();
  for (const { path, hunks } of parts) byPath.set(path, [...(byPath.get(path) ?? []), ...hunks]);
  return byPath;
}

/** Returns the line that names a change, and one for each content that is not text. */
function headLines({ kind, type, display, from, mode, binary }: ConfirmedChange): readonly string[] {
  const what = type === "file" ? kind : `${kind} ${type}`;
  const place = from === undefined ? display : `${from} -> ${display}`;
  const contents = (["before", "after"] as const).flatMap((side) => {
    const content = binary?.[side];
    return content ? [`  ${side}: ${plural(content.size, "byte")}, ${content.hash}`] : [];
  });
  return [`${what} ${place}${mode === undefined ? "" : ` (mode ${mode})`}`, ...contents];
}

/** Returns the lines of a hunk as a diff has them. CR is shown where lines of the hunk have different ends. */
function hunkLines({ oldStart, oldLines, newStart, newLines, rows }: ChangeHunk): readonly string[] {
  const side = (start: number, count: number): string => (count === 1 ? `${start}` : `${start},${count}`);
  const isMixed = rows.some(({ end }) => end === "\r\n") && rows.some(({ end }) => end === "\n");
  return [
    `@@ -${side(oldStart, oldLines)} +${side(newStart, newLines)} @@`,
    ...rows.flatMap(({ kind, text, end }) => [
      `${MARK_BY_ROW_KIND[kind]}${text}${isMixed && end === "\r\n" ? "\r" : ""}`,
      ...(end === "" ? ["\\ No newline at end of file"] : []),
    ]),
  ];
}

const MARK_BY_ROW_KIND: Readonly<Record<HunkRow["kind"], string>> = { same: " ", removed: "-", added: "+" };

/** Returns the lines of a part of a change as the terminal shows them. */
export function renderPart({ lines }: SelectablePart, colour: boolean): readonly string[] {
  return diffLines(lines, makePainter(colour));
}

/** Returns the lines of a diff as the terminal shows them: escaped, and painted. */
function diffLines(lines: readonly string[], paint: Paint): readonly string[] {
  return paintDiff(lines, (part, text) => {
    const shown = escapeForPrinting(text);
    return part === undefined ? shown : paint(ANSI_CODE_BY_DIFF_STYLE[part], shown);
  });
}

/** The codes of the parts of a diff; a changed word is in reverse video too. */
const ANSI_CODE_BY_DIFF_STYLE: Readonly<Record<DiffStyle, string>> = {
  file: "1",
  hunk: "36",
  added: "32",
  addedWord: "32;7",
  removed: "31",
  removedWord: "31;7",
  note: "2",
};
