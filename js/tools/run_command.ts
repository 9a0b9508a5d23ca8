/** `run_command`: runs a program in the sandbox of the workspace. Offered only where the workspace has one. */
import type { CheckedArgs, RunCommandData } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { flag, integer, path, text, texts } from "./lib/shared.ts";
import type { SandboxProvider, SandboxStatus } from "../backends/sandbox/sandbox.ts";
import { FilewrightError } from "../engine/errors.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Location } from "../policy/index.ts";
import { type Answer, type Call, type ChangingTool, locationError, type Tool } from "./lib/tool.ts";
import { argvInWords } from "./render/argv.ts";
import { quoteForPeople } from "./lib/text.ts";

type CheckedRunCommandArgs = CheckedArgs["run_command"];

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
    exceeded: text("The limit that ended it: processes, memory or file_size."),
    removed: texts("Protected places that it made and that were removed afterwards."),
    repositories: texts("Repositories that it made: their hooks were emptied, their config was reduced."),
  },
  ["exit_code", "signal", "timed_out", "truncated", "stdout", "stderr", "tier"],
);

const TOOL_DESCRIPTION = `Gives the exit code, the output and the errors; a failing program is no failure of this tool.
Give the program and its arguments as a list. For pipes, globs and variables use shell: true with one string.`;

/** A sandbox with the status of another one that refuses every command, before anybody is asked about it. */
export class RefusingSandbox implements SandboxProvider {
  readonly status: SandboxStatus;
  readonly #refusal: () => FilewrightError;

  constructor({ status }: SandboxProvider, refusal: () => FilewrightError) {
    this.status = status;
    this.#refusal = refusal;
  }

  /** @throws the refusal */
  refuse(): never {
    throw this.#refusal();
  }

  async run(): Promise<never> {
    this.refuse();
  }
}

/** Returns the tool with a description that states what this sandbox guarantees. */
export function runCommandToolFor(status: SandboxStatus): Tool {
  const description = `${sandboxDescription(status)} ${TOOL_DESCRIPTION}`;
  return Object.freeze({ ...runCommand, description }) as unknown as Tool;
}

function sandboxDescription({ files, network, policy, processes, workspaceFiles }: SandboxStatus): string {
  const isElsewhere = workspaceFiles === "absent";
  const reach = isElsewhere
    ? "Runs a program in a sandbox with files of its own: no file of this workspace is there, and what it writes there does not come back."
    : files === "none"
      ? "Runs a program that nothing keeps inside the workspace."
      : "Runs a program in a sandbox: it can change files only in what this workspace may change.";
  return [
    reach,
    isElsewhere
      ? []
      : policy === "enforced"
        ? "Files that are denied or secret are empty or unreadable for it, and git refuses to add them: add the others by name. Protected places are read-only, and those that it makes are removed afterwards."
        : "What file tools deny, protect or keep secret is not kept from it: leave that alone.",
    network === "enforced" ? "It cannot reach the network." : "It may reach the network.",
    processes === "enforced"
      ? "Everything it started ends with it: nothing is left running in the background."
      : "Leave nothing running in the background.",
  ]
    .flat()
    .join(" ");
}

