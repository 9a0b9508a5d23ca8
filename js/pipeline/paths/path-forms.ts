/**
 * Handles paths in a form that other programs accept and this one does not: `~/x`, `$HOME/x`, `file:` URLs,
 * `@x`, `x:57`, backslashes, quotes.
 *
 * An exact name always wins. Otherwise the path is refused, with the path that works. Accepting it
 * as a name would create a directory called `~`, or a file called `src\a.ts` next to `src`.
 */
import type { Files } from "../../backends/files.ts";
import type { Location } from "../../policy/index.ts";
import { childOf, isWithin, joinPath, normalise } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { PathUse } from "../../tools/lib/tool.ts";
import { entryExists } from "./entry-exists.ts";
import { mayCreate } from "./look-alikes.ts";

/** The properties of the workspace that the checks need. */
export interface PathContext {
  readonly fs: Files;
  readonly cwd: string;
  /** `windows` when a backslash separates directories, too. */
  readonly paths?: "windows" | undefined;
  display(path: string): string;
}

/** Matches paths that need a check of their form. Most calls have none. */
export const UNUSUAL_PATH: RegExp = /^[~$%]|^file:|\\|^\s*["'`@“‘]|:\d+(?:-\d+)?$/iu;

/**
 * Refuses paths in an unsupported form.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the argument and the path that works
 */
export async function assertPlainPaths(
  uses: readonly PathUse[],
  locations: readonly Location[],
  context: PathContext,
): Promise<void> {
  for (const [index, use] of uses.entries()) {
    const { typed, argument } = use;
    if (!UNUSUAL_PATH.test(typed)) continue;
    const at = locations[index];
    if (at !== undefined && (await isThere(context.fs, at.path))) continue;
    const why =
      (await misformedPathReason(typed, context)) ??
      (await mentionReason(typed, context)) ??
      (mayCreate(use) ? await newPathReason(typed, context) : undefined);
    if (why === undefined) continue;
    throw new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${argument}': ${why}`, {
      complete: true,
      path: typed,
      details: { argument },
    });
  }
}

const quoted = (path: string): string => `'${escapeControls(path)}'`;

