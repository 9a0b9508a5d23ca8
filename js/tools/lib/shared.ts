/** Parts of schemas that several tools share. */
import { type Aliases, HASH_PATTERN, type Schema } from "./schema.ts";

/** Returns the schema of a string property. */
export function text(description: string, more: Partial<Schema> = {}): Schema {
  return { type: "string", description, ...more };
}

/** Returns the schema of a boolean property with a default. */
export function flag(description: string, byDefault: boolean): Schema {
  return { type: "boolean", description, default: byDefault };
}

/** Returns the schema of an integer property. */
export function integer(description: string, more: Partial<Schema> = {}): Schema {
  return { type: "integer", description, ...more };
}

/** Returns the schema of a property that is a list of non-empty strings. */
export function texts(description: string, more: Partial<Schema> = {}): Schema {
  return { type: "array", items: { type: "string", minLength: 1 }, description, ...more };
}

/** Returns the schema of a property that is one string or a list of strings. */
export function textOrTextListSchema(description: string, more: Partial<Schema> = {}): Schema {
  return {
    type: ["string", "array"],
    items: { type: "string", minLength: 1 },
    minLength: 1,
    minItems: 1,
    description,
    ...more,
  };
}

/** The schema of `warnings` in the data of tools that search. */
export const WARNINGS_SCHEMA: Schema = {
  type: "array",
  items: { type: "string" },
  description: "What else is to be known of the answer, such as what was left out.",
};

/** The schema of `hook_diff` in the data of tools that change files: changes that hooks made after the call. */
export const HOOK_DIFF_SCHEMA: Schema = {
  type: "string",
  description:
    "What hooks changed in the files after this call, as a unified diff. `hash` is that of the file then.",
};

/** The schema of `changed` in the data of tools that look at a file. */
export const CHANGED_SCHEMA: Schema = {
  type: "string",
  description: "Where the workspace knows: what changed since you read the file, and by whom.",
};

/** Returns the schema of a property that takes one of some words, with a default. */
export function choice(description: string, values: readonly string[], byDefault: string): Schema {
  return { type: "string", enum: values, description, default: byDefault };
}

/**
 * Returns the schema of `timeout_ms`, for tools that walk a tree. `when` is the sentence about what happens
 * after that time.
 */
export function timeoutSchema(when = "After this time the call ends with TIMEOUT."): Schema {
  return integer(`${when} In milliseconds.`, {
    default: DEFAULT_TIMEOUT_MS,
    minimum: 1,
    maximum: MAX_TIMEOUT_MS,
  });
}

/** The sentence about the time limit of tools that change files. */
export const TIMEOUT_BEFORE_WRITING_TEXT =
  "A call that has not begun to write by then ends with TIMEOUT; one that has is finished.";

/** The default time limit of a call that walks a tree, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** The longest delay that a timer accepts, in milliseconds. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Returns the schema of a path property. The path is relative to the working directory, or absolute. */
export function path(what: string, more: Partial<Schema> = {}): Schema {
  return {
    type: "string",
    minLength: 1,
    description: `${what}; relative to the workspace, or absolute.`,
    ...more,
  };
}

/** The schema of `expected_hash` of tools that change files. */
export const EXPECTED_HASH_SCHEMA: Schema = text(
  "Hash from an earlier read_file (`sha256:…`). The call fails with CONFLICT if the content is not that any more.",
  { pattern: HASH_PATTERN },
);

/** Names that other systems have for the argument `path`. */
export const PATH_ALIASES: Aliases = Object.freeze({ file_path: "path", absolute_path: "path" });

/** Names that other systems have for the arguments `source` and `destination`. */
export const TRANSFER_ALIASES: Aliases = Object.freeze({
  source_path: "source",
  destination_path: "destination",
});

/** Names that other systems have for the arguments `a` and `b`. */
export const COMPARE_ALIASES: Aliases = Object.freeze({ file_a: "a", file_b: "b" });

/** The default of the argument `fuzz` of `apply_patch`. */
export const DEFAULT_FUZZ = 2;
