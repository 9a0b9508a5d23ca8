/** `filewright config`: prints which options apply for a command line, and where the value of each comes from. */
import { resolve } from "node:path";
import { defaultStateDir } from "../../backends/state-directory.node.ts";
import { type EffectiveSettings, readConfigFile, effectiveSettingsOf } from "../../mcp/settings.ts";
import type { Program } from "../../mcp/program.ts";
import { DEFAULT_LIMITS } from "../../tools/lib/limits.ts";
import { type Command, GRANTS_FILE_HELP } from "../command.ts";
import { grantsFilePath } from "./grants.ts";
import { printText, printJson, jsonLinesOf, formatTable, widthOfOutput } from "../streams.ts";
import type { ParsedCommandLine } from "../../schema/command-line.node.ts";
import { hasColours, type Shell } from "../person/style.ts";

/** One option that applies. */
interface EffectiveOption {
  readonly option: string;
  readonly value: unknown;
  /** Where the value comes from: a flag, the config file, an environment variable, or `default`. */
  readonly from: string;
}

/** The command `config`. */
export const CONFIG_COMMAND: Command = {
  name: "config",
  summary: "print the options in force and the source of each",
  usage: "filewright config [--config FILE] [options of a command]",
  about:
    "The options that a command with the same arguments would use: from the command line, the config file, the environment, and the defaults. Checks the config file and changes nothing.",
  help: [GRANTS_FILE_HELP],
  examples: [
    ["filewright config --config agent.json", "check the file and show its effect"],
    ["filewright config --json", "for programs"],
  ],
  takes: [0, 0],
  async run(parsed: ParsedCommandLine, shell) {
    const rows = effectiveOptions(parsed, shell);
    if (parsed.values["jsonl"] === true) shell.program.stdout.write(jsonLinesOf({ rows }));
    else if (parsed.values["json"] === true) printJson(shell, rows);
    else {
      const cells = rows.map(({ option, value, from }) => [option, JSON.stringify(value), from]);
      printText(shell, formatTable(cells, widthOfOutput(shell)));
    }
    return 0;
  },
};

/**
 * Returns the options that apply for a command line. @throws UsageError, FilewrightError for a command line
 * that other commands would refuse, too
 */
function effectiveOptions({ values }: ParsedCommandLine, shell: Shell): readonly EffectiveOption[] {
  const { config: file, rules, agent } = values;
  const { env } = shell.program;
  const { workspace, roots } = effectiveSettingsOf({ config: file, rules, agent });
  const inFile = `config ${String(file)}`;
  const rows = rootRows(values, roots, inFile);
  const add = (option: string, value: unknown, from: string): void => {
    rows.push({ option, value, from });
  };
  const { limits = {}, access, ...others } = workspace;
  rows.push(...optionRows({ values, others, inFile, env }));
  for (const [name, value] of Object.entries(access ?? {})) {
    // The config file and the file of rules are themselves on the deny list.
    const own = name === "deny" && (file !== undefined || rules !== undefined);
    add(`access.${name}`, value, own ? `${inFile}; the files of options themselves` : inFile);
  }
  for (const [name, value] of Object.entries(DEFAULT_LIMITS)) {
    const set = (limits as Record<string, unknown>)[name];
    add(`limits.${name}`, set ?? value, set === undefined ? "default" : inFile);
  }
  if (workspace.permissions?.grantsFile === undefined || values["grants-file"] !== undefined)
    add("grantsFile", grantsFilePath(values), flagOf(values, "grants-file") ?? "default");
  add("color", hasColours(shell), colourSource(values["color"], env));
  add("pager", env["PAGER"] ?? "less -FRX", env["PAGER"] === undefined ? "default" : "PAGER");
  return rows;
}

type Values = ParsedCommandLine["values"];

/** Returns the flag of an option, if the command line gives it. */
const flagOf = (values: Values, option: string): string | undefined =>
  values[option] === undefined ? undefined : `--${option}`;

/** Returns the rows of the directories to work in. */
function rootRows(values: Values, roots: EffectiveSettings["roots"], inFile: string): EffectiveOption[] {
  const { root } = values;
  if (root !== undefined) return [{ option: "root", value: resolve(String(root)), from: "--root" }];
  if (roots.length === 0) return [{ option: "root", value: resolve("."), from: "default" }];
  return roots.map(({ path, access }) => ({
    option: "root",
    value: { path: resolve(path), access },
    from: inFile,
  }));
}

/** Where the values of the options of a workspace come from. */
interface OptionSources {
  readonly values: Values;
  /** The options of the workspace besides its limits and access. */
  readonly others: Readonly<Record<string, unknown>>;
  readonly inFile: string;
  readonly env: Program["env"];
}

/** Returns the rows of the options of the workspace: those with a default, then those that are given. */
function optionRows({ values, others, inFile, env }: OptionSources): readonly EffectiveOption[] {
  const defaults: Readonly<Record<string, unknown>> = {
    preset: "canonical",
    guard: "off",
    knows: true,
    history: true,
    stateDir: defaultStateDir(),
  };
  const isStateByEnv = (env["XDG_STATE_HOME"] ?? "") !== "";
  const rows = Object.entries(defaults).map(([option, value]): EffectiveOption => {
    const flag = flagOf(values, option);
    if (flag !== undefined) return { option, value: values[option], from: flag };
    const set = others[option];
    if (set !== undefined) return { option, value: set, from: inFile };
    return { option, value, from: option === "stateDir" && isStateByEnv ? "XDG_STATE_HOME" : "default" };
  });
  const written: Readonly<Record<string, unknown>> =
    values["config"] === undefined ? {} : { ...readConfigFile(String(values["config"])) };
  for (const [option, value] of Object.entries(others)) {
    if (option in defaults || value === undefined) continue;
    const flag = flagOf(values, option);
    const both = flag !== undefined && written[option] !== undefined && option === "rules";
    rows.push({ option, value, from: both ? `${flag} and ${inFile}` : (flag ?? inFile) });
  }
  return rows;
}

/** Returns where the colour setting comes from. */
function colourSource(flag: unknown, env: Program["env"]): string {
  if (flag !== undefined && flag !== "auto") return "--color";
  return ["NO_COLOR", "FORCE_COLOR"].find((name) => (env[name] ?? "") !== "") ?? "default";
}
