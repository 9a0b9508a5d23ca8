/**
 * Parses the command lines of our MCP servers: directories, as the reference server `server-filesystem` takes
 * them, and our options.
 */
import { VERSION } from "../engine/generated/version.ts";
import { originFault } from "../http/access.ts";
import {
  declaredOptions,
  DEFAULT_REVIEW_PORT,
  type OptionLine,
  type OptionTable,
  optionTableOf,
  parseCommandLine,
  parseIntegerOption,
  UsageError,
} from "../schema/command-line.node.ts";
import { nearest } from "../schema/nearest.ts";
import { MAX_GRACE_S, misplacedOptionError, tooWideDirectoryError } from "./arguments.ts";
import type { StructuredLevel } from "./protocol/content.ts";
import type { PrintedConfig } from "./print-config.ts";
import type { ServedPreset } from "./offered.ts";
import { LOG_LEVELS, type LogLevel } from "./protocol/log.ts";
import type { EffectiveSettings } from "./settings.ts";
import type { ServeOptions } from "./transport/stdio.ts";

/** The default port of `filewright serve`, to which `filewright approve` connects. */
export const DEFAULT_PORT = 4747;
/** The longest time for which a call may wait for the review page, in seconds. */
const MAX_REVIEW_WAIT_S = 86_400;
/** The highest port. */
export const MAX_PORT = 65_535;
/** The default number of seconds for which running calls may continue after a server has begun to shut down. */
const DEFAULT_GRACE_S = 10;

/** The options for access and behaviour that both servers and config files have. */
const SETTING_HELP: readonly OptionLine[] = [
  ["--config FILE", "a JSON file with the options of openWorkspace; paths in it are relative to its folder"],
  ["--deny GLOB...", "hide matching paths from every tool (repeatable)"],
  ["--protect PATTERN...", "refuse writes to matching paths, such as deploy or *.lock (repeatable)"],
  ["--rules FILE", "a JSON list of rules, as the option rules of openWorkspace"],
  ["--guard off|warn|refuse", "what happens when the agent replaces a file that it has not read"],
  ["--limit NAME=NUMBER...", "a limit, such as outputBytes=100000 (repeatable)"],
  ["--secrets grant|allow", "whether .env files, keys and tokens are read like other files"],
  ["--audit FILE", "log each call, one JSON object per line"],
  ["--agent NAME", "the name of the caller in the history and the audit log"],
  [
    "--state-dir DIR",
    "the directory for locks and the history, and with --storage for the copy that searches use",
  ],
  ["--no-history", "store no previous contents: nothing can be undone"],
];

const REVIEW_AFTER_HELP: OptionLine = [
  "--review-after",
  "make changes at once; they stay unreviewed until a person keeps them: filewright history unreviewed and keep",
];
/** The options that every server has. */
export const SERVER_HELP: readonly OptionLine[] = [
  ["--preset NAME", "the tools and their parameters (lean); mcp is the list of the filesystem server"],
  [
    "--tools LIST...",
    "offer only these tools: names with commas, all, or +name in addition to the default ones",
  ],
  ["--structured none|compact|full", "no structured answers (none), facts only, or the answer again as data"],
  ["--strict-schemas", "schemas in the strict form that some vendors demand"],
  ["--read-only", "refuse every change and offer no changing tool"],
  ["--read-only-root DIR...", "a further directory, which may be read but not changed (repeatable)"],
  ["--ask", "ask the client's user before every change"],
  [
    "--review[=PORT]",
    `changes wait until a person answers on the review page (port ${DEFAULT_REVIEW_PORT}); see filewright review`,
  ],
  [
    "--review-wait SECONDS",
    "how long a call waits for the page (45); then the client is told to call again, which finds the answer",
  ],
  REVIEW_AFTER_HELP,
  ...SETTING_HELP,
  ["--grace SECONDS", `how long running calls may continue after SIGTERM or SIGINT (${DEFAULT_GRACE_S})`],
  ["--log-level LEVEL", "the least urgent messages on standard error: debug, info (the default) … emergency"],
  ["--yes", "permit / or the home directory"],
];
/** The options of `filewright mcp`. */
export const MCP_HELP: readonly OptionLine[] = [
  [
    "--print-config CLIENT",
    "print what to write into the configuration of claude-desktop, claude-code, cursor, vscode, codex, gemini-cli, windsurf, jetbrains or zed",
  ],
  ...SERVER_HELP,
];
/** The options of `filewright mcp`, as `node:util` takes them. */
export const MCP_OPTIONS: OptionTable = optionTableOf(MCP_HELP);

