/**
 * The one place where a failure becomes a sentence: what happened, the path as
 * the caller typed it, one remedy.
 *
 * Codes come from the engine, the backend or a tool; wording is decided here, by
 * code. Failures that only their author can word (a schema's, an edit's nearest
 * line) arrive with their message and keep it. The first line stays within 200
 * characters, hostile names are escaped, and no path appears that the caller did
 * not type, except names found beside it.
 */
import type { FsBackend } from "../backends/backend.ts";
import { type Code, type FilewrightError, fromEngine, makeError } from "../engine/errors.ts";
import { nearest } from "../tools/nearest.ts";
import { childOf, isWithin, nameOf, parentOf } from "../backends/paths.ts";
import { escapeControls } from "../tools/text.ts";
import type { Intent, Location } from "../access/index.ts";
import type { PathUse } from "../tools/tool.ts";

/** The longest first line of a message, in UTF-16 units. */
const MAX_FIRST_LINE = 200;
/** A directory larger than this is not searched for a similar name. */
const MAX_SIBLINGS = 20_000;

/** What is known about the call that failed. */
export interface Failed {
  readonly tool: string;
  /** The paths of the call; the first is named where nothing better is known. */
  readonly uses: readonly PathUse[];
  /** Those of them that were judged. */
  readonly locations: readonly Location[];
  /** Present once paths could be resolved. */
  readonly fs: FsBackend;
  /** A path as results show it. */
  display(path: string): string;
}

/** The failure as it is told: whatever was thrown, worded. */
export async function word(thrown: unknown, failed: Failed): Promise<FilewrightError> {
  const error = fromEngine(thrown);
  const about = blamed(error, failed);
  const message = await messageOf(error, about, failed);
  return makeError(error.code, message, {
    path: about?.use.typed,
    hint: error.hint,
    details: error.details,
    cause: error.cause ?? error,
  });
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

async function messageOf(error: FilewrightError, about: About | undefined, failed: Failed): Promise<string> {
  const worded = own(error);
  if (worded !== undefined) return withRemedy(clip(worded), error.hint);
  const remedy =
    error.code === "NOT_FOUND" && about?.at !== undefined ? await whereInstead(about.at, failed) : "";
  const build = WORDS[error.code] ?? plainWords;
  const shown = about === undefined ? "the path" : `'${escapeControls(about.use.typed)}'`;
  return fitted(
    (path) =>
      build({
        error,
        path,
        tool: failed.tool,
        intent: about?.use.intent,
        argument: about?.use.argument,
        remedy,
      }),
    shown,
  );
}

/** Codes whose message is complete where it is made: by the schema, the edit engine, a hook. */
const WORDED_BY_AUTHOR: ReadonlySet<Code> = new Set<Code>([
  "INVALID_ARGUMENT",
  "UNKNOWN_TOOL",
  "HOOK_BLOCKED",
  "MATCH_NOT_FOUND",
  "MATCH_NOT_UNIQUE",
  "MATCH_COUNT_MISMATCH",
  "NO_CHANGE",
  "PATCH_FAILED",
  "GRANT_DENIED",
  "APPROVAL_DENIED",
]);

/** The message of a failure that its author worded, or undefined. */
function own(error: FilewrightError): string | undefined {
  if (!WORDED_BY_AUTHOR.has(error.code) || error.message === "") return undefined;
  const first = error.message[0] as string;
  // A backend's or the engine's clause about a path, not a sentence: worded below.
  if (error.code === "INVALID_ARGUMENT" && first === first.toLowerCase()) return undefined;
  return error.message;
}

/** What a sentence is made of. */
interface Material {
  readonly error: FilewrightError;
  /** As typed: escaped, quoted, and shortened where it must be. */
  readonly path: string;
  readonly tool: string;
  readonly intent: Intent | undefined;
  readonly argument: string | undefined;
  readonly remedy: string;
}

type Words = (material: Material) => string;

const plainWords: Words = ({ error, path }) =>
  sentence(`${error.message || "it failed"}: ${path}`, error.hint);

const WORDS: Partial<Record<Code, Words>> = {
  NOT_FOUND: ({ path, remedy }) => `${path} does not exist.${remedy}`,
  OUTSIDE_ALLOWED: ({ path, intent }) =>
    `path ${path} is outside the allowed ${intent === "write" ? "write roots" : "roots"}; access_info lists them.`,
  PERMISSION_DENIED: ({ error, path, intent }) =>
    sentence(
      `Cannot ${intent === "write" ? "change" : "read"} ${path}: ${error.message || "permission denied"}`,
      error.hint ?? "stat tells its mode",
    ),
  READ_ONLY: ({ path }) => `${path} cannot be changed: the workspace, or the file system, is read-only.`,
  PROTECTED_PATH: ({ error, path }) =>
    error.details?.["reason"] === "root"
      ? `${path} is a root of the workspace, or holds one: it cannot be deleted, moved or replaced.`
      : `${path} is protected from change, or holds something that is (git hooks and configuration).`,
  IS_DIRECTORY: ({ path, intent }) =>
    intent === "write"
      ? `${path} is a directory; name a file in it.`
      : `${path} is a directory; use list_directory to see what is in it.`,
  NOT_DIRECTORY: ({ path, tool }) =>
    tool === "list_directory" || tool === "glob"
      ? `${path} is not a directory; use read_file to read it.`
      : `${path} is not a directory, or leads through something that is none; list_directory shows what is there.`,
  NOT_REGULAR_FILE: ({ path }) =>
    `${path} is a FIFO, socket or device, not a regular file; only stat and list_directory look at it.`,
  ALREADY_EXISTS: ({ path, tool }) =>
    tool === "mkdir"
      ? `${path} already exists; set exist_ok: true if that is fine.`
      : `${path} already exists; set overwrite: true to replace it.`,
  NOT_EMPTY: ({ path, tool }) =>
    tool === "delete"
      ? `Directory ${path} is not empty; set recursive: true to delete it with all it holds.`
      : `Directory ${path} is not empty and cannot be replaced; delete it first, with recursive: true.`,
  SAME_FILE: ({ path }) => `Source and destination are the same file: ${path}.`,
  BINARY_FILE: ({ error, path }) => {
    const mime = error.details?.["mime"];
    return `${path} is a binary file${typeof mime === "string" ? ` (${mime})` : ""}, not text; stat tells its size and kind.`;
  },
  UNSUPPORTED_FORMAT: ({ error, path }) =>
    sentence(
      `${path} is ${String(error.details?.["mime"] ?? "of a kind")} and ${error.message || "cannot be shown as text"}`,
      error.hint,
    ),
  TOO_LARGE: ({ error, path }) => {
    const { size, limit } = (error.details ?? {}) as { readonly size?: number; readonly limit?: number };
    const figures =
      size === undefined || limit === undefined ? "" : `: ${size} bytes, and the limit is ${limit} bytes`;
    return sentence(`${path} is too large${figures}`, error.hint);
  },
  ENCODING_ERROR: ({ error, path }) =>
    sentence(
      `${path}: ${error.message || "the bytes do not fit the encoding"}`,
      error.hint ?? 'pass another encoding, or encoding: "auto"',
    ),
  INVALID_ARGUMENT: ({ error, path, argument }) => {
    const wrong = error.details?.["argument"] ?? argument;
    const where = wrong === argument ? ` (${path})` : "";
    return sentence(`Invalid argument '${String(wrong)}': ${error.message}${where}`, error.hint);
  },
  INVALID_REGEX: ({ error }) =>
    sentence(
      `Invalid regex: ${clause(error)}`,
      error.hint ?? "set regex: false to search for the text as it is",
    ),
  INVALID_GLOB: ({ error }) => sentence(`Invalid glob: ${clause(error)}`, error.hint),
  LIMIT_EXCEEDED: ({ error }) =>
    sentence(clause(error) || "The input is beyond the engine's limits", error.hint),
  CONFLICT: ({ error, path }) =>
    sentence(
      `${path} ${error.message || "changed since it was read"}`,
      error.hint ?? "read it again and repeat the change",
    ),
  LOCK_TIMEOUT: ({ error, path }) =>
    sentence(`${path} is locked: ${error.message || "another writer holds it"}`, error.hint ?? "try again"),
  NO_SPACE: ({ path }) => `No space left on the device for ${path}; nothing was changed.`,
  LOOP: ({ path }) => `${path} leads through too many symbolic links.`,
  NAME_TOO_LONG: ({ path }) => `The name is too long for the file system: ${path}.`,
  CANCELLED: () => "The call was cancelled; nothing was changed.",
  TIMEOUT: ({ error }) => sentence(clause(error) || "The call took too long", error.hint),
  IO_ERROR: ({ error, path }) =>
    sentence(`${path}: ${error.message || "the file system failed"}`, error.hint),
  INTERNAL: () => "Filewright failed unexpectedly; nothing is known to be changed. Please report it.",
};

/** Ends a clause and adds the remedy. */
function sentence(what: string, remedy?: string): string {
  const text = capital(remedy === undefined || remedy === "" ? what : `${what}; ${remedy}`);
  return /[.?!]$/u.test(text) ? text : `${text}.`;
}

/** A path is quoted and keeps its case; a word begins a sentence. */
function capital(text: string): string {
  return text === "" ? text : (text[0] as string).toUpperCase() + text.slice(1);
}

function clause(error: FilewrightError): string {
  return escapeLines(error.message);
}

/** Messages of the engine may quote a pattern; control characters in it stay harmless, lines stay lines. */
function escapeLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}

