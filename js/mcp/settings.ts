/**
 * The settings of a server or of the command line: the options of a config file (those of `openWorkspace`),
 * and flags with the same meaning.
 *
 * This module is loaded only when a setting is given, because loading the option tables would delay the start
 * of a server.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { literalGlob } from "../policy/policy.ts";
import { literalWindowsGlob } from "../backends/windows-globs.ts";
import { RULE_OPTIONS, type Rule } from "../policy/rules.ts";
import { UsageError } from "../schema/command-line.node.ts";
import {
  assertToolNames,
  choice,
  choiceOf,
  flag,
  optionChecker,
  integer,
  list,
  type Options,
  options,
  text,
} from "../schema/option.ts";
import { LIMIT_OPTIONS, type Limits } from "../tools/lib/limits.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { WORKSPACE_OPTIONS } from "../workspace/option-schema.ts";
import type { AccessOptions, WorkspaceOptions } from "../workspace/options.ts";
import type { StructuredLevel } from "./protocol/content.ts";
import { MAX_GRACE_S } from "./arguments.ts";
import { expandHome } from "./directories.ts";
import { LOG_LEVELS, type LogLevel } from "./protocol/log.ts";

/** The options of the server itself, beside those of its workspace, in a config file. */
interface ServerSettings {
  /**
   * The tools that clients are shown and may call: names, `all` for every tool, or `+name` for one in
   * addition to the default ones.
   */
  readonly tools?: readonly string[] | undefined;
  /** How much of an answer is also sent as structured data. Default `none`. */
  readonly structured?: StructuredLevel | undefined;
  /** Ask the client's user before every change. Default false. */
  readonly ask?: boolean | undefined;
  /**
   * The time in seconds for which running calls may continue after the server was told to end. Then they are
   * cancelled. Default 10.
   */
  readonly graceSeconds?: number | undefined;
  /** The file for the audit log: one JSON object per line for each call. Default: none. */
  readonly audit?: string | undefined;
  /** The least urgent level of messages on standard error. Default `info`. */
  readonly logLevel?: LogLevel | undefined;
  /** List the schemas of tools in the strict form that some providers require. Default false. */
  readonly strictSchemas?: boolean | undefined;
}

/**
 * The options below `server` in a config file.
 *
 * @printed
 */
export const SERVER_SETTINGS: Options<ServerSettings> = options("ServerSettings", {
  tools: list(text(), { minItems: 1 }),
  structured: choice("none", "compact", "full"),
  ask: flag(),
  graceSeconds: integer(0, MAX_GRACE_S),
  audit: text(),
  logLevel: choiceOf(LOG_LEVELS),
  strictSchemas: flag(),
});

/**
 * The content of a config file: the options of `openWorkspace` that JSON can express, and those of the server
 * itself.
 */
export interface ConfigFile extends WorkspaceOptions {
  /** The options of the server itself. */
  readonly server?: ServerSettings | undefined;
}

/** The table of the options in a config file. */
const CONFIG_OPTIONS: Options<ConfigFile> = {
  schema: {
    ...WORKSPACE_OPTIONS.schema,
    title: "ConfigFile",
    noun: "an object of options",
    properties: { ...WORKSPACE_OPTIONS.schema.properties, server: SERVER_SETTINGS.schema },
  },
};

/** A directory that the server may use. */
export interface ServedRoot {
  /** An absolute path, or one relative to the current directory. */
  readonly path: string;
  readonly access: "read" | "write";
}

/** The settings from both sources together. Paths in `workspace` are absolute. */
export interface EffectiveSettings {
  /** The options of the workspace without `root` and `roots`. */
  readonly workspace: WorkspaceOptions;
  readonly roots: readonly ServedRoot[];
  readonly server: ServerSettings;
}

/** The flags of a command line that set options which a config file can contain, too. */
export type SettingFlags = Readonly<Record<string, unknown>>;

/**
 * Returns the settings of a command line. A flag overrides the option in the config file; lists of both are
 * joined.
 * @throws UsageError for an unreadable file and for a value that a flag does not take
 * @throws FilewrightError INVALID_ARGUMENT naming the invalid option
 */
export function effectiveSettingsOf(flags: SettingFlags): EffectiveSettings {
  const file = flags["config"] as string | undefined;
  const config = file === undefined ? {} : readConfigFile(file);
  const { root, roots, server = {}, ...workspace } = config;
  const access = accessWithFlags(workspace.access, flags);
  const rules = [...readRulesFile(flags["rules"]), ...(workspace.rules ?? [])];
  assertToolNames(file === undefined ? "--rules" : `config ${file}`, "rules", rules, TOOL_NAMES);
  const limits = { ...workspace.limits, ...parseLimits(flags["limit"]) };
  const guard = flags["guard"] ?? workspace.guard;
  const audit = flags["audit"] === undefined ? server.audit : resolve(expandHome(String(flags["audit"])));
  const agent = (flags["agent"] as string | undefined) ?? workspace.agent;
  const stateDir =
    flags["state-dir"] === undefined ? workspace.stateDir : resolve(expandHome(String(flags["state-dir"])));
  const own = [file, flags["rules"] as string | undefined, audit].filter((one) => one !== undefined);
  const deny = [...(access.deny ?? []), ...own.flatMap(denyGlobsOf)];
  const given: WorkspaceOptions = withoutUndefined({
    ...workspace,
    agent,
    stateDir,
    history: flags["no-history"] === true ? false : workspace.history,
    review: flags["review-after"] === true ? "after" : workspace.review,
    guard: guard as WorkspaceOptions["guard"],
    rules: rules.length === 0 ? workspace.rules : rules,
    limits: Object.keys(limits).length === 0 ? workspace.limits : limits,
    access: withoutUndefined({ ...access, deny: deny.length === 0 ? undefined : deny }),
  });
  // One option table checks the flags of the command line and the settings of the file.
  const { server: _, ...checked } = optionChecker("the command line", CONFIG_OPTIONS)(given);
  return {
    workspace: checked,
    roots: (roots ?? (root === undefined ? [] : [root])).map(servedRoot),
    server: { ...server, ...withoutUndefined({ audit }) },
  };
}

