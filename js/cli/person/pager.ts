/** Sends output longer than the screen to a pager, as git does. */
import { spawn } from "node:child_process";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";

/** -F exits at once when the text fits, -R shows colours, -X leaves the text on the screen. */
const DEFAULT_PAGER = "less -FRX";
/** The exit status of a shell for an unknown command. */
const NO_COMMAND = 127;

/** Shows a text in the pager; returns false when it fits on the screen, or there is no pager. */
export async function page(text: string): Promise<boolean> {
  const { rows = 24, columns = 80 } = process.stdout;
  if (rowsOf(text, columns) < rows) return false;
  const wanted = process.env["PAGER"] ?? DEFAULT_PAGER;
  if (wanted.trim() === "" || wanted.trim() === "cat") return false;
  return new Promise<boolean>((resolve) => {
    // PAGER may contain arguments and is the user's own setting, so a shell runs it, as usual.
    const child = spawn(wanted, {
      shell: true,
      stdio: ["pipe", "inherit", "ignore"],
      env: { ...process.env, LESS: process.env["LESS"] ?? "FRX" },
    });
    // Ctrl-C within the pager is handled by the pager.
    const ignore = (): void => {};
    process.on("SIGINT", ignore);
    const end = (shown: boolean): void => {
      process.off("SIGINT", ignore);
      resolve(shown);
    };
    child.once("error", () => end(false));
    child.once("close", (status) => end(status !== NO_COMMAND));
    // The user may quit before everything is written.
    child.stdin.on("error", ignore);
    child.stdin.end(text.endsWith("\n") ? text : `${text}\n`);
  });
}

/** Returns the number of screen rows of a text. */
function rowsOf(text: string, columns: number): number {
  return text
    .split("\n")
    .reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
      0,
    );
}