/** The values of a server for options that its command line does not set. */
export interface ServerDefaults {
  readonly structured: StructuredLevel;
  readonly preset: ServedPreset;
  /**
   * A line that replaces our own greeting on standard error. Programs that start the reference server wait
   * for its line.
   */
  readonly greeting?: string | undefined;
}

/** The defaults of `filewright mcp` and `filewright serve`. */
export const FILEWRIGHT_DEFAULTS: ServerDefaults = { structured: "none", preset: "lean" };

const STRUCTURED_LEVELS: readonly string[] = ["none", "compact", "full"] satisfies readonly StructuredLevel[];

/**
 * Converts a parsed command line to the options of a server.
 * @throws UsageError, and FilewrightError INVALID_ARGUMENT for a value that an option table refuses
 */
export async function serveOptionsOf(
  given: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  defaults: ServerDefaults,
  options: OptionTable = MCP_OPTIONS,
): Promise<ServeOptions> {
  const settings = await settingsIfGiven(flags);
  const { server = {}, workspace } = settings ?? {};
  const switches = Object.keys(options).filter((name) => options[name]?.type === "boolean");
  const readOnlyRoots = (flags["read-only-root"] as readonly string[] | undefined) ?? [];
  const named = [
    ...given.map((path) => ({ path, access: "write" as const })),
    ...readOnlyRoots.map((path) => ({ path, access: "read" as const })),
  ];
  const roots = named.length > 0 ? named : (settings?.roots ?? []);
  for (const { path } of roots) {
    const wrong = misplacedOptionError(path, switches) ?? tooWideDirectoryError(path, flags["yes"] === true);
    if (wrong !== undefined) throw new UsageError(wrong);
  }
  const ask = flags["ask"] === true || server.ask === true;
  const review = reviewPortOf(flags["review"]);
  if (ask && review !== undefined) throw new UsageError("--ask and --review exclude each other");
  if (ask && workspace?.review === "after")
    throw new UsageError("--ask and --review-after exclude each other");
  const structured = flags["structured"] ?? server.structured ?? defaults.structured;
  if (!STRUCTURED_LEVELS.includes(structured as string))
    throw new UsageError(`--structured takes ${STRUCTURED_LEVELS.join(", ")}`);
  const { preset: presetInFile, ...rest } = workspace ?? {};
  const preset = presetOf(flags["preset"] ?? presetInFile, defaults.preset);
  const tools = toolNamesOf(flags["tools"]) ?? server.tools;
  if (tools !== undefined) await checkToolNames(tools, preset);
  return {
    roots,
    // The operator has chosen which roots are writable. A client's roots must not replace that choice.
    keepsRoots: readOnlyRoots.length > 0 || (named.length === 0 && roots.length > 0),
    preset,
    structured: structured as StructuredLevel,
    readOnly: flags["read-only"] === true,
    ask,
    review,
    reviewWaitMs: reviewWaitOf(flags["review-wait"], review),
    graceMs: gracePeriodOf(flags["grace"], server.graceSeconds) * 1000,
    logLevel: logLevelOf(flags["log-level"]) ?? server.logLevel ?? "info",
    tools,
    strictSchemas: flags["strict-schemas"] === true || server.strictSchemas === true,
    audit: server.audit,
    workspace: rest,
    // A person at the page may look into a workspace before a call has opened it.
    opensAtOnce: settings !== undefined || review !== undefined,
    greeting: defaults.greeting,
    version: packageVersion(),
  };
}

/**
 * Returns the settings of a command line; undefined when it has none, because loading the settings module
 * would delay the start.
 */
async function settingsIfGiven(
  flags: Readonly<Record<string, unknown>>,
): Promise<EffectiveSettings | undefined> {
  const names = declaredOptions([...SETTING_HELP, REVIEW_AFTER_HELP]).map(({ name }) => name);
  if (names.every((name) => flags[name] === undefined)) return undefined;
  const { effectiveSettingsOf } = await import("./settings.ts");
  return effectiveSettingsOf(flags);
}

/**
 * Checks the names of `--tools`. The list of tools is loaded only if the option is given.
 * @throws UsageError for a name that the preset does not have
 */
async function checkToolNames(chosen: readonly string[], preset: ServedPreset): Promise<void> {
  const { wrongToolError } = await import("./served-tools.ts");
  const wrong = wrongToolError(chosen, preset);
  if (wrong !== undefined) throw new UsageError(`--tools: ${wrong}`);
}

/**
 * Returns the text that `--print-config` prints; undefined when the option is not given. The options are
 * checked first.
 * @throws UsageError, FilewrightError
 */
