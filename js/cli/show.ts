/**
 * Makes the calls of a command line, prints their results as they come, and returns the exit status. Results alone go
 * to standard output; notes and errors go to standard error.
 */
import type { ToolResult } from "../workspace/index.ts";
import { escapeControls } from "../engine/escape.ts";
import { type Command, type PathResult, EXIT_STATUS, type SearchOutcome } from "./command.ts";
import { Output } from "./output.ts";
import { budgetOf, pagesOf, type ResultBudget, type RunCall, wholeResult } from "./pages.ts";
import { callInTurn, isCancelled, nothingFoundIn } from "./several-paths.ts";
import { printError, printJson, jsonLinesOf, printNote, colouredTextOf } from "./streams.ts";
import type { ParsedCommandLine } from "../schema/command-line.node.ts";
import { type OutputForm, withStyle } from "./person/style.ts";

/** A call of a command line that is not made yet; its path is empty where the command takes only one. */
export type PathCall = Omit<PathResult, "result">;

/** A command line whose calls are made and printed. */
export interface ShownCalls {
  readonly command: Command;
  readonly parsed: ParsedCommandLine;
  readonly form: OutputForm;
  readonly run: RunCall;
}

/** Makes calls and prints their results. Returns the exit status. */
export async function printCalls(shown: ShownCalls, calls: readonly PathCall[]): Promise<number> {
  const { values } = shown.parsed;
  if (values["json"] === true && values["jsonl"] !== true && values["quiet"] !== true)
    return printAsJson(shown, calls);
  return new CallPrinter(shown, calls).print();
}

/** Prints whole results as JSON: one, or a list of those of several paths. */
async function printAsJson(
  { command, form: { shell }, run }: ShownCalls,
  calls: readonly PathCall[],
): Promise<number> {
  const whole: RunCall = (call) => wholeResult(call, run);
  const merge = calls.length > 1 ? (command.several?.merge ?? callInTurn) : callInTurn;
  const results = await merge(calls, whole);
  if (calls.length > 1 && command.several?.merge === undefined) {
    printJson(
      shell,
      results.map(({ result }) => result),
    );
    return results.every(({ result }) => result.ok) ? EXIT_STATUS.ok : EXIT_STATUS.error;
  }
  // If all calls failed, the first failure is printed as the result, so that a script gets JSON.
  const [shown = results[0] as PathResult] = results.filter(({ result }) => result.ok);
  printJson(shell, shown.result);
  const failed = results.filter((one) => one !== shown);
  for (const { result } of failed) printError(shell, result.text);
  return failed.length > 0 ? EXIT_STATUS.error : STATUS_BY_OUTCOME[outcomeOf(command, shown.result)];
}

const outcomeOf = (command: Command, result: ToolResult): SearchOutcome =>
  result.ok ? (command.outcome?.(result.data) ?? "found") : "unknown";

const STATUS_BY_OUTCOME: Readonly<Record<SearchOutcome, number>> = {
  found: EXIT_STATUS.ok,
  same: EXIT_STATUS.ok,
  nothing: EXIT_STATUS.nothing,
  differs: EXIT_STATUS.nothing,
  unknown: EXIT_STATUS.error,
};

/** Returns true when there is something to print. */
const hasResults = (outcome: SearchOutcome): boolean => outcome === "found" || outcome === "differs";

/** Prints the results of calls as text or as JSON Lines, a page at a time. */
class CallPrinter {
  readonly #shown: ShownCalls;
  readonly #calls: readonly PathCall[];
  readonly #output: Output;
  readonly #isQuiet: boolean;
  readonly #isLines: boolean;
  readonly #notes = new Set<string>();
  /** The results without a match, from which a sentence about them is made. */
  readonly #empty: PathResult[] = [];
  readonly #failures: ToolResult[] = [];
  #outcome: SearchOutcome = "nothing";
  #succeeded = 0;

  constructor(shown: ShownCalls, calls: readonly PathCall[]) {
    const { command, form, parsed } = shown;
    this.#shown = shown;
    this.#calls = calls;
    this.#isQuiet = parsed.values["quiet"] === true;
    this.#isLines = parsed.values["jsonl"] === true;
    this.#output = new Output(form.shell, form.pager && command.pages === true && !this.#isLines);
  }

