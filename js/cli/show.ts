/**
 * Prints the result of a call in the requested form, and returns the exit status. Output that is longer than
 * the screen is shown in a pager, as git does.
 */
import type { ToolResult } from "../workspace/index.ts";
import { escapeControls } from "../engine/escape.ts";
import { type Command, type PathResult, type ToolCall, EXIT_STATUS } from "./command.ts";
import { printText, printError, printJson, printJsonLines, printNote, colouredTextOf } from "./streams.ts";
import type { ParsedCommandLine } from "../schema/command-line.node.ts";
import { type OutputForm, type Shell, withStyle } from "./person/style.ts";
import { personalText } from "./person/view.ts";
import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

/**
 * Prints the results for several paths: one merged result, or each below its path. Failures are printed to
 * standard error and make the exit status that of an error. With `--json` separate results are printed as a
 * list.
 */
export async function printPathResults(
  command: Command,
  results: readonly PathResult[],
  parsed: ParsedCommandLine,
  form: OutputForm,
): Promise<number> {
  const isMerged = command.several?.merge !== undefined;
  if (!isMerged && parsed.values["json"] === true && parsed.values["jsonl"] !== true) {
    printJson(
      form.shell,
      results.map(({ result }) => result),
    );
    return results.every(({ result }) => result.ok) ? EXIT_STATUS.ok : EXIT_STATUS.error;
  }
  const succeeded = results.filter(({ result }) => result.ok);
  // If all calls failed, the first failure is printed as the result, so that a script that reads JSON gets
  // it.
  const shown = succeeded.length === 0 ? results.slice(0, 1) : succeeded;
  const failed = results.filter((one) => !shown.includes(one));
  let status: number = EXIT_STATUS.ok;
  for (const [index, { path, call, result }] of shown.entries()) {
    if (result.ok && !isMerged && parsed.values["jsonl"] !== true)
      printText(
        form.shell,
        `${index === 0 ? "" : "\n"}${withStyle(form.shell, "path", escapeControls(path))}:`,
      );
    status = Math.max(
      status,
      await printResult(command, call, result, parsed, { ...form, pager: form.pager && isMerged }),
    );
  }
  for (const { result } of failed) printError(form.shell, result.text);
  const isAnswered = parsed.values["quiet"] === true && status === EXIT_STATUS.ok;
  return failed.length > 0 && !isAnswered ? EXIT_STATUS.error : status;
}

/** Prints a result, and returns the exit status. */
export async function printResult(
  command: Command,
  call: ToolCall,
  result: ToolResult,
  { values }: ParsedCommandLine,
  form: OutputForm,
): Promise<number> {
  const { shell } = form;
  const outcome = result.ok ? (command.outcome?.(result.data) ?? "found") : "unknown";
  if (values["quiet"] === true) {
    if (!result.ok) printError(shell, result.text);
  } else if (values["jsonl"] === true) printJsonLines(shell, result.ok ? result.data : result);
  else if (values["json"] === true) printJson(shell, result);
  else if (!result.ok) printError(shell, result.text);
  // A notice that nothing was found is for people, so it does not appear among results that a script reads.
  else if (outcome !== "found") printNote(shell, result.text);
  else {
    const text =
      ((form.person || values["long"] === true) && command.speaksToModels !== true
        ? personalText(call, result, form)
        : undefined) ?? colouredTextOf(shell, call.tool, result);
    if (!(form.pager && command.pages === true && (await showInPager(shell, text)))) printText(shell, text);
  }
  return outcome === "found"
    ? EXIT_STATUS.ok
    : outcome === "nothing"
      ? EXIT_STATUS.nothing
      : EXIT_STATUS.error;
}

/**
 * The pager without `PAGER`. -F ends it at once when the text fits on the screen, -R shows colours, -X leaves
 * the text on the screen.
 */
const DEFAULT_PAGER = "less -FRX";
/** The exit status with which a shell reports an unknown command. */
const UNKNOWN_COMMAND_STATUS = 127;

/**
 * Shows a text in the pager. Returns false, and shows nothing, when the text fits on the screen or there is
 * no pager.
 */
export async function showInPager({ program }: Shell, text: string): Promise<boolean> {
  const { rows = 24, columns = 80 } = program.stdout;
  if (screenRowsOf(text, columns) < rows) return false;
  const wanted = program.env["PAGER"] ?? DEFAULT_PAGER;
  if (wanted.trim() === "" || wanted.trim() === "cat") return false;
  return new Promise<boolean>((resolve) => {
    // PAGER is the user's own setting and may contain arguments, so it is run by a shell, as other programs
    // do.
    const child = spawn(wanted, {
      shell: true,
      stdio: ["pipe", "inherit", "ignore"],
      env: { ...program.env, LESS: program.env["LESS"] ?? "FRX" },
    });
    // Ctrl-C is meant for the pager while it runs.
    const ignore = (): void => {};
    program.on("SIGINT", ignore);
    const end = (shown: boolean): void => {
      program.off("SIGINT", ignore);
      resolve(shown);
    };
    child.once("error", () => end(false));
    child.once("close", (status) => end(status !== UNKNOWN_COMMAND_STATUS));
    // The person may close the pager before the whole text is written.
    child.stdin.on("error", ignore);
    child.stdin.end(text.endsWith("\n") ? text : `${text}\n`);
  });
}

/** Returns the number of rows that a text takes on a screen with this many columns. */
function screenRowsOf(text: string, columns: number): number {
  return text
    .split("\n")
    .reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
      0,
    );
}
