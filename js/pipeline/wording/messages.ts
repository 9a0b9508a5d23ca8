/**
 * Words the errors of calls: the problem, the path as the caller typed it, and one remedy.
 *
 * The engine, a backend or a tool provides a code with a clause; `words.ts` has the sentence for each
 * code. Errors that only their source can word (a schema's, or an edit's nearest line) arrive complete
 * and keep their message. The first line has at most 200 characters, hostile names are escaped, and
 * no path appears that the caller did not type, except existing names near it.
 */
import type { Files } from "../../backends/files.ts";
import { type Code, FilewrightError, fromEngine, makeError } from "../../engine/errors.ts";
import { nodePermissionError } from "../../engine/node-permission.ts";
import { nearest } from "../../schema/nearest.ts";
import { childOf, isWithin, nameOf, parentOf } from "../../backends/paths.ts";
import { NAMES_FOR_PEOPLE } from "../../tools/lib/tool.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { Location } from "../../policy/index.ts";
import {
  assignmentPhrase,
  type ReaderNames,
  CANONICAL_NAMES,
  phraseIfNamed,
  type PathUse,
  set,
  type Setting,
  setPhrase,
} from "../../tools/lib/tool.ts";
import { type LookAlikeContext, pathInOtherRoot } from "../paths/look-alikes.ts";
import { pathWithSameEnd } from "../paths/path-forms.ts";
import { takesArgument } from "../../schema/tool-names.ts";
import { hintInReaderNames, sentenceInReaderNames, settingIn } from "./reader-words.ts";
import { toSentence, sentenceMakerFor } from "./words.ts";

/**
 * The maximum length of the first line of a message, in UTF-16 units. The path in it, then the line, is shortened.
 */
const MAX_FIRST_LINE_LENGTH = 200;
/** The maximum number of entries of a directory that is searched for a similar name. */
const MAX_SEARCHED_SIBLINGS = 20_000;
/**
 * The minimum length of a name that can be a misspelling; a shorter one is one edit away from too many others.
 */
const MIN_MISSPELT_NAME = 3;

/** The facts about a failed call. */
export interface FailedCall extends LookAlikeContext {
  readonly tool: string;
  /** The paths of the call; the first is named when the error names none. */
  readonly uses: readonly PathUse[];
  /** The locations of the paths that were checked. */
  readonly locations: readonly Location[];
  /** The names of tools and arguments for the reader of the text. */
  readonly names: ReaderNames;
}

/** An error for programs, with its messages for readers. */
export interface WordedError {
  readonly error: FilewrightError;
  /** The message with the names of the reader. */
  readonly told: string;
  /** The message for people, who call no tools. */
  readonly shown: string;
}

/** Returns the worded error for any thrown value. */
export async function wordError(thrown: unknown, failed: FailedCall): Promise<WordedError> {
  const error = nodePermissionError(thrown) ?? fromEngine(thrown);
  const about = blamedPath(error, failed);
  const nearby = await suggestedPathFor(error, about, failed);
  const setting = settingFor(error, failed.tool, nearby);
  const messageIn = (names: ReaderNames): string =>
    messageWithPath(error, about, { ...failed, names }, { nearby, setting });
  const message = messageIn(CANONICAL_NAMES);
  return {
    error: makeError(error.code, message, {
      path: about?.use.typed,
      hint: error.hint,
      details: setting === undefined ? error.details : { ...error.details, remedy: setting },
      cause: error.cause ?? error,
      complete: true,
    }),
    told: failed.names === CANONICAL_NAMES ? message : messageIn(failed.names),
    shown: messageIn(NAMES_FOR_PEOPLE),
  };
}

/** The facts that were found about a failure. */
interface Findings {
  /** Entries near the missing path. */
  readonly nearby: NearbyFindings | undefined;
  /** The argument that helps. */
  readonly setting: Setting | undefined;
}

/** The arguments that help after a failure with a code, for the tools that take them. */
const SETTINGS_BY_CODE: Partial<Record<Code, readonly Setting[]>> = Object.freeze({
  ALREADY_EXISTS: [set("exist_ok", true), set("overwrite", true)],
  NOT_EMPTY: [set("recursive", true)],
  NOT_FOUND: [set("create_dirs", true), set("parents", true)],
});

