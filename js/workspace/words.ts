/**
 * What each code says: the sentences of refusals. Where they are put together,
 * shortened and completed with what stands nearby is `messages.ts`.
 */
import type { Intent } from "../access/index.ts";
import type { Code, FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../tools/text.ts";

/** What a sentence is made of. */
export interface Material {
  readonly error: FilewrightError;
  /** As typed: escaped, quoted, and shortened where it must be. */
  readonly path: string;
  readonly tool: string;
  readonly intent: Intent | undefined;
  readonly argument: string | undefined;
  readonly remedy: string;
}

/** The sentence for a code. */
export type Words = (material: Material) => string;

const plainWords: Words = ({ error, path }) =>
  sentence(`${error.message || "it failed"}: ${path}`, error.hint);

const WORDS: Partial<Record<Code, Words>> = {
  NOT_FOUND: ({ path, remedy }) => `${path} does not exist.${remedy}`,
  OUTSIDE_ALLOWED: ({ path, intent }) =>
    `path ${path} is outside the allowed ${intent === "write" ? "write roots" : "roots"}; access_info lists them.`,
  GRANT_DENIED: ({ path }) =>
    `Access to ${path} was not granted; ask the user to allow its directory, or work elsewhere.`,
  PERMISSION_DENIED: ({ error, path, intent }) =>
    sentence(
      `Cannot ${intent === "write" ? "change" : "read"} ${path}: ${error.message || "permission denied"}`,
      error.hint ?? "stat tells its mode",
    ),
  READ_ONLY: ({ path }) => `${path} cannot be changed: the workspace, or the file system, is read-only.`,
  PROTECTED_PATH: ({ error, path }) =>
    error.details?.["reason"] === "root"
      ? `${path} is a root of the workspace, or holds one: it cannot be deleted, moved or replaced.`
      : error.details?.["reason"] === "grants"
        ? `${path} holds the record of what was granted: it cannot be deleted, moved or replaced.`
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

/** A clause as a sentence, the remedy behind it. */
export function sentence(what: string, remedy?: string): string {
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

/** How failures of a code are worded. */
export function wordsFor(code: Code): Words {
  return WORDS[code] ?? plainWords;
}
