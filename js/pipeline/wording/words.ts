/** The sentences of errors, by code. `messages.ts` builds, shortens and completes the messages. */
import type { Intent } from "../../policy/index.ts";
import type { Code, FilewrightError } from "../../engine/errors.ts";
import {
  type ReaderNames,
  phraseIfNamed,
  set,
  type Setting,
  setPhrase,
  settingPhrase,
} from "../../tools/lib/tool.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { hasTrait } from "../../schema/tool-facts.ts";

/** The parts of a sentence. */
interface SentenceParts {
  readonly error: FilewrightError;
  /** The path as the caller typed it, escaped, quoted, and shortened if it is long. */
  readonly path: string;
  readonly tool: string;
  readonly intent: Intent | undefined;
  readonly argument: string | undefined;
  readonly remedy: string;
  /** The argument of the tool that helps. */
  readonly setting: Setting | undefined;
  /** The names of tools and arguments for the reader. */
  readonly names: ReaderNames;
}

/** Returns the sentence for a code. */
export type SentenceMaker = (material: SentenceParts) => string;

const plainSentence: SentenceMaker = ({ error, path }) =>
  toSentence(`${error.message || "it failed"}: ${path}`, error.hint);

/** The content of a secret in words, by the reason for which it counts as one. */
const SECRET_BY: Readonly<Record<string, string>> = {
  content: "a private key",
  link: "secrets by another name (a hard link)",
};

const SENTENCE_MAKER_BY_CODE: Partial<Record<Code, SentenceMaker>> = {
  NOT_FOUND: ({ path, remedy }) => `${path} does not exist.${remedy}`,
  OUTSIDE_ALLOWED: ({ error, path, intent, names, remedy }) =>
    error.details?.["by"] === "link"
      ? `${path} ${error.details["within"] === true ? "holds a file with" : "has"} another name (a hard link) that may not be read; work without it.`
      : `path ${path} is outside the allowed ${intent === "write" ? "write roots" : "roots"}${phraseIfNamed(
          names.tool("access_info"),
          (tool) => `; ${tool} lists them`,
        )}.${remedy}`,
  GRANT_DENIED: ({ error, path, names }) =>
    error.details?.["reason"] === "secret"
      ? `${path} holds ${SECRET_BY[String(error.details["by"])] ?? "secrets by its name"}, and its content was not granted; ${secretRemedy(names)}.`
      : `Access to ${path} was not granted; ask the user to allow its directory, or work elsewhere.`,
  PERMISSION_DENIED: ({ error, path, intent, names }) =>
    toSentence(
      `Cannot ${intent === "write" ? "change" : "read"} ${path}: ${error.message || "permission denied"}`,
      error.hint ?? phraseIfNamed(names.tool("stat"), (tool) => `${tool} tells its mode`),
    ),
  READ_ONLY: ({ error, path }) =>
    toSentence(`${path} cannot be changed: the workspace, or the file system, is read-only`, error.hint),
  PROTECTED_PATH: ({ error, path }) =>
    error.details?.["reason"] === "root"
      ? `${path} is a root of the workspace, or holds one: it cannot be deleted, moved or replaced.`
      : error.details?.["reason"] === "grants"
        ? `${path} holds the record of what was granted: it cannot be deleted, moved or replaced.`
        : error.details?.["reason"] === "place"
          ? `${path} is protected from change. ${String(error.details["because"])} The host can allow it with access.places.`
          : error.details?.["reason"] === "temporary"
            ? `${path} has, or leads to, a name of Filewright's temporary files, which are hidden and removed when they are stale: use another name.`
            : error.details?.["reason"] === "repository"
              ? `${path} is part of a directory that git takes for a repository: git runs what its configuration names. Give the file another name or place.`
              : `${path} is protected from change, or holds something that is: hooks of git, configuration of git, agents, editors or shells.`,
  IS_DIRECTORY: ({ path, intent, names }) => {
    const list = names.tool("list_directory");
    return intent === "write" || list === undefined
      ? `${path} is a directory; name a file in it.`
      : `${path} is a directory; use ${list} to see what is in it.`;
  },
  NOT_DIRECTORY: ({ path, tool, names }) =>
    hasTrait(tool, "needsDirectory")
      ? `${path} is not a directory${phraseIfNamed(names.tool("read_file"), (read) => `; use ${read} to read it`)}.`
      : `${path} is not a directory, or leads through something that is none${phraseIfNamed(
          names.tool("list_directory"),
          (list) => `; ${list} shows what is there`,
        )}.`,
  NOT_REGULAR_FILE: ({ path, names }) => {
    const looking = [names.tool("stat"), names.tool("list_directory")].filter((name) => name !== undefined);
    const only =
      looking.length === 0
        ? ""
        : `; only ${looking.join(" and ")} look${looking.length === 1 ? "s" : ""} at it`;
    return `${path} is a FIFO, socket or device, not a regular file${only}.`;
  },
  ALREADY_EXISTS: ({ path, tool, names, setting }) =>
    hasTrait(tool, "acceptsExisting")
      ? `${path} already exists${settingClause(names, setting, "if that is fine")}.`
      : `${path} already exists${settingClause(names, setting, "to replace it") || wayAroundExisting(names)}.`,
  NOT_EMPTY: ({ path, tool, names, setting }) =>
    hasTrait(tool, "removes")
      ? `Directory ${path} is not empty${settingClause(names, setting, "to delete it with all it holds")}.`
      : `Directory ${path} is not empty and cannot be replaced; delete it first, with ${settingPhrase(names, set("recursive", true)) ?? "recursive: true"}.`,
  SAME_FILE: ({ path }) => `Source and destination are the same file: ${path}.`,
  BINARY_FILE: ({ error, path, names }) => {
    const mime = error.details?.["mime"];
    return `${path} is a binary file${typeof mime === "string" ? ` (${mime})` : ""}, not text${phraseIfNamed(
      names.tool("stat"),
      (tool) => `; ${tool} tells its size and kind`,
    )}.`;
  },
  UNSUPPORTED_FORMAT: ({ error, path }) =>
    toSentence(
      `${path} is ${String(error.details?.["mime"] ?? "of a kind")} and ${error.message || "cannot be shown as text"}`,
      error.hint,
    ),
  TOO_LARGE: ({ error, path }) => {
    const { size, limit } = (error.details ?? {}) as { readonly size?: number; readonly limit?: number };
    const figures =
      size === undefined || limit === undefined
        ? ""
        : `: ${plural(size, "byte")}, and the limit is ${plural(limit, "byte")}`;
    return toSentence(`${path} is too large${figures}`, error.hint);
  },
  ENCODING_ERROR: ({ error, path, names }) =>
    toSentence(
      `${path}: ${error.message || "the bytes do not fit the encoding"}`,
      error.hint ??
        phraseIfNamed(names.argument("encoding"), (name) =>
          names.option === undefined ? `pass another ${name}, or ${name}: "auto"` : `name it with ${name}`,
        ),
    ),
  INVALID_ARGUMENT: ({ error, path, argument, names }) => {
    const wrong = error.details?.["argument"] ?? argument;
    const about = wrong === argument ? ` (${path})` : "";
    const name = names.argument(String(wrong)) ?? String(wrong);
    return toSentence(`Invalid argument '${name}': ${error.message}${about}`, error.hint);
  },
  INVALID_REGEX: ({ error, names }) =>
    toSentence(
      `Invalid regex: ${errorClause(error)}`,
      error.hint ??
        phraseIfNamed(
          setPhrase(names, set("regex", false)),
          (phrase) => `${phrase} to search for the text as it is`,
        ),
    ),
  INVALID_GLOB: ({ error }) => toSentence(`Invalid glob: ${errorClause(error)}`, error.hint),
  LIMIT_EXCEEDED: ({ error }) =>
    toSentence(errorClause(error) || "The input is beyond the engine's limits", error.hint),
  CONFLICT: ({ error, path }) =>
    toSentence(
      `${path} ${error.message || "changed since it was read"}`,
      error.hint ?? "read it again and repeat the change",
    ),
  LOCK_TIMEOUT: ({ error, path }) =>
    toSentence(`${path} is locked: ${error.message || "another writer holds it"}`, error.hint ?? "try again"),
  NO_SPACE: ({ error, path }) =>
    toSentence(
      `No space left on the device for ${path}; ${error.details?.["rolled_back"] === false ? "a part of the change stays for now" : "nothing was changed"}`,
      error.hint ?? "try again once there is room",
    ),
  LOOP: ({ path }) => `${path} leads through too many symbolic links.`,
  NAME_TOO_LONG: ({ path }) => `The name is too long for the file system: ${path}; choose a shorter one.`,
  CANCELLED: ({ error }) =>
    `The call was cancelled; ${error.details?.["rolled_back"] === false ? "a part of the change stays for now" : "nothing was changed"}.`,
  TIMEOUT: ({ error }) => toSentence(errorClause(error) || "The call took too long", error.hint),
  IO_ERROR: ({ error, path }) =>
    toSentence(`${path}: ${error.message || "the file system failed"}`, error.hint),
  INTERNAL: () => "Filewright failed unexpectedly; nothing is known to be changed. Please report it.",
};