/** Returns the argument that helps after a failure; undefined when none of the tool does. */
function settingFor(
  error: FilewrightError,
  tool: string,
  nearby: NearbyFindings | undefined,
): Setting | undefined {
  if (error.hint !== undefined) return settingIn(error.hint);
  const isMissingParent =
    nearby?.missing !== undefined && nearby.similar === undefined && nearby.inside === undefined;
  if (error.code === "NOT_FOUND" && !isMissingParent) return undefined;
  return SETTINGS_BY_CODE[error.code]?.find(({ argument }) => takesArgument(tool, argument));
}

/** Returns the path that the caller may have meant by a missing or forbidden one. */
async function suggestedPathFor(
  error: FilewrightError,
  about: BlamedPath | undefined,
  failed: FailedCall,
): Promise<NearbyFindings | undefined> {
  if (error.complete || about === undefined) return undefined;
  const { typed } = about.use;
  const context = { fs: failed.fs, cwd: failed.cwd, display: failed.display };
  if (error.code === "OUTSIDE_ALLOWED") {
    const inside = await pathWithSameEnd(typed, context).catch(() => undefined);
    // A link in a root that leads outside has the end of its own path.
    return inside === undefined || inside === typed ? undefined : { inside };
  }
  if (error.code !== "NOT_FOUND" || about.at === undefined) return undefined;
  if (/[*?]/u.test(typed)) return { glob: typed };
  const other = await pathInOtherRoot(typed, failed).catch(() => undefined);
  if (other !== undefined) return { inside: failed.display(other) };
  const found = await findNearby(about.at, failed);
  if (found === undefined || found.dangling || found.similar?.endsWith(".") === true) return found;
  if (found.similar !== undefined && !/["'`@\\]/u.test(typed)) return found;
  const inside = await pathWithSameEnd(typed, context).catch(() => undefined);
  return inside === undefined ? found : { ...found, inside };
}

/** A path of the call to which an error is attributed. Its location is undefined until it is checked. */
interface BlamedPath {
  readonly use: PathUse;
  readonly at: Location | undefined;
}

/** Returns the path that an error is about: the one that it names, or the first. */
function blamedPath(error: FilewrightError, { uses, locations }: FailedCall): BlamedPath | undefined {
  const all = uses.map((use, index): BlamedPath => ({ use, at: locations[index] }));
  // No path of the call is the cause.
  if (error.details?.["state_directory"] !== undefined) return undefined;
  const path = error.path;
  if (path === undefined) return all[0];
  return (
    all.find(({ use, at }) => at?.path === path || use.typed === path) ??
    all.find(({ at }) => at !== undefined && isWithin(path, at.path)) ??
    all.find(({ at }) => at !== undefined && isWithin(at.path, path)) ??
    all[0]
  );
}

function messageWithPath(
  error: FilewrightError,
  about: BlamedPath | undefined,
  failed: FailedCall,
  { nearby, setting }: Findings,
): string {
  const { names } = failed;
  if (error.complete || WORDED_BY_ENGINE.has(error.code)) {
    const hint = error.hint === undefined ? undefined : hintInReaderNames(error.hint, names);
    return withRemedy(
      withClippedFirstLine(sentenceInReaderNames(error.message, names, about?.use.typed)),
      hint,
    );
  }
  const remedy = nearby === undefined ? "" : otherPathRemedy(nearby, setting, failed);
  const build = sentenceMakerFor(error.code);
  const shown = about === undefined ? "the path" : `'${escapeControls(about.use.typed)}'`;
  const followed = withHintFor(error, names);
  return withFittingPath(
    (path) =>
      build({
        error: followed,
        path,
        tool: failed.tool,
        intent: about?.use.intent,
        argument: about?.use.argument,
        remedy,
        setting,
        names,
      }),
    shown,
  );
}

/** Returns the error with its hint in the reader's names; without the hint when the reader cannot follow it. */
function withHintFor(error: FilewrightError, names: ReaderNames): FilewrightError {
  if (names === CANONICAL_NAMES || error.hint === undefined) return error;
  const { code, message, path, details, cause } = error;
  return makeError(code, message, { path, hint: hintInReaderNames(error.hint, names), details, cause });
}

/** Codes of the edit engine, which words its refusals with the path that it was given. */
const WORDED_BY_ENGINE: ReadonlySet<Code> = new Set<Code>([
  "MATCH_NOT_FOUND",
  "MATCH_NOT_UNIQUE",
  "MATCH_COUNT_MISMATCH",
  "NO_CHANGE",
  "PATCH_FAILED",
]);

/** The findings near a missing path. */
interface NearbyFindings {
  /** True when the root of the path was deleted and not replaced. */
  readonly gone?: true;
  /** True when the path is a link whose target is missing. */
  readonly dangling?: true;
  /** The path with a similar name. */
  readonly similar?: string;
  /** A workspace path, as results show it, with the same end. */
  readonly inside?: string;
  /** The path, when it is a pattern. */
  readonly glob?: string;
  /** The first missing directory of the path. */
  readonly missing?: string;
}

/** Looks for the entry that the caller may have meant: a similar name, or the missing parent. */
async function findNearby(at: Location, { fs }: FailedCall): Promise<NearbyFindings | undefined> {
  if (at.path === "/") return undefined;
  if (await isInGoneRoot(fs, at.path)) return { gone: true };
  try {
    const parent = parentOf(at.path);
    if (await isDirectory(fs, parent)) return await findSibling(fs, parent, nameOf(at.path));
    let missing = parent;
    for (
      let levels = 0;
      levels < MAX_PARENT_LEVELS && !(await isDirectory(fs, parentOf(missing)));
      levels++
    ) {
      missing = parentOf(missing);
    }
    // A misspelt directory is suggested only if it contains the requested entry. Short names are too similar.
    if (nameOf(missing).length < MIN_MISSPELT_NAME) return { missing };
    const entries = await fs.listDir(parentOf(missing), { facts: false });
    if (entries.length > MAX_SEARCHED_SIBLINGS) return { missing };
    const close = nearest(
      nameOf(missing),
      entries.filter(({ isDir }) => isDir).map(({ name }) => name),
    );
    if (close === undefined) return { missing };
    const meant = childOf(parentOf(missing), close) + at.path.slice(missing.length);
    return (await existsOrFalse(fs, meant)) ? { missing, similar: meant } : { missing };
  } catch {
    return undefined; // A suggestion is optional, so its failure must not replace the error.
  }
}

/** Looks for a name like a missing one in its directory. */
async function findSibling(
  fs: FailedCall["fs"],
  parent: string,
  name: string,
): Promise<NearbyFindings | undefined> {
  const entries = await fs.listDir(parent);
  if (entries.length > MAX_SEARCHED_SIBLINGS) return undefined;
  if (entries.some((entry) => entry.name === name)) return { dangling: true };
  const close = nearest(
    name,
    entries.map((entry) => entry.name),
  );
  return close === undefined ? {} : { similar: childOf(parent, close) };
}

/** Returns the remedy that names another path. */
function otherPathRemedy(
  { gone, dangling, similar, missing, inside, glob }: NearbyFindings,
  setting: Setting | undefined,
  { display, tool, names }: FailedCall,
): string {
  if (gone)
    return " The root of the workspace is gone: its directory was deleted. Make it again, then repeat the call.";
  if (glob !== undefined) return globRemedy(glob, tool, names);
  if (inside !== undefined) return ` Did you mean '${shortenMiddle(escapeControls(inside), 60)}'?`;
  const shown = (path: string): string => `'${shortenMiddle(escapeControls(display(path)), 60)}'`;
  if (dangling) return " It is a link, and what it leads to is missing.";
  if (similar !== undefined) return ` Did you mean ${shown(similar)}?`;
  if (missing === undefined)
    return phraseIfNamed(names.tool("list_directory"), (list) => ` ${list} shows what is there.`);
  const make = setting === undefined ? undefined : setPhrase(names, setting);
  return ` Its directory ${shown(missing)} does not exist.${phraseIfNamed(make, (phrase) => ` ${toSentence(`${phrase} to make it`)}`)}`;
}

/** Returns the remedy for a pattern in place of a path. */
function globRemedy(typed: string, tool: string, names: ReaderNames): string {
  const [, base = ".", pattern = typed] = /^(?:(.*?)\/)?([^/]*[*?].*)$/u.exec(typed) ?? [];
  const [path, glob] = [
    assignmentPhrase(names, "path", base),
    takesArgument(tool, "glob") ? assignmentPhrase(names, "glob", pattern) : undefined,
  ];
  if (path !== undefined && glob !== undefined)
    return escapeControls(
      ` A path is a directory or a file; put the pattern into ${names.argument("glob")}: ${path}, ${glob}.`,
    );
  return phraseIfNamed(
    names.tool("glob"),
    (name) => ` A path has no wildcards here; ${name} finds paths by a pattern.`,
  );
}

/** The maximum number of levels to search upwards for an existing parent. */
const MAX_PARENT_LEVELS = 100;

/** Returns true when the root that contains a path was deleted. */
async function isInGoneRoot(fs: Files, path: string): Promise<boolean> {
  try {
    await fs.stat(path);
    return false;
  } catch (error) {
    return error instanceof FilewrightError && error.details?.["reason"] === "root_gone";
  }
}

/** Returns true when an entry exists; false also when the storage refuses to tell. */
async function existsOrFalse(fs: Files, path: string): Promise<boolean> {
  try {
    return await fs.exists(path);
  } catch {
    return false;
  }
}

async function isDirectory(fs: Files, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path)).isDir;
  } catch {
    return false;
  }
}