/** Runs a program in a sandbox. */
export const runCommand: ChangingTool<CheckedRunCommandArgs, RunCommandData> = {
  kind: "change",
  name: "run_command",
  title: "Run command",
  traits: ["keepsTime", "runsCommands"],
  description: `Runs a program in the sandbox of the workspace. ${TOOL_DESCRIPTION}`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  parse: compileArgumentCheck("run_command", inputSchema),
  exactCommand: argvOf,
  paths: (args) => [{ argument: "cwd", typed: args.cwd, intent: "write", missing: "accept" }],
  async plan(args, { settings: { commands }, fs, locations, reader }) {
    const argv = argvOf(args);
    if (commands instanceof RefusingSandbox) commands.refuse();
    // A sandbox says it in its own words, and some only after they have begun.
    const at = locations[0] as Location;
    if (!(await fs.stat(at.path)).isDir) throw locationError("NOT_DIRECTORY", at);
    return {
      kind: "act",
      of: "entries",
      undoes: undefined,
      heading: {
        title: `Run ${argvInWords(argv)} in ${reader.display(at.path)}`,
        location: 0,
        risk: "high",
      },
      base: [],
      showsContent: false,
      changes: () => [],
      make: (call) => runInSandbox(argv, args, call),
    };
  },
  texts: {
    render(data, args) {
      const head = data.timed_out
        ? `Killed after ${args.timeout_ms} ms`
        : data.exceeded !== undefined
          ? `Killed: it passed the limit of ${NAME_BY_LIMIT[data.exceeded] ?? data.exceeded}`
          : data.exit_code === null
            ? `Ended by signal ${data.signal}`
            : `Exit code ${data.exit_code}`;
      const lines = [`${head}${data.tier === "none" ? " (not sandboxed)" : ""}`];
      if (data.stdout !== "") lines.push(withoutControlCharacters(data.stdout));
      if (data.stderr !== "") lines.push("[errors]", withoutControlCharacters(data.stderr));
      if (data.truncated) lines.push("[output truncated; more with max_output_bytes]");
      if (data.removed !== undefined)
        lines.push(`[removed, because other programs obey it: ${shortenPathList(data.removed)}]`);
      if (data.repositories !== undefined)
        lines.push(
          `[kept without hooks and with git's own config keys: ${shortenPathList(data.repositories)}]`,
        );
      return lines.join("\n");
    },
    display({ exit_code, signal, timed_out }, { command }) {
      const ended = timed_out
        ? "stopped, its time was up"
        : exit_code === null
          ? `ended by signal ${signal}`
          : `exit code ${exit_code}`;
      return `Ran ${quoteForPeople([command].flat().join(" "))}: ${ended}`;
    },
  },
};

/** Runs a program, and returns what it has written. @throws FilewrightError UNSUPPORTED_OPERATION, and as the sandbox does */
async function runInSandbox(
  argv: readonly string[],
  args: CheckedRunCommandArgs,
  { settings: { commands }, locations, signal: cancel, reader }: Call,
): Promise<Answer<RunCommandData>> {
  if (commands === undefined) {
    throw new FilewrightError("UNSUPPORTED_OPERATION", "This workspace runs no commands.", {
      complete: true,
    });
  }
  const outcome = await commands.run({
    argv,
    cwd: (locations[0] as Location).path,
    timeoutMs: args.timeout_ms,
    maxOutputBytes: args.max_output_bytes,
    signal: cancel,
  });
  const { exitCode, signal, timedOut, truncated, stdout, stderr } = outcome;
  const { removed = [], repositories = [] } = outcome;
  const exceeded = outcome.exceeded ?? (signal === FILE_SIZE_SIGNAL ? "file_size" : undefined);
  return {
    data: withoutUndefined({
      exit_code: exitCode,
      signal,
      timed_out: timedOut,
      truncated,
      stdout,
      stderr,
      tier: commands.status.tier,
      exceeded,
      removed: removed.length === 0 ? undefined : removed.map(reader.display),
      repositories: repositories.length === 0 ? undefined : repositories.map(reader.display),
    }),
  };
}

const NAME_BY_LIMIT: Readonly<Record<string, string>> = {
  processes: "processes",
  memory: "memory",
  file_size: "the size of one file",
};
/** The number of SIGXFSZ, which the system sends to a process that writes a file beyond its limit. */
const FILE_SIZE_SIGNAL = 25;
/** The maximum number of paths that the text names. Further ones are counted. */
const MAX_NAMED_PATHS = 20;

function shortenPathList(paths: readonly string[]): string {
  const named = paths.slice(0, MAX_NAMED_PATHS).map(escapeControls).join(", ");
  return paths.length > MAX_NAMED_PATHS ? `${named} and ${paths.length - MAX_NAMED_PATHS} more` : named;
}

/**
 * Returns the program and its arguments. @throws FilewrightError INVALID_ARGUMENT when the form of the
 * command does not agree with `shell`
 */
function argvOf({ command, shell }: CheckedRunCommandArgs): readonly string[] {
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

/** Escapes control characters in each line of the output, so that it cannot control a terminal. */
function withoutControlCharacters(output: string): string {
  return output.replace(/\n$/u, "").split("\n").map(escapeControls).join("\n");
}
