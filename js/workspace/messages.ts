/**
 * The one place where a failure becomes a sentence: what happened, the path as
 * the caller typed it, one remedy.
 *
 * Codes come from the engine, the backend or a tool, with a clause; the sentence
 * is in `words.ts`, by code. Failures that only their author can word (a schema's,
 * an edit's nearest line) arrive complete and keep their message. The first line stays within 200
 * characters, hostile names are escaped, and no path appears that the caller did
 * not type, except names found beside it.
 */
import type { FsBackend } from "../backends/backend.ts";
import { type Code, FilewrightError, fromEngine, makeError } from "../engine/errors.ts";
import { nearest } from "../schema/nearest.ts";
import { childOf, isWithin, nameOf, parentOf } from "../backends/paths.ts";
import { NO_NAMES } from "../tools/display.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Location } from "../access/index.ts";
import { assign, type Names, OWN_NAMES, where } from "../tools/names.ts";
import type { PathUse } from "../tools/tool.ts";
import { inOtherRoot } from "./look-alikes.ts";
import { similarPath } from "./path-forms.ts";
import { followable, renamed } from "./renamed.ts";
import { sentence, wordsFor } from "./words.ts";

/** The longest first line of a message, in UTF-16 units. */
const MAX_FIRST_LINE = 200;
/** A directory larger than this is not searched for a similar name. */
const MAX_SIBLINGS = 20_000;
/** A shorter name is one edit away from too many others to be a misspelling of one. */
const MIN_MISSPELT_NAME = 3;

/** What is known about the call that failed. */
export interface Failed {
  readonly tool: string;
  /** The paths of the call; the first is named where nothing better is known. */
  readonly uses: readonly PathUse[];
  /** Those of them that were judged. */
  readonly locations: readonly Location[];
  /** Present once paths could be resolved. */
  readonly fs: FsBackend;
  /** The working directory. */
  readonly cwd: string;
  /** The directories that may be read. */
  readonly roots: readonly string[];
  /** A path as results show it. */
  display(path: string): string;
  /** What the reader of the text calls things. */
  readonly names: Names;
}

/** A failure as programs get it, and as the reader is told it. */
export interface Worded {
  readonly error: FilewrightError;
  /** The message in the reader's own names. */
  readonly told: string;
  /** The message for people, who call no tools. */
  readonly shown: string;
}

/** The failure as it is told: whatever was thrown, worded. */
export async function word(thrown: unknown, failed: Failed): Promise<Worded> {
  const error = fromEngine(thrown);
  const about = blamed(error, failed);
  const nearby = await suggestionFor(error, about, failed);
  const messageIn = (names: Names): string => messageOf(error, about, { ...failed, names }, nearby);
  const message = messageIn(OWN_NAMES);
  return {
    error: makeError(error.code, message, {
      path: about?.use.typed,
      hint: error.hint,
      details: error.details,
      cause: error.cause ?? error,
      complete: true,
    }),
    told: failed.names === OWN_NAMES ? message : messageIn(failed.names),
    shown: messageIn(NO_NAMES),
  };
}