/** Where the caller may have meant to go: a similar name, or the parent that is missing. */
async function whereInstead(at: Location, { fs, display, tool }: Failed): Promise<string> {
  if (at.path === "/") return "";
  const shown = (path: string): string => `'${shorten(escapeControls(display(path)), 60)}'`;
  try {
    const parent = parentOf(at.path);
    if (await isDirectory(fs, parent)) {
      const entries = await fs.listDir(parent);
      if (entries.length > MAX_SIBLINGS) return "";
      const name = nameOf(at.path);
      if (entries.some((entry) => entry.name === name))
        return " It is a link, and what it leads to is missing.";
      const names = entries.map((entry) => entry.name);
      const close = nearest(name, names);
      if (close === undefined) return " list_directory shows what is there.";
      return ` Did you mean ${shown(childOf(parent, close))}?`;
    }
    let missing = parent;
    for (let levels = 0; levels < MAX_LEVELS && !(await isDirectory(fs, parentOf(missing))); levels++) {
      missing = parentOf(missing);
    }
    return ` Its directory ${shown(missing)} does not exist.${MAKE_PARENTS[tool] ?? ""}`;
  } catch {
    return ""; // A suggestion is a courtesy: whatever prevents it, the failure itself is told.
  }
}

/** How far up a missing parent is looked for. */
const MAX_LEVELS = 100;

const CREATE_DIRS = " Set create_dirs: true to make it.";
const MAKE_PARENTS: Readonly<Record<string, string>> = Object.freeze({
  write_file: CREATE_DIRS,
  copy: CREATE_DIRS,
  move: CREATE_DIRS,
  mkdir: " Set parents: true to make it.",
});

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
  const first = sentence(message);
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