export async function printedConfig(
  argv: readonly string[],
  defaults: ServerDefaults,
): Promise<PrintedConfig | undefined> {
  if (!argv.some((arg) => arg.startsWith("--print-config"))) return undefined;
  const { values: flags, positionals } = parseCommandLine(argv, MCP_OPTIONS);
  const client = flags["print-config"];
  if (typeof client !== "string") return undefined;
  // We check the options first, so that a printed configuration never contains a value that the server
  // refuses.
  await serveOptionsOf(positionals, flags, defaults);
  const { printedClientConfig } = await import("./print-config.ts");
  return printedClientConfig(client, positionals, flags, MCP_OPTIONS);
}

/**
 * Parses the arguments of `filewright mcp`.
 * @throws UsageError, FilewrightError INVALID_ARGUMENT
 */
export async function parseStdioOptions(
  argv: readonly string[],
  defaults: ServerDefaults,
): Promise<ServeOptions> {
  const { values: flags, positionals } = parseCommandLine(argv, MCP_OPTIONS);
  return serveOptionsOf(positionals, flags, defaults);
}

/** Returns the version of the package. */
export function packageVersion(): string {
  return VERSION;
}

// A record instead of a list, so that the compiler reports a preset that is missing. The list of presets is
// not imported, because that would load all of them.
const IS_SERVED_PRESET: Record<ServedPreset, true> = {
  lean: true,
  canonical: true,
  adk: true,
  fluent: true,
  tinyagent: true,
  gemini: true,
  go: true,
  amplifier: true,
  mcp: true,
  "gemini-cli": true,
  claude: true,
  anthropic: true,
  codex: true,
};

/** Returns the port of the review page; undefined without one. @throws UsageError */
function reviewPortOf(given: unknown): number | undefined {
  const port = parseIntegerOption(given, "review");
  if (port === undefined || (port >= 0 && port <= MAX_PORT)) return port;
  throw new UsageError(`--review takes a port from 0 to ${MAX_PORT}, not ${port}`);
}

/** Returns how long a call waits for the page, in milliseconds; undefined for the default. @throws UsageError */
function reviewWaitOf(given: unknown, review: number | undefined): number | undefined {
  const seconds = parseIntegerOption(given, "review-wait");
  if (seconds === undefined) return undefined;
  if (review === undefined) throw new UsageError("--review-wait needs --review");
  if (seconds >= 1 && seconds <= MAX_REVIEW_WAIT_S) return seconds * 1000;
  throw new UsageError(`--review-wait takes whole seconds, from 1 to ${MAX_REVIEW_WAIT_S}`);
}

/**
 * Returns the grace period in whole seconds.
 * @throws UsageError
 */
function gracePeriodOf(given: unknown, configured: number | undefined): number {
  if (given === undefined) return configured ?? DEFAULT_GRACE_S;
  const seconds = typeof given === "string" && /^\d+$/u.test(given) ? Number(given) : Number.NaN;
  if (seconds <= MAX_GRACE_S) return seconds;
  throw new UsageError(`--grace takes whole seconds, at most ${MAX_GRACE_S}`);
}

function presetOf(given: unknown, byDefault: ServedPreset): ServedPreset {
  if (given === undefined) return byDefault;
  if (typeof given === "string" && Object.hasOwn(IS_SERVED_PRESET, given)) return given as ServedPreset;
  const names = Object.keys(IS_SERVED_PRESET);
  const close = nearest(String(given), names);
  throw new UsageError(
    `--preset takes one of ${names.join(", ")}${close === undefined ? "" : `; did you mean ${close}?`}`,
  );
}

function logLevelOf(given: unknown): LogLevel | undefined {
  if (given === undefined) return undefined;
  if (LOG_LEVELS.includes(given as LogLevel)) return given as LogLevel;
  const close = nearest(String(given), LOG_LEVELS);
  throw new UsageError(
    `--log-level takes one of ${LOG_LEVELS.join(", ")}${close === undefined ? "" : `; did you mean ${close}?`}`,
  );
}

/** Returns the tool names of `--tools`, which may be separated by commas or given in several options. */
function toolNamesOf(given: unknown): readonly string[] | undefined {
  const names = ((given as readonly string[] | undefined) ?? []).flatMap((one) => one.split(","));
  const clean = names.map((name) => name.trim()).filter((name) => name !== "");
  if (given !== undefined && clean.length === 0) throw new UsageError("--tools must name a tool");
  return clean.length === 0 ? undefined : clean;
}

/** Returns the origins of `--allow-origin`. @throws UsageError for one that no page has, or that many pages have */
export function checkedOrigins(origins: readonly string[]): readonly string[] {
  for (const origin of origins) {
    const fault = originFault(origin);
    if (fault !== undefined) throw new UsageError(`--allow-origin ${fault}; not ${JSON.stringify(origin)}`);
  }
  return origins;
}
