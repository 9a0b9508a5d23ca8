/**
 * Reads the input of commands, and writes their output: lines, JSON and tables. Colour is used only on a
 * terminal.
 */
import { messageOf } from "../engine/thrown.ts";
import type { ToolResult } from "../workspace/index.ts";
import { type DiffStyle, paintDiff } from "../diff/paint.ts";
import { hasColours, type Shell, type Style, withStyle } from "./person/style.ts";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageError } from "../schema/command-line.node.ts";
import { hasTrait } from "../schema/tool-facts.ts";

/** Writes a text to standard output, with a final line feed. */
export function printText({ program }: Shell, text: string): void {
  program.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Writes an error message to standard error. */
export function printError(shell: Shell, text: string): void {
  const { stderr } = shell.program;
  stderr.write(`${withStyle(shell, "bad", text, stderr)}\n`);
}

/** Writes a value to standard output as indented JSON. */
export function printJson(shell: Shell, value: unknown): void {
  printText(shell, JSON.stringify(value, null, 2));
}

/** The names of lists in the data of results. With JSON Lines each of their items is printed on its own line. */
const LIST_FIELDS = ["matches", "entries", "counts", "files", "results", "grants", "rows"] as const;

/** Returns a value as JSON Lines: the items of its list, or else itself. What is said about the list is no line. */
export function jsonLinesOf(value: unknown): string {
  const record = (value ?? {}) as Record<string, unknown>;
  const name = LIST_FIELDS.find((list) => Array.isArray(record[list]));
  const items = Array.isArray(value) ? value : name === undefined ? [value] : (record[name] as unknown[]);
  return items.map((item) => `${JSON.stringify(item)}\n`).join("");
}

/** Writes a notice to standard error. */
export function printNote({ program }: Shell, text: string): void {
  program.stderr.write(`${text}\n`);
}

/** Returns the text of a result, in colour if it is a diff. */
export function colouredTextOf(shell: Shell, tool: string, result: ToolResult): string {
  return hasTrait(tool, "showsDiff") ? colourDiff(shell, patchText(result)) : result.text;
}

/**
 * Returns the text of a result. For a comparison this is the diff of the data, which has the line endings of
 * the files, as `git apply` needs them.
 */
function patchText({ text, data }: ToolResult): string {
  const { diff } = (data ?? {}) as { readonly diff?: unknown };
  const isDiff = text.startsWith("--- ") && typeof diff === "string";
  return isDiff ? diff.replace(/\n$/u, "") : text;
}

/** Returns the text with colours for the lines of a diff, if output is coloured. */
export function colourDiff(shell: Shell, text: string): string {
  if (!hasColours(shell)) return text;
  const painted = paintDiff(text.split("\n"), (part, one) =>
    part === undefined ? one : withStyle(shell, STYLE_BY_DIFF_STYLE[part], one),
  );
  return painted.join("\n");
}

const STYLE_BY_DIFF_STYLE: Readonly<Record<DiffStyle, Style>> = {
  file: "strong",
  hunk: "place",
  added: "good",
  addedWord: "goodWord",
  removed: "bad",
  removedWord: "badWord",
  note: "faint",
};

/** Returns the number of columns of the terminal; undefined when standard output is not a terminal. */
export function widthOfOutput({ program: { stdout } }: Shell): number | undefined {
  return stdout.isTTY === true ? stdout.columns : undefined;
}

/** Returns the length of a text in code points. Names have been escaped before. */
const codePointCount = (text: string): number => [...text].length;

/**
 * Returns the rows as lines of text, with columns as wide as their content. The last column is truncated at the width;
 * undefined for no limit.
 */
export function formatTable(rows: readonly (readonly string[])[], width: number | undefined): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.slice(0, -1).entries())
      widths[at] = Math.max(widths[at] ?? 0, codePointCount(cell));
  return rows
    .map((row) => {
      const line = row
        .map((cell, at) =>
          at === row.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - codePointCount(cell)),
        )
        .join("  ")
        .trimEnd();
      const points = [...line];
      return width === undefined || points.length <= width ? line : `${points.slice(0, width - 1).join("")}…`;
    })
    .join("\n");
}

/** Reads all of standard input as text. */
export async function readStdin({ program }: Shell): Promise<string> {
  return text(program.stdin);
}

/** Reads a file, or standard input for `-`, as text. @throws UsageError when it cannot be read */
export async function readInput(shell: Shell, name: string): Promise<string> {
  if (name === "-") return readStdin(shell);
  try {
    return await readFile(name, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read '${name}': ${messageOf(error)}`);
  }
}
