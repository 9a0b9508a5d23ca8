/** `filewright config`: prints which options apply for a command line, and where the value of each comes from. */
import { resolve } from "node:path";
import { defaultStateDir } from "../../backends/state-directory.node.ts";
import { readConfigFile, effectiveSettingsOf } from "../../mcp/settings.ts";
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
  const written: Record<string, unknown> = file === undefined ? {} : { ...readConfigFile(String(file)) };
  const inFile = `config ${String(file)}`;
  const given = (option: string): string | undefined =>
    values[option] === undefined ? undefined : `--${option}`;
  const rows: EffectiveOption[] = [];
  const add = (option: string, value: unknown, from: string): void => {
    rows.push({ option, value, from });
  };
  if (values["root"] !== undefined) add("root", resolve(String(values["root"])), "--root");
  else if (roots.length === 0) add("root", resolve("."), "default");
  else for (const { path, access } of roots) add("root", { path: resolve(path), access }, inFile);

  const { limits = {}, access, ...others } = workspace;
  const defaults: Readonly<Record<string, unknown>> = {
    preset: "canonical",
    guard: "off",
    knows: true,
    history: true,
    stateDir: defaultStateDir(),
  };
  const state = env["XDG_STATE_HOME"];
  for (const [option, value] of Object.entries(defaults)) {
    const set = (others as Record<string, unknown>)[option];
    const standard = option === "stateDir" && (state ?? "") !== "" ? "XDG_STATE_HOME" : "default";
    if (given(option) !== undefined) add(option, values[option], given(option) as string);
    else if (set === undefined) add(option, value, standard);
    else add(option, set, inFile);
  }
  for (const [option, value] of Object.entries(others)) {
    if (option in defaults || value === undefined) continue;
    const flag = given(option);
    const both = flag !== undefined && written[option] !== undefined && option === "rules";
    add(option, value, both ? `${flag} and ${inFile}` : (flag ?? inFile));
  }
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
    add("grantsFile", grantsFilePath(values), given("grants-file") ?? "default");
  add("color", hasColours(shell), colourSource(values["color"], env));
  add("pager", env["PAGER"] ?? "less -FRX", env["PAGER"] === undefined ? "default" : "PAGER");
  return rows;
}

/** Returns where the colour setting comes from. */
function colourSource(flag: unknown, env: Program["env"]): string {
  if (flag !== undefined && flag !== "auto") return "--color";
  return ["NO_COLOR", "FORCE_COLOR"].find((name) => (env[name] ?? "") !== "") ?? "default";
}
