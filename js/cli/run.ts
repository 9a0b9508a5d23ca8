/** Runs one command, from its command line to its exit status. */
import { withoutUndefined } from "../schema/without-undefined.ts";
import { resolve } from "node:path";
import { auditFile } from "../hooks/audit/audit-file.node.ts";
import { packageVersion } from "../mcp/command.ts";
import { startFailureOf } from "../mcp/start.ts";
import { type ServedRoot, type SettingFlags, effectiveSettingsOf } from "../mcp/settings.ts";
import {
  assertNarrowRoot,
  assertMayAsk,
  aliasesOf,
  callOf,
  type Command,
  type ToolCall,
  GLOBAL_ALIASES,
  GLOBAL_HELP,
  PRESET_HELP,
  EXIT_STATUS,
} from "./command.ts";
import type { PresetName } from "../presets/index.ts";
import type { AccessOptions, Workspace } from "../workspace/index.node.ts";
import { describeRecovery } from "../pipeline/past/recover.ts";
import { askingOptions } from "./asking.ts";
import { findCommand } from "./commands.ts";
import { helpOfCommand, helpOverview } from "./help.ts";
import {
  colourDiff,
  printText,
  printJson,
  jsonLinesOf,
  printNote,
  formatTable,
  printError,
  widthOfOutput,
} from "./streams.ts";
import {
  dashRemedy,
  optionTableOf,
  parseCommandLine,
  type ParsedCommandLine,
  UsageError,
  valuesOfRepeatedOption,
} from "../schema/command-line.node.ts";
import { onFirstSignal, type Program } from "../mcp/program.ts";
import { outputFormOf, type Shell, shellWithColour } from "./person/style.ts";
import { Output } from "./output.ts";
import { PAGE_LIMITS } from "./pages.ts";
import { printCalls } from "./show.ts";
import { callsOfPaths } from "./several-paths.ts";
import { type ShownProgress, showProgress } from "./progress.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import { missingAddonNotice } from "../engine/native/addon-notice.node.ts";
import { presetOfCommandLine } from "./names.ts";
import { closePast, openAlone, openPast, type Past } from "./past-roots.ts";

/** The reports that may contain a diff, which is coloured. */
const COMMANDS_WITH_DIFFS: ReadonlySet<string> = new Set(["history", "rewind", "undo"]);

/**
 * Runs a command line, prints the errors of its command, and returns the exit status.
 * @throws UsageError for a command line that is not understood
 *
 * @built test/deep/options/entries.mjs imports it from dist
 */
export async function runCommandLine([name, ...rest]: readonly string[], program: Program): Promise<number> {
  const shell = shellWithColour(program, undefined);
  switch (name) {
    case undefined:
      printText(shell, helpOverview());
      return EXIT_STATUS.error;
    case "-h":
    case "--help":
      printText(shell, helpOverview());
      return 0;
    case "-V":
    case "--version":
      printText(shell, packageVersion());
      return 0;
    case "help":
      printText(shell, rest[0] === undefined ? helpOverview() : helpOfCommand(findCommand(rest[0])));
      return 0;
    default:
      return runCommand(findCommand(name), rest, shell);
  }
}

async function runCommand(command: Command, argv: readonly string[], plain: Shell): Promise<number> {
  const isOwn = command.sort === "own";
  // The option --preset is parsed for every command, so that the error can say which commands take it.
  const shared = isOwn ? GLOBAL_HELP.slice(-1) : [...GLOBAL_HELP, PRESET_HELP];
  const options = optionTableOf([...shared, ...command.help]);
  const aliases = isOwn ? {} : { ...GLOBAL_ALIASES, ...aliasesOf(command) };
  const [least, most, operand = "an argument"] = command.takes;
  const typed = parseCommandLine(argv, options, aliases, most === 0 ? undefined : operand);
  const parsed = command.several?.arrange?.(typed) ?? typed;
  if (parsed.values["help"] === true) {
    printText(plain, helpOfCommand(command));
    return 0;
  }
  assertMayAsk(command, parsed);
  if (parsed.positionals.length < least) {
    const remedy = argv.some((arg) => arg.startsWith("-")) ? dashRemedy(operand) : "";
    throw new UsageError(`too few arguments; usage: ${command.usage}${remedy}`);
  }
  if (parsed.positionals.length > most) {
    throw new UsageError(
      `too many arguments, from '${parsed.positionals[most]}' on; usage: ${command.usage}`,
    );
  }
  const shell = shellWithColour(plain.program, parsed.values["color"]);
  try {
    return await (command.run?.(parsed, shell) ?? callToolOfCommand(command, parsed, shell));
  } catch (error) {
    return failureStatus(error, shell);
  }
}

