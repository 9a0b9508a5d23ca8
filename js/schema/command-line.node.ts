/** Parses command lines, with errors that name the correct usage. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { messageOf } from "../engine/thrown.ts";
import { nearest } from "./nearest.ts";
import { withoutUndefined } from "./without-undefined.ts";

/** The options of a command, as `node:util` takes them. */
export type OptionTable = NonNullable<ParseArgsConfig["options"]>;

/** The effect of an option on the call of its tool: the argument that gets its value, or the arguments that it sets. */
type OptionMeaning = string | Readonly<Record<string, unknown>>;

/**
 * A line of the help, which declares its options: `-a, --append`, `--path DIR`, or `--exclude GLOB...` for one that may
 * be given several times. Behind the text of the help stands for each option of the line what it means for a tool. A
 * line without a text is not shown.
 */
export type OptionLine = readonly [flags: string, what: string, ...means: readonly OptionMeaning[]];

/** An option that a line of the help declares. */
export interface DeclaredOption {
  readonly name: string;
  readonly short: string | undefined;
  /** The word for its value; undefined for a switch. */
  readonly value: string | undefined;
  readonly isRepeatable: boolean;
  readonly means: OptionMeaning | undefined;
}

/** Matches an option: its letter, its name, the word for its value, and the dots of one that may be given several times. */
const DECLARATION = /(?:-(\w), )?--([\w-]+)(?:[ [=]+([^,.\]]+)\]?)?(\.{3})?/gu;

/** Returns the options that lines of the help declare. */
export function declaredOptions(lines: readonly OptionLine[]): readonly DeclaredOption[] {
  return lines.flatMap(([flags, , ...means]) =>
    [...flags.matchAll(DECLARATION)].map(([, short, name = "", value, dots], index) => ({
      ...{ name, short, value },
      isRepeatable: dots !== undefined,
      means: means[index],
    })),
  );
}

/** Returns the options that lines of the help declare, as `node:util` takes them. */
export function optionTableOf(lines: readonly OptionLine[]): OptionTable {
  const options = declaredOptions(lines).map(({ name, short, value, isRepeatable }) => {
    const type = value === undefined ? ("boolean" as const) : ("string" as const);
    return [name, withoutUndefined({ type, short, multiple: isRepeatable || undefined })] as const;
  });
  return Object.fromEntries(options);
}

/** Returns the lines of the help that are shown, each as its flags and its text. */
export function shownOptionLines(lines: readonly OptionLine[]): readonly (readonly [string, string])[] {
  return lines.flatMap(([flags, what]) => (what === "" ? [] : [[flags.replace("...", ""), what] as const]));
}

/** A parsed command line: the values of its options, and its other arguments in order. */
export interface ParsedCommandLine {
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
}

/** The error of an invalid command line. Its message names the correct usage. */
export class UsageError extends Error {
  override name = "UsageError";
}

/**
 * Options whose value must not be empty. An unset variable of a shell gives an empty value, which would silently
 * mean something else.
 */
const NON_EMPTY_OPTIONS: readonly string[] = [
  "root",
  "preset",
  "grants-file",
  "host",
  "allow-host",
  "allow-origin",
  "token-file",
  "oauth-issuer",
  "oauth-resource",
  "oauth-jwks",
  "oauth-scope",
  "url",
  "config",
  "print-config",
  "color",
  "rules",
  "audit",
  "agent",
  "state-dir",
  "read-only-root",
  "storage",
  "workspace",
  "tenant-claim",
  "workspace-claim",
  "metrics",
  "review",
];

/** The place of metrics for `--metrics` without a value: the port that exporters for Prometheus have by default. */
export const DEFAULT_METRICS_PLACE = "127.0.0.1:9464";

/** The port of the review page for `--review` without a value. */
export const DEFAULT_REVIEW_PORT = 4748;

/** The values of options that may stand without one. A value then follows after `=` alone. */
const VALUES_IF_ALONE: Readonly<Record<string, string>> = {
  metrics: DEFAULT_METRICS_PLACE,
  review: String(DEFAULT_REVIEW_PORT),
};

/** Options that take the next argument as their value even when it begins with a dash, as in `-e -77`. */
const VALUES_WITH_DASH: readonly string[] = [
  ...["regexp", "old", "new", "old-text", "new-text", "content", "glob", "exclude", "reason", "start"],
  ...["start-line", "offset"],
];

/** Aliases of options, and the option that each means. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * Parses a command line. An alias is read as the option that it stands for. `operand` is a noun for the arguments of
 * a command that takes some; the error of an unknown option then says how one begins with a dash.
 * @throws UsageError
 */
