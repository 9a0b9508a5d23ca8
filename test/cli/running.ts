/** Runs the command: in this process, as a process with pipes, or at a pseudo-terminal. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Ran, runInProcess } from "../support/in-process.ts";

/** The built command. */
export const COMMAND: string = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
const driver = fileURLToPath(new URL("../hooks/pseudo-terminal.py", import.meta.url));

/** True when this machine can make pseudo-terminals. */
export const hasTerminal =
  spawnSync("python3", ["-c", "import pty, os; os.waitstatus_to_exitcode"]).status === 0;

/** A directory with files, and the command in it. */
export interface CliFixture {
  readonly root: string;
  run(args: readonly string[], input?: string, env?: Record<string, string>): Promise<Ran>;
  /** As `run`, in a process of its own. */
  start(args: readonly string[], input?: string, env?: Record<string, string>): Promise<Ran>;
  /** At a terminal of 100 columns; gives what was drawn. */
  draw(
    args: readonly string[],
    options?: {
      env?: Record<string, string>;
      rows?: number;
      steps?: readonly object[];
      /** The time after which the command is ended. Default 30. */
      seconds?: number;
    },
  ): Promise<{ readonly output: string; readonly status: number; readonly left: number }>;
  remove(): Promise<void>;
}

/** Makes a directory with these files. */
export async function place(files: Readonly<Record<string, string>>): Promise<CliFixture> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "filewright-cli-")));
  const root = join(base, "ws");
  await mkdir(root);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  const { NO_COLOR: _, FORCE_COLOR: __, PAGER: ___, ...rest } = process.env;
  const baseEnv = { ...rest, XDG_STATE_HOME: join(base, "state") };
  return {
    root,
    run: (args, input = "", env = {}) =>
      runInProcess(args, { cwd: root, env: { ...baseEnv, ...env }, input }),
    async start(args, input = "", env = {}) {
      const child = spawn(process.execPath, [COMMAND, ...args], { cwd: root, env: { ...baseEnv, ...env } });
      let [out, err] = ["", ""];
      child.stdout.on("data", (data) => {
        out += data;
      });
      child.stderr.on("data", (data) => {
        err += data;
      });
      child.stdin.end(input);
      const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
      return { status, out, err };
    },
    async draw(args, { env = {}, rows = 40, steps = [], seconds = 30 } = {}) {
      return atTerminal([process.execPath, COMMAND, ...args], {
        cwd: root,
        env: { TERM: "xterm", XDG_STATE_HOME: join(base, "state"), ...env },
        unset: ["NO_COLOR", "FORCE_COLOR", "PAGER", "LESS"].filter((name) => !(name in env)),
        steps,
        rows,
        seconds,
      });
    },
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

/** Runs a program at a terminal of 100 columns, and types what its steps say. */
export async function atTerminal(
  command: readonly string[],
  {
    cwd,
    ...job
  }: {
    readonly cwd: string;
    readonly env: Record<string, string>;
    readonly unset?: readonly string[];
    readonly steps: readonly object[];
    readonly rows?: number;
    readonly seconds?: number;
  },
): Promise<{ readonly output: string; readonly status: number; readonly left: number }> {
  const { stdout } = await promisify(execFile)("python3", [driver, JSON.stringify({ command, ...job })], {
    cwd,
  });
  const { output, status, left } = JSON.parse(stdout) as { output: string; status: number; left: number };
  return { output: output.replaceAll(/\r+\n/gu, "\n"), status, left };
}
