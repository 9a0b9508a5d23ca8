/**
 * Checks arguments of the servers' command lines. Detects directories that are most likely mistakes: one that looks
 * like an option, and one that is the whole file system or contains a home directory.
 */
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { escapeControls } from "../engine/escape.ts";
import { homeDirectory } from "../backends/home.node.ts";
import { isWithin } from "../backends/paths.ts";
import { nearest } from "../schema/nearest.ts";
import { expandHome } from "./directories.ts";

/** The maximum grace period, on a command line and in a config file: one hour in seconds. */
export const MAX_GRACE_S = 3600;

/**
 * Returns an error message for a positional directory that looks like an option, a list or an unset variable:
 * `--read-only` after `--`, or `read-only` and `/a,/b` when no such directory exists.
 * @param options the long names, without dashes, of the options that take no value
 */
export function misplacedOptionError(given: string, options: readonly string[]): string | undefined {
  if (given === "") return "a directory must not be empty";
  const shown = escapeControls(given);
  const variable = /\$\{[^}]*\}|%[A-Za-z_]\w*%/u.exec(given)?.[0];
  if (variable !== undefined && realPathOrUndefined(given) === undefined)
    return `the directory '${shown}' holds ${escapeControls(variable)}, a variable that the client did not replace; write the path itself, or a variable that this client knows`;
  if (given.startsWith("-"))
    return `'${shown}' looks like an option, not like a directory; options stand before --, and a directory of this name is ./${shown}`;
  if (isCommaSeparatedList(given))
    return `'${shown}' is no directory; give each directory as an argument of its own, without commas`;
  const name = given.toLowerCase().replaceAll("_", "-");
  const option =
    options.find((one) => one.replaceAll("-", "") === name.replaceAll("-", "")) ?? nearest(name, options);
  if (option === undefined || realPathOrUndefined(given) !== undefined) return undefined;
  return `there is no directory '${shown}'; did you mean --${option}?`;
}

/** Returns true when the text consists of several paths that are separated by commas. */
function isCommaSeparatedList(given: string): boolean {
  const [, ...more] = given.split(",");
  if (more.length === 0 || realPathOrUndefined(given) !== undefined) return false;
  return more.every((one) => /^\s*(?:[/~.]|[A-Za-z]:)/u.test(one) || realPathOrUndefined(one) !== undefined);
}

/**
 * Returns an error message for `/`, the home directory and every directory above it, because giving one of
 * them to an agent is usually an accident.
 * @param yes true when the command line confirms the directory with `--yes`
 */
export function tooWideDirectoryError(given: string, yes: boolean): string | undefined {
  if (yes) return undefined;
  const real = realPathOrUndefined(given);
  if (real === undefined) return undefined;
  const home = realPathOrUndefined(homeDirectory() ?? "/");
  if (real !== "/" && (home === undefined || !isWithin(home, real))) return undefined;
  const what =
    real === "/"
      ? "the whole file system"
      : real === home
        ? "the home directory"
        : "above the home directory";
  return `'${escapeControls(given)}' is ${what}; name a directory in it, or add --yes if it is meant`;
}

/** Returns the real path of a directory from the command line; undefined when none is there or it cannot be read. */
function realPathOrUndefined(given: string): string | undefined {
  try {
    const real = realpathSync(resolve(expandHome(given)));
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
