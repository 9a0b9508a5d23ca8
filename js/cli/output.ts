/**
 * Writes text as it comes, to standard output or to a pager: no more is in memory than the reader has not taken yet.
 * At a terminal a text that is longer than the screen is shown in a pager, as git does.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import type { Shell } from "./person/style.ts";

/**
 * The pager without `PAGER`. -F ends it at once when the text fits on the screen, -R shows colours, -X leaves
 * the text on the screen.
 */
const DEFAULT_PAGER = "less -FRX";
/** The exit status with which a shell reports an unknown command. */
const UNKNOWN_COMMAND_STATUS = 127;
/** The UTF-16 units that are kept to be printed where there turns out to be no pager. A pipe holds less than these. */
const MAX_KEPT_CHARS = 1 << 20;

/** A pager that runs. */
interface RunningPager {
  readonly child: ChildProcess;
  /** Settled when it has ended: false when there is no such program. */
  readonly shown: Promise<boolean>;
}

/** The output of a command. */
export class Output {
  readonly #shell: Shell;
  readonly #command: string | undefined;
  #kept = "";
  #isKeptWhole = true;
  #pager: RunningPager | undefined;
  /** True when the person has closed the pager: what follows is not wanted. */
  isClosed = false;

  /** @param pages true when the text may be shown in a pager */
  constructor(shell: Shell, pages: boolean) {
    this.#shell = shell;
    const command = shell.program.env["PAGER"] ?? DEFAULT_PAGER;
    this.#command = !pages || command.trim() === "" || command.trim() === "cat" ? undefined : command;
  }

  /** Writes text, and resolves when the reader can take more. */
  async write(text: string): Promise<void> {
    if (text === "" || this.isClosed) return;
    const { stdout } = this.#shell.program;
    if (this.#command === undefined) return writeTo(stdout, text);
    this.#isKeptWhole &&= this.#kept.length <= MAX_KEPT_CHARS;
    if (this.#isKeptWhole) this.#kept += text;
    if (this.#pager !== undefined) return writeTo(this.#pager.child.stdin as NodeJS.WritableStream, text);
    const { rows = 24, columns = 80 } = stdout;
    if (screenRowsOf(this.#kept, columns) < rows) return;
    this.#pager = this.#startPager(this.#command);
    return writeTo(this.#pager.child.stdin as NodeJS.WritableStream, this.#kept);
  }

  /** Writes what is left, and waits for the pager to end. */
  async end(): Promise<void> {
    const pager = this.#pager;
    if (pager !== undefined) {
      pager.child.stdin?.end();
      if ((await pager.shown) || !this.#isKeptWhole) return;
    }
    if (this.#kept !== "") await writeTo(this.#shell.program.stdout, this.#kept);
  }

  #startPager(command: string): RunningPager {
    const { program } = this.#shell;
    // PAGER is the user's own setting and may contain arguments, so it is run by a shell, as other programs do.
    const child = spawn(command, {
      shell: true,
      stdio: ["pipe", "inherit", "ignore"],
      env: { ...program.env, LESS: program.env["LESS"] ?? "FRX" },
    });
    // Ctrl-C is meant for the pager while it runs.
    const ignore = (): void => {};
    program.on("SIGINT", ignore);
    // The person may close the pager before the whole text is written.
    child.stdin?.on("error", ignore);
    const shown = new Promise<boolean>((resolve) => {
      const ended = (isShown: boolean): void => {
        program.off("SIGINT", ignore);
        this.isClosed = isShown;
        resolve(isShown);
      };
      child.once("error", () => ended(false));
      child.once("close", (status) => ended(status !== UNKNOWN_COMMAND_STATUS));
    });
    return { child, shown };
  }
}

/** Writes to a stream, and waits while it is full. A stream that closes takes nothing more. */
function writeTo(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    if ((stream as NodeJS.WriteStream).destroyed || stream.write(text)) return resolve();
    const done = (): void => {
      for (const event of ["drain", "close", "error"]) stream.off(event, done);
      resolve();
    };
    for (const event of ["drain", "close", "error"]) stream.once(event, done);
  });
}

/** Returns the number of rows that a text takes on a screen with this many columns. */
function screenRowsOf(text: string, columns: number): number {
  return text
    .replace(/\n$/u, "")
    .split("\n")
    .reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
      0,
    );
}