/** Returns true for a command that runs on the histories of its directories. */
function isAboutPast({ report, sort }: Command): boolean {
  return report !== undefined && sort !== "machine";
}

async function callToolOfCommand(command: Command, parsed: ParsedCommandLine, shell: Shell): Promise<number> {
  const { program } = shell;
  const form = outputFormOf(parsed, shell);
  const { workspace, roots, server } = effectiveSettingsOf(settingFlags(parsed));
  const typed = rootsOfCommandLine(parsed, roots);
  if (command.sort !== "machine") for (const { path } of typed) assertNarrowRoot(path, parsed);
  const calls = await callsOfPaths(command, parsed, shell);
  const call = calls?.[0]?.call ?? (await callOf(command, parsed, shell));
  // The help must not load an engine.
  const { openWorkspace, toolsFor } = await import("../workspace/index.node.ts");
  let progress: ShownProgress | undefined;
  const stop = new AbortController();
  let unhear: () => void = () => {};
  const open = async (where: readonly ServedRoot[]): Promise<Workspace> =>
    openWorkspace({
      ...workspace,
      ...(where.length === 1 && where[0]?.access === "write"
        ? { root: resolve(where[0].path) }
        : { roots: where.map(({ path, access }) => ({ path: resolve(path), access })) }),
      // Only `call` and `tools` use the tools of the preset; other commands call canonical tools.
      preset: presetOfCommand(command, parsed, workspace.preset as PresetName | undefined),
      knows: workspace.knows ?? true,
      // No index is built, because the process ends before another search could use it.
      index: workspace.index ?? "off",
      access: accessOf(parsed, workspace.access),
      // A page is only what is in memory at a time. `call` has the limits that a model has.
      limits:
        command.speaksToModels === true ? (workspace.limits ?? {}) : { ...PAGE_LIMITS, ...workspace.limits },
      // The guard is off: this process has read no files, and the person may know them from elsewhere.
      guard: workspace.guard ?? "off",
      ...askingOptions(command, parsed, workspace, {
        program,
        quietly: (ask) => progress?.quietly(ask) ?? ask(),
        interrupt: () => stop.abort(),
      }),
      ...(server.audit === undefined ? {} : { observers: [await auditFile(server.audit)] }),
    });
  const past = await (isAboutPast(command) ? openPast(typed, workspace, open) : openAlone(typed, open));
  const [ws] = past.all as [Workspace];
  const slower = missingAddonNotice();
  if (slower !== undefined) program.stderr.write(`filewright: ${slower}\n`);
  const recovered = describeRecovery(ws.recovery);
  if (recovered !== undefined) program.stderr.write(`filewright: ${recovered}\n`);
  try {
    if (command.report !== undefined) return await printReport(command, past, parsed, shell);
    if (call === undefined) return await printTools(ws, parsed, shell);
    unhear = onFirstSignal(program, ["SIGINT"], () => stop.abort());
    progress = showProgress(program, command.name, parsed.values["quiet"] === true);
    const { onProgress, end } = progress;
    const run = ({ tool, args }: ToolCall) => {
      const options = withoutUndefined({ signal: stop.signal, onProgress });
      const own = command.speaksToModels === true ? undefined : presetOfCommandLine(command, tool);
      const [definition] = own === undefined ? [] : toolsFor(ws, own);
      return (definition?.execute(args, options) ?? ws.call(tool, args, options)).finally(end);
    };
    const status = await printCalls({ command, parsed, form, run }, calls ?? [{ path: "", call }]);
    return stop.signal.aborted && status === EXIT_STATUS.error ? EXIT_STATUS.interrupted : status;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    printNote(shell, "Interrupted. Nothing was written.");
    return EXIT_STATUS.interrupted;
  } finally {
    unhear();
    await closePast(past);
  }
}

