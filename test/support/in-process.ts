/**
 * Runs the command line and the servers in this process, with streams, signals and an environment of their own. A
 * process takes about 200 ms of CPU time to start; test/cli/process.test.ts says what only a process shows.
 */
import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { type Shell, shellWithColour } from "../../js/cli/person/style.ts";
import { runProgram } from "../../js/cli/run.ts";
import type { Program } from "../../js/mcp/program.ts";
import { runStdioServer } from "../../js/mcp/run.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A program whose streams are no terminals. Signals are emitted by the test. */
class TestProgram extends EventEmitter implements Program {
  readonly input = new PassThrough();
  readonly stdin = this.input as unknown as NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Environment;
  #out = "";
  #err = "";

  /** `output` takes what is written to standard output, besides `out`. */
  constructor(env: Environment, output: (text: string) => void = () => {}) {
    super();
    this.env = env;
    this.stdout = writer((text) => {
      this.#out += text;
      output(text);
    });
    this.stderr = writer((text) => {
      this.#err += text;
      this.emit("said", this.#err);
    });
  }

  /** The text that was written to standard output until now. */
  get out(): string {
    return this.#out;
  }
  /** The text that was written to standard error until now. */
  get err(): string {
    return this.#err;
  }
}

/** The surroundings of a command that reads and prints nothing. */
export const SHELL: Shell = shellWithColour(new TestProgram({}), undefined);

function writer(take: (text: string) => void): NodeJS.WriteStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, _encoding, done) {
      take(chunk.toString());
      done();
    },
  });
  return stream as unknown as NodeJS.WriteStream;
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs a function while this process has another working directory and environment, which many modules read where
 * they need them. The functions run one after the other, and afterwards both are as before.
 */
function withinProcess<T>(cwd: string, env: Environment, run: () => Promise<T>): Promise<T> {
  const ran = turn.then(async () => {
    const before = { cwd: process.cwd(), env: { ...process.env } };
    replaceEnvironment(env);
    process.chdir(cwd);
    try {
      return await run();
    } finally {
      process.chdir(before.cwd);
      replaceEnvironment(before.env);
    }
  });
  turn = ran.catch(() => {});
  return ran;
}

function replaceEnvironment(next: Environment): void {
  for (const name of Object.keys(process.env)) if (next[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(next))
    if (value !== undefined && process.env[name] !== value) process.env[name] = value;
}

/** The output of a run and its exit status. */
export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line, or `mcp` with its server. Throws if handlers of SIGINT or SIGTERM are left. */
export async function runInProcess(
  args: readonly string[],
  { cwd, env, input = "" }: { readonly cwd: string; readonly env: Environment; readonly input?: string },
): Promise<Ran> {
  const program = new TestProgram(env);
  program.input.end(input);
  const [name, ...rest] = args;
  const status = await withinProcess(cwd, env, () =>
    name === "mcp" && !args.includes("--help") ? runStdioServer(rest, program) : runProgram(args, program),
  );
  const left = (["SIGINT", "SIGTERM"] as const).filter((signal) => program.listenerCount(signal) > 0);
  if (left.length > 0) throw new Error(`${args.join(" ")} left handlers of ${left.join(", ")}`);
  return { status, out: program.out, err: program.err };
}

/** A server over streams that runs in this process. */
export interface StreamServer {
  readonly program: TestProgram;
  /** Settled with the exit status. */
  readonly ended: Promise<number>;
}

/**
 * Starts `filewright mcp` with the arguments after `mcp`, or the drop-in for the filesystem server with its `defaults`.
 * It has the environment of this process. `output` takes each line of standard output.
 */
export function startStreamServer(
  argv: readonly string[],
  output: (line: string) => void,
  defaults?: Parameters<typeof runStdioServer>[2],
): StreamServer {
  let begun = "";
  const program = new TestProgram(process.env, (text) => {
    const lines = (begun + text).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) output(line);
  });
  return { program, ended: runStdioServer(argv, program, defaults) };
}

/** A command that goes on until it is told to end, such as `filewright serve`. */
interface RunningProgram {
  readonly program: TestProgram;
  /** Settled with the exit status. */
  readonly ended: Promise<number>;
}

/**
 * Starts a command in this process. `process.env` is `env` until standard error matches `ready`, or the command ends.
 * `atOnce` is called within the write that makes it match.
 */
export async function startInProcess(
  args: readonly string[],
  env: Environment,
  ready: RegExp,
  atOnce: (program: TestProgram) => void = () => {},
): Promise<RunningProgram> {
  const program = new TestProgram(env);
  const isReady = new Promise<void>((resolve) => {
    program.on("said", (err: string) => {
      if (!ready.test(err)) return;
      atOnce(program);
      resolve();
    });
  });
  return withinProcess(process.cwd(), env, async () => {
    const ended = runProgram(args, program);
    await Promise.race([isReady, ended]);
    return { program, ended };
  });
}