/**
 * Reads and checks a config file, and makes its paths absolute.
 * @throws UsageError, FilewrightError INVALID_ARGUMENT
 */
export function readConfigFile(file: string): ConfigFile {
  const config = optionChecker(`config ${file}`, CONFIG_OPTIONS)(readJson(file, "--config"));
  if (config.preset !== undefined && typeof config.preset !== "string")
    throw new UsageError(`config ${file}: option 'preset': must be the name of a preset.`);
  if (config.root !== undefined && config.roots !== undefined)
    throw new UsageError(`config ${file}: option 'roots': give root or roots, not both.`);
  const from = dirname(resolve(expandHome(file)));
  const at = (path: string): string => resolve(from, expandHome(path));
  const { root, roots, cwd, stateDir, access, permissions, server, ...rest } = config;
  return withoutUndefined({
    ...rest,
    root: root && at(root as string),
    roots: roots?.map((one) =>
      typeof one === "string" ? at(one) : { ...(one as ServedRoot), path: at((one as ServedRoot).path) },
    ),
    cwd: cwd && at(cwd),
    stateDir: stateDir && at(stateDir),
    access: access && accessBelow(access, at),
    permissions:
      permissions &&
      withoutUndefined({ ...permissions, grantsFile: permissions.grantsFile && at(permissions.grantsFile) }),
    server: server && withoutUndefined({ ...server, audit: server.audit && at(server.audit) }),
  });
}

/** Returns access options with absolute paths; `at` makes a path of the config file absolute. */
function accessBelow(access: AccessOptions, at: (path: string) => string): AccessOptions {
  // Null permits to read everything.
  const { read, write } = access;
  return withoutUndefined({ ...access, read: read === null ? null : read?.map(at), write: write?.map(at) });
}

/**
 * Reads a JSON file.
 * @throws UsageError for a file that cannot be read, that every user may write, or that is not JSON
 */
function readJson(file: string, option: string): unknown {
  const path = resolve(expandHome(file));
  let json: string;
  try {
    json = readFileSync(path, "utf8").replace(/^\uFEFF/u, "");
    // What it grants would be granted by any user of this machine.
    if (process.platform !== "win32" && (statSync(path).mode & 0o002) !== 0)
      throw new Error("every user of this machine may write it; run: chmod o-w on it");
  } catch (error) {
    throw new UsageError(`${option}: cannot read '${file}': ${(error as Error).message}`);
  }
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw new UsageError(`${option}: '${file}' is not JSON: ${(error as Error).message}`);
  }
}

function servedRoot(root: NonNullable<WorkspaceOptions["roots"]>[number]): ServedRoot {
  if (typeof root === "string") return { path: root, access: "write" };
  const { path, access = "write" } = root as ServedRoot;
  return { path, access };
}

/**
 * Returns globs by which no tool can access one of our own files, by its path as given and by its real path. They begin
 * with `**`: a glob of a path outside the roots would be refused as a mistake.
 */
function denyGlobsOf(file: string): readonly string[] {
  const path = resolve(expandHome(file));
  const literal = (own: string): string | undefined =>
    process.platform === "win32"
      ? literalWindowsGlob(own)?.replace(/^[A-Za-z]:/u, "*:/**")
      : `/**${literalGlob(own)}`;
  try {
    return [...new Set([literal(path), literal(realpathSync(path))])].filter((glob) => glob !== undefined);
  } catch {
    return [literal(path)].filter((glob) => glob !== undefined);
  }
}

function accessWithFlags(access: AccessOptions = {}, flags: SettingFlags): AccessOptions {
  const deny = [...(access.deny ?? []), ...asList(flags["deny"])];
  const refuse = [...(access.places?.refuse ?? []), ...asList(flags["protect"])];
  return withoutUndefined({
    ...access,
    deny: deny.length === 0 ? access.deny : deny,
    places: refuse.length === 0 ? access.places : { ...access.places, refuse },
    secrets: (flags["secrets"] as AccessOptions["secrets"]) ?? access.secrets,
    readOnly: flags["read-only"] === true ? true : access.readOnly,
  });
}

/**
 * Returns the rules in a file; none when no file is given.
 * @throws UsageError, FilewrightError INVALID_ARGUMENT
 */
function readRulesFile(file: unknown): readonly Rule[] {
  if (typeof file !== "string") return [];
  return optionChecker(`rules ${file}`, list(RULE_OPTIONS))(readJson(file, "--rules"));
}

/**
 * Parses `--limit NAME=NUMBER`, which may be given several times.
 * @throws UsageError, FilewrightError INVALID_ARGUMENT
 */
function parseLimits(given: unknown): Partial<Limits> {
  const limits: Record<string, number> = {};
  for (const one of asList(given)) {
    const [, name = "", figure = ""] = /^([A-Za-z]+)=(\d+)$/u.exec(one) ?? [];
    if (name === "")
      throw new UsageError(`--limit takes NAME=NUMBER, such as outputBytes=100000, got '${one}'`);
    limits[name] = Number(figure);
  }
  return optionChecker("--limit", LIMIT_OPTIONS)(limits);
}

function asList(given: unknown): readonly string[] {
  return given === undefined ? [] : ([given].flat() as string[]);
}