/** What the caller may have meant by a path that is missing or outside. */
async function suggestionFor(
  error: FilewrightError,
  about: About | undefined,
  failed: Failed,
): Promise<Nearby | undefined> {
  if (error.complete || about === undefined) return undefined;
  const { typed } = about.use;
  const context = { fs: failed.fs, cwd: failed.cwd, display: failed.display };
  if (error.code === "OUTSIDE_ALLOWED") {
    const inside = await similarPath(typed, context).catch(() => undefined);
    return inside === undefined ? undefined : { inside };
  }
  if (error.code !== "NOT_FOUND" || about.at === undefined) return undefined;
  if (/[*?]/u.test(typed)) return { glob: typed };
  const other = await inOtherRoot(typed, failed).catch(() => undefined);
  if (other !== undefined) return { inside: failed.display(other) };
  const found = await lookAround(about.at, failed);
  if (found === undefined || found.dangling || found.similar?.endsWith(".") === true) return found;
  if (found.similar !== undefined && !/["'`@\\]/u.test(typed)) return found;
  const inside = await similarPath(typed, context).catch(() => undefined);
  return inside === undefined ? found : { ...found, inside };
}

/** One path of the call, judged or not yet. */
interface About {
  readonly use: PathUse;
  readonly at: Location | undefined;
}

/** The path a failure is about: the one that the failure names, else the first. */
function blamed(error: FilewrightError, { uses, locations }: Failed): About | undefined {
  const all = uses.map((use, index): About => ({ use, at: locations[index] }));
  const path = error.path;
  if (path === undefined) return all[0];
  return (
    all.find(({ use, at }) => at?.path === path || use.typed === path) ??
    all.find(({ at }) => at !== undefined && isWithin(path, at.path)) ??
    all.find(({ at }) => at !== undefined && isWithin(at.path, path)) ??
    all[0]
  );
}

function messageOf(
  error: FilewrightError,
  about: About | undefined,
  failed: Failed,
  nearby: Nearby | undefined,
): string {
  const { names } = failed;
  if (error.complete || WORDED_BY_ENGINE.has(error.code)) {
    const hint = error.hint === undefined ? undefined : followable(error.hint, names);
    return withRemedy(clip(renamed(error.message, names, about?.use.typed)), hint);
  }
  const remedy = nearby === undefined ? "" : whereInstead(nearby, failed);
  const build = wordsFor(error.code);
  const shown = about === undefined ? "the path" : `'${escapeControls(about.use.typed)}'`;
  const followed = withHintFor(error, names);
  return fitted(
    (path) =>
      build({
        error: followed,
        path,
        tool: failed.tool,
        intent: about?.use.intent,
        argument: about?.use.argument,
        remedy,
        names,
      }),
    shown,
  );
}

/** The failure with its hint in the reader's names, and without one that they cannot follow. */
function withHintFor(error: FilewrightError, names: Names): FilewrightError {
  if (names === OWN_NAMES || error.hint === undefined) return error;
  const { code, message, path, details, cause } = error;
  return makeError(code, message, { path, hint: followable(error.hint, names), details, cause });
}

/** Codes of the edit engine, which words its refusals with the path it was given. */
const WORDED_BY_ENGINE: ReadonlySet<Code> = new Set<Code>([
  "MATCH_NOT_FOUND",
  "MATCH_NOT_UNIQUE",
  "MATCH_COUNT_MISMATCH",
  "NO_CHANGE",
  "PATCH_FAILED",
]);

/** What is found near a path that is missing. */
interface Nearby {
  /** The root it is in was deleted, and nothing stands in its place. */
  readonly gone?: true;
  /** It is a link, and what it leads to is missing. */
  readonly dangling?: true;
  /** A similar name beside it. */
  readonly similar?: string;
  /** A path of the workspace, as results show it, that ends as the path does. */
  readonly inside?: string;
  /** The path is a pattern. */
  readonly glob?: string;
  /** The first of its directories that is missing. */
  readonly missing?: string;
}

/** Looks for what the caller may have meant: a similar name, or the parent that is missing. */
async function lookAround(at: Location, { fs }: Failed): Promise<Nearby | undefined> {
  if (at.path === "/") return undefined;
  if (await isInGoneRoot(fs, at.path)) return { gone: true };
  try {
    const parent = parentOf(at.path);
    if (await isDirectory(fs, parent)) {
      const entries = await fs.listDir(parent);
      if (entries.length > MAX_SIBLINGS) return undefined;
      const name = nameOf(at.path);
      if (entries.some((entry) => entry.name === name)) return { dangling: true };
      const names = entries.map((entry) => entry.name);
      const close = nearest(name, names);
      return close === undefined ? {} : { similar: childOf(parent, close) };
    }
    let missing = parent;
    for (let levels = 0; levels < MAX_LEVELS && !(await isDirectory(fs, parentOf(missing))); levels++) {
      missing = parentOf(missing);
    }
    // A misspelt directory that has what was asked for. Short names are all alike.
    if (nameOf(missing).length < MIN_MISSPELT_NAME) return { missing };
    const entries = await fs.listDir(parentOf(missing), { facts: false });
    if (entries.length > MAX_SIBLINGS) return { missing };
    const close = nearest(
      nameOf(missing),
      entries.filter(({ isDir }) => isDir).map(({ name }) => name),
    );
    if (close === undefined) return { missing };
    const meant = childOf(parentOf(missing), close) + at.path.slice(missing.length);
    return (await isThere(fs, meant)) ? { missing, similar: meant } : { missing };
  } catch {
    return undefined; // A suggestion is a courtesy: whatever prevents it, the failure itself is told.
  }
}

/** Where the caller may have meant to go. */
function whereInstead(
  { gone, dangling, similar, missing, inside, glob }: Nearby,
  { display, tool, names }: Failed,
): string {
  if (gone)
    return " The root of the workspace is gone: its directory was deleted. Make it again, then repeat the call.";
  if (glob !== undefined) return globRemedy(glob, tool, names);
  if (inside !== undefined) return ` Did you mean '${shorten(escapeControls(inside), 60)}'?`;
  const shown = (path: string): string => `'${shorten(escapeControls(display(path)), 60)}'`;
  if (dangling) return " It is a link, and what it leads to is missing.";
  if (similar !== undefined) return ` Did you mean ${shown(similar)}?`;
  if (missing === undefined)
    return where(names.tool("list_directory"), (list) => ` ${list} shows what is there.`);
  const option = MAKE_PARENTS[tool];
  const make = option === undefined ? undefined : names.argument(option);
  return ` Its directory ${shown(missing)} does not exist.${where(make, (name) => ` Set ${name}: true to make it.`)}`;
}

/** What to do with a pattern where a path is wanted. */
function globRemedy(typed: string, tool: string, names: Names): string {
  const [, base = ".", pattern = typed] = /^(?:(.*?)\/)?([^/]*[*?].*)$/u.exec(typed) ?? [];
  const [path, glob] = [
    assign(names, "path", base),
    tool === "grep" ? assign(names, "glob", pattern) : undefined,
  ];
  if (path !== undefined && glob !== undefined)
    return escapeControls(
      ` A path is a directory or a file; put the pattern into ${names.argument("glob")}: ${path}, ${glob}.`,
    );
  return where(
    names.tool("glob"),
    (name) => ` A path has no wildcards here; ${name} finds paths by a pattern.`,
  );
}

/** How far up a missing parent is looked for. */
const MAX_LEVELS = 100;

/** The argument that makes missing directories. */
const MAKE_PARENTS: Readonly<Record<string, string>> = Object.freeze({
  write_file: "create_dirs",
  copy: "create_dirs",
  move: "create_dirs",
  mkdir: "parents",
});

/** Whether the root that a path is in was deleted. */
async function isInGoneRoot(fs: FsBackend, path: string): Promise<boolean> {
  try {
    await fs.stat(path);
    return false;
  } catch (error) {
    return error instanceof FilewrightError && error.details?.["reason"] === "root_gone";
  }
}

async function isThere(fs: FsBackend, path: string): Promise<boolean> {
  try {
    return await fs.exists(path);
  } catch {
    return false;
  }
}

async function isDirectory(fs: FsBackend, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path)).isDir;
  } catch {
    return false;
  }
}

