/** Runs `filewright doctor`, from its arguments to its exit status, without an engine in this process. */
import { arch, platform, release } from "node:os";
import { VERSION } from "../../engine/generated/version.ts";
import { type ParsedCommandLine, parseCommandLine, UsageError } from "../../schema/command-line.node.ts";
import { DEFAULT_LIMITS } from "../../tools/lib/limits.ts";
import { GLOBAL_ALIASES, GLOBAL_OPTIONS } from "../command.ts";
import { type Shell, shellWithColour } from "../person/style.ts";
import type { Program } from "../../mcp/program.ts";
import { formatTable, printError, printJson, printText } from "../streams.ts";
import { type Check, MARK_BY_STATUS } from "./check.ts";
import { diagnose } from "./checks.ts";
import { isOptionalPackage } from "./packages.ts";
import { PROBE_ARGUMENT, runProbe } from "./probe.ts";

/** The exit statuses: of a machine on which everything needed works, and of one on which it does not. */
const WORKS = 0;
const BROKEN = 1;
const WRONG_USAGE = 2;

/** Runs the command from its arguments, and returns the exit status. */
export async function runDoctorProcess(argv: readonly string[], program: Program): Promise<number> {
  if (argv[0] === PROBE_ARGUMENT) {
    await runProbe(argv[1] ?? "/");
    return WORKS;
  }
  const shell = shellWithColour(program, undefined);
  try {
    const parsed = parseCommandLine(argv, GLOBAL_OPTIONS, GLOBAL_ALIASES);
    if (parsed.positionals.length > 0)
      throw new UsageError(
        `too many arguments, from '${parsed.positionals[0]}' on; usage: filewright doctor [--json]`,
      );
    return await runDoctor(parsed, shell);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    printError(shell, `filewright: ${error.message}`);
    return WRONG_USAGE;
  }
}

/** Runs all checks, prints them, and returns the exit status. */
export async function runDoctor({ values }: ParsedCommandLine, shell: Shell): Promise<number> {
  const { checks, probe, stateDir } = await diagnose(values);
  const works = checks.every(({ status }) => status !== "broken");
  const peers = checks.filter(({ name }) => isOptionalPackage(name));
  const { engine, confinement, resolver, backend, recovery } = probe.workspace?.facts ?? {};
  if (values["json"] === true || values["jsonl"] === true)
    printJson(shell, {
      version: VERSION,
      node: process.version,
      system: `${platform()} ${release()} ${arch()}`,
      works,
      checks,
      ...{ engine, confinement, resolver, backend, recovery },
      state_dir: stateDir,
      limits: DEFAULT_LIMITS,
      peers: Object.fromEntries(peers.map(({ name, status }) => [name, status === "ok"])),
    });
  else printText(shell, formatTable([...checks.map(rowOf), ...limitRows()], Number.POSITIVE_INFINITY));
  return works ? WORKS : BROKEN;
}

function rowOf({ status, name, message, remedy }: Check): readonly [string, string, string] {
  return [MARK_BY_STATUS[status], name, remedy === undefined ? message : `${message}; ${remedy}`];
}

function limitRows(): readonly (readonly [string, string, string])[] {
  return Object.entries(DEFAULT_LIMITS).map(([name, most]) => [
    "",
    name,
    name.endsWith("Ms") ? `${most / 1000} s` : name.endsWith("Bytes") ? inBinaryUnit(most) : String(most),
  ]);
}

/** Returns a number of bytes in the largest unit in which it is whole. */
function inBinaryUnit(bytes: number): string {
  if (bytes % (1024 * 1024) === 0) return `${bytes / 1024 / 1024} MiB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}