/** Returns the access of the workspace. The person at the command line may grant secrets to himself. */
function accessOf({ values }: ParsedCommandLine, configured: AccessOptions = {}): AccessOptions {
  return values["secrets"] === true ? { ...configured, secrets: "allow" } : configured;
}

/** Prints data as JSON, in lines where the command line asks for it, or else by `draw`. */
async function printDataOr(
  data: unknown,
  { values }: ParsedCommandLine,
  shell: Shell,
  draw: () => unknown,
): Promise<void> {
  if (values["jsonl"] === true) shell.program.stdout.write(jsonLinesOf(data));
  else if (values["json"] === true) printJson(shell, data);
  else await draw();
}

/** Prints the report of a command that calls no tool. Returns the exit status. */
async function printReport(
  command: Command,
  past: Past,
  parsed: ParsedCommandLine,
  shell: Shell,
): Promise<number> {
  const report = await command.report?.(past, parsed, shell);
  if (report === undefined) return EXIT_STATUS.nothing;
  const { text, data, nothing } = report;
  const { pager } = outputFormOf(parsed, shell);
  await printDataOr(data, parsed, shell, async () => {
    if (nothing === true) return printNote(shell, text);
    const drawn = COMMANDS_WITH_DIFFS.has(command.name) ? colourDiff(shell, text) : text;
    const output = new Output(shell, pager && command.pages === true);
    await output.write(drawn.endsWith("\n") ? drawn : `${drawn}\n`);
    await output.end();
  });
  return nothing === true ? EXIT_STATUS.nothing : EXIT_STATUS.ok;
}

/** Prints the tools of a workspace. Returns the exit status. */
async function printTools(ws: Workspace, parsed: ParsedCommandLine, shell: Shell): Promise<number> {
  const tools = ws.tools.map(({ execute: _, ...tool }) => tool);
  await printDataOr(tools, parsed, shell, () => {
    const rows = tools.map(({ name, description }) => [name, firstSentence(description)]);
    printText(shell, formatTable(rows, widthOfOutput(shell)));
  });
  return EXIT_STATUS.ok;
}

/**
 * Returns the flags that are settings of the workspace. `--limit` of a command is not one of them: it limits
 * the results.
 */
function settingFlags({ values }: ParsedCommandLine): SettingFlags {
  const { config, rules, agent } = values;
  return { config, rules, agent };
}

/**
 * Returns the roots of the workspace: those of the command line, or else those of the config file, or else
 * the current directory.
 */
function rootsOfCommandLine(
  { values }: ParsedCommandLine,
  configured: readonly ServedRoot[],
): readonly ServedRoot[] {
  const roots = valuesOfRepeatedOption(values["root"]);
  if (roots === undefined && configured.length > 0) return configured;
  return (roots ?? ["."]).map((path) => ({ path, access: "write" }));
}

/**
 * Returns the preset whose tools the command uses. @throws UsageError when a preset is given for a command
 * that uses no tools of one
 */
function presetOfCommand(
  command: Command,
  { values }: ParsedCommandLine,
  configured: PresetName | undefined,
): PresetName | undefined {
  const preset = values["preset"] as PresetName | undefined;
  if (command.name === "call" || command.name === "tools") return preset ?? configured;
  if (preset !== undefined) {
    throw new UsageError(`--preset goes with call and tools; ${command.name} calls our own tool`);
  }
  return undefined;
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/u)[0] ?? text;
}

/** Runs a command line, prints its errors, and returns the exit status. */
export async function runProgram(argv: readonly string[], program: Program): Promise<number> {
  return runCommandLine(argv, program).catch((error: unknown) =>
    failureStatus(error, shellWithColour(program, undefined)),
  );
}

/** Prints the error with which a command line ends, and returns the exit status. */
function failureStatus(error: unknown, shell: Shell): number {
  const line =
    error instanceof UsageError
      ? // A message may show arguments as they were typed.
        `filewright: ${escapeControls(error.message)}`
      : error instanceof FilewrightError
        ? `filewright: ${error.message}`
        : startFailureOf(error, shell.program).line;
  printError(shell, line);
  return EXIT_STATUS.error;
}