/** Returns the reason why a path is not accepted as a name; undefined when it is accepted. */
async function misformedPathReason(typed: string, context: PathContext): Promise<string | undefined> {
  if (/^~(?:\/|$)/u.test(typed)) return homeReason(typed, context);
  if (/^file:/iu.test(typed)) {
    const path = pathOfFileUrl(typed);
    return `it is a URL; send the path${path === undefined ? "" : `: ${quoted(displayIfInside(path, context))}`}.`;
  }
  const [, , plain, typographic] = /^\s*(?:(["'`])(.+)\1|[“‘](.+)[”’])\s*$/u.exec(typed) ?? [];
  const unquoted = plain ?? typographic;
  if (unquoted !== undefined) return quotesReason(unquoted, context);
  return context.paths === "windows" ? undefined : backslashReason(typed, context);
}

/** Returns the reason why a path that begins with `~` is not accepted. */
async function homeReason(typed: string, { fs, cwd }: PathContext): Promise<string | undefined> {
  if (await isThere(fs, childOf(cwd, "~"))) return undefined;
  const inside = typed.replace(/^~\/*/u, "") || ".";
  const remedy = (await isThere(fs, joinPath(cwd, inside)))
    ? `Did you mean ${quoted(inside)}?`
    : `Send ${quoted(inside)}, or the absolute path.`;
  return `'~' is not expanded: paths are relative to the workspace, or absolute. ${remedy}`;
}

/** Returns the reason why a path in quotes is not accepted. */
async function quotesReason(unquoted: string, { fs, cwd }: PathContext): Promise<string | undefined> {
  const path = joinPath(cwd, unquoted);
  const parent = normalise(`${path}/..`).path;
  const known = (await isThere(fs, path)) || (unquoted.includes("/") && (await isDirectory(fs, parent)));
  return known || !/["'`“”‘’]/u.test(unquoted)
    ? `send it without the quotes: ${quoted(unquoted)}.`
    : undefined;
}

/** Returns the reason why a path is not accepted whose backslashes seem to separate directories. */
async function backslashReason(typed: string, { fs, cwd }: PathContext): Promise<string | undefined> {
  const backslash = typed.indexOf("\\");
  if (backslash <= 0 || !(await isDirectory(fs, joinPath(cwd, typed.slice(0, backslash))))) return undefined;
  return `directories are separated by '/': ${quoted(typed.replaceAll(/\\+/gu, "/"))}.`;
}

/** Returns the reason why a path is not accepted that is written as a mention. */
async function mentionReason(typed: string, { fs, cwd }: PathContext): Promise<string | undefined> {
  const path = typed.slice(1);
  if (!typed.startsWith("@") || !(await isThere(fs, joinPath(cwd, path)))) return undefined;
  return `send it without the '@': ${quoted(path)}.`;
}

/** Matches a path that begins with a variable of a shell, and its rest. */
const VARIABLE = /^(\$\w+|\$\{[^}]*\}|%\w+%)(?:[/\\]+(.*))?$/su;

/**
 * Returns the reason why a path with something before it or behind it is not accepted as the name of a new entry. Where
 * an entry must exist, the answer that it does not is enough.
 */
async function newPathReason(typed: string, context: PathContext): Promise<string | undefined> {
  const { fs, cwd } = context;
  const [, file, line] = /^(.+?):(\d+)(?::\d+|-\d+)?$/su.exec(typed) ?? [];
  if (file !== undefined && (await isThere(fs, joinPath(cwd, file))))
    return `it ends in the line ${line}; send ${quoted(file)}.`;
  // A directory may be called `@scope` or `$lib`.
  const [first = ""] = typed.split("/", 1);
  if (await isThere(fs, joinPath(cwd, first))) return undefined;
  if (typed.startsWith("@") && (await hasPlace(typed.slice(1), context)))
    return `send it without the '@': ${quoted(typed.slice(1))}.`;
  const [, variable, rest = ""] = VARIABLE.exec(typed) ?? [];
  if (variable === undefined) return undefined;
  const isKnown = rest !== "" && (await hasPlace(rest, context));
  if (!isKnown && /^\$[a-z]/u.test(variable)) return undefined;
  const remedy = isKnown ? `Did you mean ${quoted(rest)}?` : "Send the path itself.";
  return `${quoted(variable)} is not expanded: paths are relative to the workspace, or absolute. ${remedy}`;
}

/** Returns true for a path that exists, or that can be made in a directory below the working directory. */
async function hasPlace(typed: string, { fs, cwd }: PathContext): Promise<boolean> {
  const path = joinPath(cwd, typed);
  if (await isThere(fs, path)) return true;
  const parent = normalise(`${path}/..`).path;
  return parent !== normalise(cwd).path && isWithin(parent, cwd) && (await isDirectory(fs, parent));
}

/**
 * Returns the workspace path that the caller may have meant by a missing or forbidden one: its longest
 * existing end. Undefined when no end exists.
 */
export async function pathWithSameEnd(
  typed: string,
  { fs, cwd, display }: PathContext,
): Promise<string | undefined> {
  const parts = typed
    .trim()
    .replace(/^["'`@]+|["'`]+$/gu, "")
    .split(/[/\\]+/u)
    .filter((part) => part !== "" && part !== "." && !/^[A-Za-z]:$/u.test(part));
  if (parts.includes("..")) return undefined;
  for (let from = 0; from < Math.min(parts.length, MAX_PATH_ENDS); from++) {
    const path = joinPath(cwd, parts.slice(from).join("/"));
    if (isWithin(path, cwd) && path !== cwd && (await isThere(fs, path))) return display(path);
  }
  return undefined;
}

/** The maximum number of ends of a path that are looked up in the workspace. */
const MAX_PATH_ENDS = 12;

/** Returns the path of a local `file:` URL; undefined for another host or a malformed URL. */
function pathOfFileUrl(typed: string): string | undefined {
  const [, rest = ""] = /^file:(?:\/\/(?:localhost)?(?=\/))?(.*)$/iu.exec(typed) ?? [];
  try {
    const path = decodeURIComponent(rest.replace(/[?#].*$/u, ""));
    return path === "" || path.startsWith("//") ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Returns an absolute path as results show it when it is inside the workspace. */
function displayIfInside(path: string, { cwd, display }: PathContext): string {
  return path.startsWith("/") && isWithin(normalise(path).path, cwd) ? display(normalise(path).path) : path;
}

/** Returns true when an entry exists. What cannot be looked at, outside the roots or an impossible name, does not. */
function isThere(fs: Files, path: string): Promise<boolean> {
  return entryExists(fs, normalise(path).path, false);
}

async function isDirectory(fs: Files, path: string): Promise<boolean> {
  try {
    return (await fs.stat(normalise(path).path)).isDir;
  } catch {
    return false;
  }
}