  async print(): Promise<number> {
    const { merge } = this.#shown.command.several ?? {};
    const [first] = this.#calls as [PathCall];
    const shared = merge === undefined ? undefined : budgetOf(first.call);
    for (const one of this.#calls) {
      if (shared !== undefined && shared.left <= 0) break;
      const isOver = await this.#printPath(one, shared);
      if (isOver || this.#output.isClosed) break;
    }
    await this.#output.end();
    this.#tellRest();
    const isAnswered = this.#isQuiet && this.#outcome === "found";
    return this.#failures.length > 0 && !isAnswered ? EXIT_STATUS.error : STATUS_BY_OUTCOME[this.#outcome];
  }

  /** Prints all pages of one path. Returns true when no further path is wanted. */
  async #printPath({ path, call }: PathCall, budget: ResultBudget | undefined): Promise<boolean> {
    const { command, form, parsed, run } = this.#shown;
    const isHeaded = this.#calls.length > 1 && command.several?.merge === undefined && !this.#isLines;
    const models = command.speaksToModels === true;
    const rows = models ? undefined : call.rows?.(call.args, form, parsed.values["long"] === true);
    let isBegun = false;
    for await (const result of pagesOf(call, run, budget ?? budgetOf(call))) {
      if (!result.ok) {
        this.#failures.push(result);
        return isCancelled(result);
      }
      const outcome = outcomeOf(command, result);
      if (this.#outcome !== "found" && outcome !== "nothing") this.#outcome = outcome;
      if (!hasResults(outcome)) this.#empty.push({ path, call, result });
      if (!models && hasResults(outcome)) this.#note(result);
      if (isHeaded && !isBegun) await this.#output.write(this.#heading(path));
      isBegun = true;
      if (!this.#isQuiet) await this.#output.write(this.#textOf(call.tool, result, rows));
      if ((this.#isQuiet && outcome === "found") || this.#output.isClosed) return true;
    }
    this.#succeeded += 1;
    return false;
  }

  #heading(path: string): string {
    const before = this.#succeeded === 0 ? "" : "\n";
    return `${before}${withStyle(this.#shown.form.shell, "path", escapeControls(path))}:\n`;
  }

  #textOf(tool: string, result: ToolResult, rows: ((data: unknown) => string) | undefined): string {
    const { command, form } = this.#shown;
    const { shell } = form;
    if (this.#isLines) return jsonLinesOf(result.data);
    if (command.speaksToModels === true) return `${result.text}\n`;
    if (!hasResults(outcomeOf(command, result))) return "";
    if (rows !== undefined && !hasPicture(result.data)) return rows(result.data);
    const text = colouredTextOf(shell, tool, withoutNotes(result));
    return text.endsWith("\n") ? text : `${text}\n`;
  }

  /** Remembers the notes of a result, for standard error. */
  #note({ data }: ToolResult): void {
    for (const note of notesOf(data)) this.#notes.add(note);
    const { limit } = this.#shown.parsed.values;
    const { truncated, next_cursor: next, total, files } = (data ?? {}) as Record<string, unknown>;
    if (truncated === true && next === undefined && limit === undefined && typeof total === "number")
      this.#notes.add(
        `${(files as unknown[] | undefined)?.length ?? "some"} of ${total}; --limit shows more`,
      );
  }

  #tellRest(): void {
    const { command, form } = this.#shown;
    const { shell } = form;
    const [first] = this.#failures;
    const isAllFailed = this.#succeeded === 0 && first !== undefined;
    for (const failure of this.#failures)
      if (this.#isLines && isAllFailed && failure === first && !this.#isQuiet)
        shell.program.stdout.write(jsonLinesOf(failure));
      else printError(shell, failure.text);
    if (this.#isQuiet) return;
    if (!hasResults(this.#outcome) && this.#empty.length > 0 && command.outcome !== undefined)
      printNote(shell, nothingFoundIn(command, this.#empty));
    for (const note of this.#notes) printNote(shell, `[${note}]`);
  }
}

/** Returns true for a picture, of which its text tells. */
function hasPicture(data: unknown): boolean {
  return (data as { readonly image?: unknown } | undefined)?.image !== undefined;
}

/** Returns the notes of the data of a result: its warnings, and the paths that were left out. */
function notesOf(data: unknown): readonly string[] {
  const {
    warnings = [],
    warning,
    skipped = [],
  } = (data ?? {}) as {
    readonly warnings?: readonly string[];
    readonly warning?: string;
    readonly skipped?: readonly { readonly path: string; readonly reason: string; readonly code?: string }[];
  };
  return [
    ...warnings,
    ...[warning].filter((note) => note !== undefined),
    ...skipped.map(({ path, reason, code }) =>
      code === "GRANT_DENIED"
        ? `${escapeControls(path)} holds secrets; add --secrets to print it`
        : `${escapeControls(path)}: ${reason}`,
    ),
    ...emptinessOf((data ?? {}) as Parameters<typeof emptinessOf>[0]),
  ];
}

/** Returns why there is nothing to print of a directory or a file. */
function emptinessOf({
  path = "",
  entries,
  total,
  lines_read: read,
  total_lines: lines,
}: {
  readonly path?: string;
  readonly entries?: readonly unknown[];
  readonly total?: number;
  readonly lines_read?: number;
  readonly total_lines?: number | null;
}): readonly string[] {
  const shown = escapeControls(path);
  if (entries?.length === 0 && total === 0) return [`${shown} is empty`];
  if (read !== 0 || typeof lines !== "number") return [];
  if (lines === 0) return [`${shown} is empty`];
  return [`nothing to print: ${shown} has ${lines === 1 ? "1 line" : `${lines} lines`}`];
}

/** Returns a result without the notes at the end of its text, which are printed apart. */
function withoutNotes(result: ToolResult): ToolResult {
  let { text } = result;
  for (const note of notesOf(result.data).toReversed())
    if (text.endsWith(`\n[${note}]`)) text = text.slice(0, -`\n[${note}]`.length);
  return { ...result, text };
}
