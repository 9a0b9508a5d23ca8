/** What is longer than the screen goes to a pager, as git's does. */
import { spawn } from "node:child_process";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";

/** -F ends at once what fits, -R shows colours, -X leaves the text on the screen. */
const DEFAULT_PAGER = "less -FRX";
/** What a shell ends with where there is no such command. */
const NO_COMMAND = 127;

/** Shows a text in the pager; false where it is none of its business, or there is none. */
export async function page(text: string): Promise<boolean> {
  const { rows = 24, columns = 80 } = process.stdout;
  if (rowsOf(text, columns) < rows) return false;
  const wanted = process.env["PAGER"] ?? DEFAULT_PAGER;
  if (wanted.trim() === "" || wanted.trim() === "cat") return false;
  return new Promise<boolean>((resolve) => {
    // PAGER may hold arguments, and is the person's own: a shell runs it, as everywhere.
    const child = spawn(wanted, {
      shell: true,
      stdio: ["pipe", "inherit", "ignore"],
      env: { ...process.env, LESS: process.env["LESS"] ?? "FRX" },
    });
    // Ctrl-C within the pager is the pager's.
    const ignore = (): void => {};
    process.on("SIGINT", ignore);
    const end = (shown: boolean): void => {
      process.off("SIGINT", ignore);
      resolve(shown);
    };
    child.once("error", () => end(false));
    child.once("close", (status) => end(status !== NO_COMMAND));
    // A person who has seen enough leaves before all is written.
    child.stdin.on("error", ignore);
    child.stdin.end(text.endsWith("\n") ? text : `${text}\n`);
  });
}

/** How many rows of the screen a text takes. */
function rowsOf(text: string, columns: number): number {
  return text
    .split("\n")
    .reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
      0,
    );
}