/** Returns `; set name: true …`, or an empty text when the reader cannot make the setting. */
function settingClause(names: ReaderNames, setting: Setting | undefined, what: string): string {
  const phrase = setting === undefined ? undefined : setPhrase(names, setting);
  return phraseIfNamed(phrase, (worded) => `; ${worded} ${what}`);
}

/** Returns what a caller can do about a secret: a person at a command line grants it with an option. */
function secretRemedy(names: ReaderNames): string {
  const grant = names.option === undefined ? undefined : setPhrase(names, set("secrets", true));
  return grant === undefined ? "ask the user, or work without it" : `${grant} to allow it`;
}

/** Returns what to do about an existing target for a reader who has no argument that replaces it. */
function wayAroundExisting(names: ReaderNames): string {
  const tool = names.tool("delete");
  return tool === undefined
    ? "; it is not replaced: choose another name"
    : `; it is not replaced: delete it first with ${tool}, or choose another name`;
}

/** Returns a clause as a sentence, followed by the remedy. */
export function toSentence(what: string, remedy?: string): string {
  const text = withCapital(remedy === undefined || remedy === "" ? what : `${what}; ${remedy}`);
  return /[.?!]$/u.test(text) ? text : `${text}.`;
}

/** Capitalizes the first letter of a sentence; a quoted path keeps its case. */
function withCapital(text: string): string {
  return text === "" ? text : (text[0] as string).toUpperCase() + text.slice(1);
}

function errorClause(error: FilewrightError): string {
  return escapeKeepingLineBreaks(error.message);
}

/** Escapes control characters, which a pattern in an engine's message may contain, but keeps line breaks. */
function escapeKeepingLineBreaks(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}

/** Returns the function that words errors with a code. */
export function sentenceMakerFor(code: Code): SentenceMaker {
  return SENTENCE_MAKER_BY_CODE[code] ?? plainSentence;
}
