/** The command lines of the servers: the filesystem server's arguments, and options of our own. */
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import type { PresetName } from "../presets/index.ts";
import { optionAsDirectory, tooWide } from "./arguments.ts";
import type { Structured } from "./content.ts";
import type { ServeOptions } from "./stdio.ts";

/** The options that every server has. */
export const SERVER_OPTIONS = {
  preset: { type: "string" },
  structured: { type: "string" },
  "read-only": { type: "boolean" },
  ask: { type: "boolean" },
  grace: { type: "string" },
  yes: { type: "boolean" },
} as const;

/** How long the calls that run may go on once a server ends. Seconds. */
export const DEFAULT_GRACE_S = 10;
/** An hour. */
const MAX_GRACE_S = 3600;

/** What a server does where its command line says nothing. */
export interface Defaults {
  readonly structured: Structured;
}

/** What is wrong with a command line. */
export class WrongArguments extends Error {
  override name = "WrongArguments";
}

const STRUCTURED: readonly string[] = ["none", "compact", "full"] satisfies readonly Structured[];

/** The options of a command line, checked. @throws WrongArguments */
export function serveOptions(
  dirs: readonly string[],
  values: Readonly<Record<string, unknown>>,
  defaults: Defaults,
  options: readonly string[] = Object.keys(SERVER_OPTIONS),
): ServeOptions {
  for (const dir of dirs) {
    const wrong = optionAsDirectory(dir, options) ?? tooWide(dir, values["yes"] === true);
    if (wrong !== undefined) throw new WrongArguments(wrong);
  }
  const structured = values["structured"] ?? defaults.structured;
  if (!STRUCTURED.includes(structured as string))
    throw new WrongArguments(`--structured takes ${STRUCTURED.join(", ")}`);
  return {
    dirs,
    preset: presetOf(values["preset"]),
    structured: structured as Structured,
    readOnly: values["read-only"] === true,
    ask: values["ask"] === true,
    graceMs: graceOf(values["grace"]) * 1000,
    version: packageVersion(),
  };
}

/** Takes the arguments of `filewright mcp` apart. @throws WrongArguments */
export function stdioOptions(argv: readonly string[], defaults: Defaults): ServeOptions {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: SERVER_OPTIONS,
      allowPositionals: true,
    });
    return serveOptions(positionals, values, defaults);
  } catch (error) {
    throw error instanceof WrongArguments ? error : new WrongArguments((error as Error).message);
  }
}

/** The version of the package. */
export function packageVersion(): string {
  // From js/mcp, dist/mcp and dist/bin alike.
  return (createRequire(import.meta.url)("../../package.json") as { version: string }).version;
}

// A record, so that a preset missing from it does not compile; a list of their own would load them all.
const PRESETS: Record<PresetName, true> = {
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

/** Whole seconds. @throws WrongArguments */
function graceOf(given: unknown): number {
  if (given === undefined) return DEFAULT_GRACE_S;
  const seconds = typeof given === "string" && /^\d+$/u.test(given) ? Number(given) : Number.NaN;
  if (seconds <= MAX_GRACE_S) return seconds;
  throw new WrongArguments(`--grace takes whole seconds, at most ${MAX_GRACE_S}`);
}

function presetOf(given: unknown): PresetName {
  if (given === undefined) return "mcp";
  if (typeof given === "string" && Object.hasOwn(PRESETS, given)) return given as PresetName;
  throw new WrongArguments(`--preset takes one of ${Object.keys(PRESETS).join(", ")}`);
}