export function parseCommandLine(
  argv: readonly string[],
  options: OptionTable,
  aliases: Aliases = {},
  operand?: string,
): ParsedCommandLine {
  const spelt = Object.entries(aliases).map(([alias, name]) => {
    const { short: _, ...option } = options[name] ?? { type: "string" as const };
    return [alias, option] as const;
  });
  const known: OptionTable = { ...options, ...Object.fromEntries(spelt) };
  try {
    const { values: given, positionals } = parseArgs({
      args: withDashedValues(withValuesIfAlone(argv, options), known),
      options: known,
      allowPositionals: true,
      strict: true,
    });
    const values: Record<string, string | boolean | (string | boolean)[] | undefined> = { ...given };
    for (const [alias, name] of Object.entries(aliases)) {
      const value = values[alias];
      if (value === undefined) continue;
      values[name] = Array.isArray(value) ? [...[values[name] ?? []].flat(), ...value] : value;
      delete values[alias];
    }
    for (const name of NON_EMPTY_OPTIONS) {
      if ([values[name]].flat().includes("")) throw new UsageError(`--${name} must not be empty`);
    }
    return { values, positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(usageMessage(error, argv, options, operand));
  }
}

/** Adds the values of options that stand without one. */
function withValuesIfAlone(argv: readonly string[], options: OptionTable): string[] {
  const end = argv.indexOf("--");
  return argv.map((arg, index) => {
    const name = arg.slice(2);
    const isAlone =
      arg.startsWith("--") &&
      Object.hasOwn(VALUES_IF_ALONE, name) &&
      name in options &&
      (end < 0 || index < end);
    return isAlone ? `${arg}=${VALUES_IF_ALONE[name]}` : arg;
  });
}

/** Joins the options of `VALUES_WITH_DASH` with their values: `node:util` refuses a value that begins with a dash. */
function withDashedValues(argv: readonly string[], options: OptionTable): readonly string[] {
  const names = VALUES_WITH_DASH.filter((name) => options[name]?.type === "string");
  if (names.length === 0) return argv;
  const joined: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const arg = argv[at] as string;
    if (arg === "--") return [...joined, ...argv.slice(at)];
    const value = argv[at + 1];
    const name = names.find((one) => awaitsValue(arg, one, options));
    if (name === undefined || value === undefined || (name !== "regexp" && isOption(value, options))) {
      joined.push(arg);
      continue;
    }
    // The switches before the letter of the option stay: `-ie X` is `-i -e X`.
    if (!arg.startsWith("--") && arg.length > 2) joined.push(arg.slice(0, -1));
    joined.push(`--${name}=${value}`);
    at++;
  }
  return joined;
}

/** Returns true for an argument that is a long option of the command, rather than a value that begins with a dash. */
function isOption(arg: string, options: OptionTable): boolean {
  return arg === "--" || (arg.startsWith("--") && arg.slice(2).replace(/=.*$/su, "") in options);
}

/** Returns true for an argument whose value is the next one: `--regexp`, `-e`, or switches that end in `e`. */
function awaitsValue(arg: string, name: string, options: OptionTable): boolean {
  if (arg === `--${name}`) return true;
  const { short } = options[name] ?? {};
  if (short === undefined || !/^-[^-]/u.test(arg) || arg.at(-1) !== short) return false;
  const switches = new Set(
    Object.values(options).map((one) => (one.type === "boolean" ? one.short : undefined)),
  );
  return [...arg.slice(1, -1)].every((letter) => switches.has(letter));
}

/** Returns how an argument begins with a dash, as a clause. */
export const dashRemedy = (operand: string): string => `; put -- before ${operand} that begins with a dash`;

/** Returns the message for an error of `parseArgs`, with the option that was probably meant. */
function usageMessage(
  error: unknown,
  argv: readonly string[],
  options: OptionTable,
  operand: string | undefined,
): string {
  const { code } = error as { readonly code?: string };
  const known = Object.keys(options);
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const wrong = argv.find((arg) => isUnknownOption(arg, options)) ?? "an option";
    const name = wrong.replace(/^-+/u, "").replace(/=.*$/u, "");
    // `--readonly` and `--read_only` mean what they nearly say.
    const plain = (one: string): string => one.toLowerCase().replaceAll(/[-_]/gu, "");
    const close = known.find((one) => plain(one) === plain(name)) ?? nearest(name, known);
    const meant = close === undefined ? "" : `; did you mean --${close}?`;
    return `unknown option ${wrong}${meant}${operand === undefined ? "" : dashRemedy(operand)}`;
  }
  if (code === "ERR_PARSE_ARGS_INVALID_OPTION_VALUE") {
    const [, name = ""] = /(--[\w-]+)/u.exec((error as Error).message) ?? [];
    if (name !== "")
      return `${name} ${options[name.slice(2)]?.type === "boolean" ? "takes no" : "needs a"} value`;
  }
  return messageOf(error).split("\n", 1)[0] as string;
}

function isUnknownOption(arg: string, options: OptionTable): boolean {
  if (arg.startsWith("--")) return arg.length > 2 && !(arg.slice(2).replace(/=.*$/su, "") in options);
  if (!/^-[^-]/u.test(arg)) return false;
  const typeOf = new Map(Object.values(options).map(({ short, type }) => [short, type]));
  // The letters after one that takes a value are its value.
  const first = [...arg.slice(1)].find((letter) => typeOf.get(letter) !== "boolean");
  return first !== undefined && !typeOf.has(first);
}

/** Returns the value of an option as an integer; undefined without a value. @throws UsageError */
export function parseIntegerOption(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && /^[+-]?\d+$/u.test(value)) return Number(value);
  throw new UsageError(`--${name} must be a whole number, not ${JSON.stringify(value)}`);
}

/** Returns the values of an option that may be given several times; undefined without one. */
export function valuesOfRepeatedOption(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  return (Array.isArray(value) ? value : [value]) as string[];
}