/** Shortens the middle of the path until the first line of the message fits. */
function withFittingPath(build: (path: string) => string, path: string): string {
  let message = build(path);
  let keep = path.length;
  while (firstLine(message).length > MAX_FIRST_LINE_LENGTH && keep > 24) {
    keep = Math.max(24, keep - (firstLine(message).length - MAX_FIRST_LINE_LENGTH) - 1);
    message = build(shortenMiddle(path, keep));
  }
  return withClippedFirstLine(message);
}

/** Returns at most `keep` UTF-16 units of a text, without its middle. */
function shortenMiddle(text: string, keep: number): string {
  if (text.length <= keep) return text;
  const head = Math.ceil(keep / 3);
  return `${withoutHalfSurrogates(text.slice(0, head))}…${withoutHalfSurrogates(text.slice(text.length - (keep - head)))}`;
}

/** Adds the remedy to the sentence when its line has room, otherwise below it. */
function withRemedy(message: string, hint: string | undefined): string {
  if (hint === undefined || hint === "" || message.includes(hint)) return message;
  const remedy = toSentence(hint);
  if (message.includes("\n")) return `${message}\n${remedy}`;
  const first = /[.?!]$/u.test(message) ? message : `${message}.`;
  return first.length + remedy.length < MAX_FIRST_LINE_LENGTH ? `${first} ${remedy}` : `${first}\n${remedy}`;
}

/** Cuts a first line that is too long. */
function withClippedFirstLine(message: string): string {
  const first = firstLine(message);
  if (first.length <= MAX_FIRST_LINE_LENGTH) return message;
  const cut = first.lastIndexOf(" ", MAX_FIRST_LINE_LENGTH - 1);
  const at = cut > MAX_FIRST_LINE_LENGTH / 2 ? cut : MAX_FIRST_LINE_LENGTH - 1;
  return `${withoutHalfSurrogates(first.slice(0, at))}…\n${first.slice(at).trimStart()}${message.slice(first.length)}`;
}

function firstLine(message: string): string {
  const end = message.indexOf("\n");
  return end < 0 ? message : message.slice(0, end);
}

/** Returns a text without half of a surrogate pair at its ends, which a cut can leave. */
function withoutHalfSurrogates(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/u, "");
}
