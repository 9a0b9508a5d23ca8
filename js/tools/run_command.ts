/** `run_command`: runs a program in the sandbox of the workspace. Offered only where the host has set one up. */
import { compile, object } from "./schema.ts";
import { flag, integer, path, text } from "./shared.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "./text.ts";
import type { ChangingTool } from "./tool.ts";

/** The arguments of `run_command`. */
export interface RunCommandArgs {
  readonly command: string | readonly string[];
  readonly shell?: boolean;
  readonly cwd?: string;
  readonly timeout_ms?: number;
  readonly max_output_bytes?: number;
}

/** What came of a command. */
export interface RunCommandData {
  readonly exit_code: number | null;
  readonly signal: number | null;
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** What kept the command in: `none` where nothing did. */
  readonly tier: string;
}

type Args = Required<RunCommandArgs>;

const inputSchema = object(
  {
    command: {
      type: ["array", "string"],
      items: { type: "string" },
      minItems: 1,
      minLength: 1,
      description:
        "The program and its arguments as a list, passed on as they are; with shell: true one string for /bin/sh.",
    },
    shell: flag("Have /bin/sh run the command, which is one string then.", false),
    cwd: path("The directory to run in", { default: "." }),
    timeout_ms: integer("Milliseconds after which it is killed with everything it started.", {
      minimum: 1,
      maximum: 600_000,
      default: 120_000,
    }),
    max_output_bytes: integer("Bytes kept of its output and of its errors, each.", {
      minimum: 1,
      maximum: 1024 * 1024,
      default: 32 * 1024,
    }),
  },
  ["command"],
);

const outputSchema = object(
  {
    exit_code: { type: ["integer", "null"], description: "Null where it was killed." },
    signal: { type: ["integer", "null"], description: "The signal that ended it." },
    timed_out: { type: "boolean", description: "Whether it ran out of time." },
    truncated: { type: "boolean", description: "Whether more was written than is given." },
    stdout: text("Its output."),
    stderr: text("Its errors."),
    tier: text("What kept it in, such as landlock+seccomp or bubblewrap; none where nothing did."),
  },
  ["exit_code", "signal", "timed_out", "truncated", "stdout", "stderr", "tier"],
);

/** Runs a program in a sandbox. */
export const runCommand: ChangingTool<Args, RunCommandData, readonly string[]> = {
  kind: "change",
  name: "run_command",
  title: "Run command",
  description: `Runs a program in a sandbox: it can change files only inside the workspace, and cannot reach the network unless the host allows it. Gives the exit code, the output and the errors; a failing program is no failure of this tool.
Give the program and its arguments as a list. For pipes, globs and variables use shell: true with one string. Everything it started ends with it: nothing is left running in the background.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  parse: compile("run_command", inputSchema),
  paths: (args) => [{ argument: "cwd", typed: args.cwd, intent: "write" }],
  plan: (args) => ({ todo: argvOf(args), base: [] }),
  preview: (plan, _args) => ({
    title: `Run ${plan.todo.join(" ")}`,
    location: 0,
    diff: "",
    originalContent: null,
    newContent: null,
    risk: "high",
  }),
  async apply({ todo }, args, call) {
    if (call.commands === undefined) {
      throw new FilewrightError("UNSUPPORTED_OPERATION", "This workspace runs no commands.", {
        complete: true,
      });
    }
    const outcome = await call.commands.run({
      argv: todo,
      cwd: (call.locations[0] as (typeof call.locations)[number]).path,
      timeoutMs: args.timeout_ms,
      maxOutputBytes: args.max_output_bytes,
      signal: call.signal,
    });
    const { exitCode, signal, timedOut, truncated, stdout, stderr } = outcome;
    return {
      data: {
        exit_code: exitCode,
        signal,
        timed_out: timedOut,
        truncated,
        stdout,
        stderr,
        tier: call.commands.status.tier,
      },
    };
  },
  render(data, args) {
    const head = data.timed_out
      ? `Killed after ${args.timeout_ms} ms`
      : data.exit_code === null
        ? `Ended by signal ${data.signal}`
        : `Exit code ${data.exit_code}`;
    const lines = [`${head}${data.tier === "none" ? " (not sandboxed)" : ""}`];
    if (data.stdout !== "") lines.push(shown(data.stdout));
    if (data.stderr !== "") lines.push("[errors]", shown(data.stderr));
    if (data.truncated) lines.push("[output truncated; more with max_output_bytes]");
    return lines.join("\n");
  },
};

/** @throws FilewrightError INVALID_ARGUMENT where the form of the command does not fit `shell` */
function argvOf({ command, shell }: Args): readonly string[] {
  if (shell && typeof command === "string") return ["/bin/sh", "-c", command];
  if (!shell && typeof command !== "string") return command;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    shell
      ? "Invalid argument 'command': with shell: true it is one string."
      : "Invalid argument 'command': give a list of the program and its arguments, or set shell: true.",
    { complete: true, details: { argument: "command" } },
  );
}

/** Output line by line without what moves a terminal's cursor. */
function shown(output: string): string {
  return output.replace(/\n$/u, "").split("\n").map(escapeControls).join("\n");
}