/** Shortens the path, in its middle, until the first line of the message fits. */
function fitted(build: (path: string) => string, path: string): string {
  let message = build(path);
  let keep = path.length;
  while (firstLine(message).length > MAX_FIRST_LINE && keep > 24) {
    keep = Math.max(24, keep - (firstLine(message).length - MAX_FIRST_LINE) - 1);
    message = build(shorten(path, keep));
  }
  return clip(message);
}

/** At most `keep` UTF-16 units of a text, its middle left out. */
function shorten(text: string, keep: number): string {
  if (text.length <= keep) return text;
  const head = Math.ceil(keep / 3);
  return `${whole(text.slice(0, head))}…${whole(text.slice(text.length - (keep - head)))}`;
}

/** The remedy behind the sentence where there is room in its line, else below it. */
function withRemedy(message: string, hint: string | undefined): string {
  if (hint === undefined || hint === "" || message.includes(hint)) return message;
  const remedy = sentence(hint);
  if (message.includes("\n")) return `${message}\n${remedy}`;
  const first = /[.?!]$/u.test(message) ? message : `${message}.`;
  return first.length + remedy.length < MAX_FIRST_LINE ? `${first} ${remedy}` : `${first}\n${remedy}`;
}

/** Cuts an over-long first line. */
function clip(message: string): string {
  const first = firstLine(message);
  if (first.length <= MAX_FIRST_LINE) return message;
  const cut = first.lastIndexOf(" ", MAX_FIRST_LINE - 1);
  const at = cut > MAX_FIRST_LINE / 2 ? cut : MAX_FIRST_LINE - 1;
  return `${whole(first.slice(0, at))}…\n${first.slice(at).trimStart()}${message.slice(first.length)}`;
}

function firstLine(message: string): string {
  const end = message.indexOf("\n");
  return end < 0 ? message : message.slice(0, end);
}

/** Without the half of a surrogate pair that a cut left over. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/u, "");
}
