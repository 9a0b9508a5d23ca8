/** Parts of schemas that several tools share. */
import { type Aliases, HASH_FORM, type Schema } from "./schema.ts";

/** A string property. */
export function text(description: string, more: Partial<Schema> = {}): Schema {
  return { type: "string", description, ...more };
}

/** A boolean property with its default. */
export function flag(description: string, byDefault: boolean): Schema {
  return { type: "boolean", description, default: byDefault };
}

/** An integer property. */
export function integer(description: string, more: Partial<Schema> = {}): Schema {
  return { type: "integer", description, ...more };
}

/** A list of strings. */
export function texts(description: string, more: Partial<Schema> = {}): Schema {
  return { type: "array", items: { type: "string", minLength: 1 }, description, ...more };
}

/** One string or several. */
export function textOrTexts(description: string, more: Partial<Schema> = {}): Schema {
  return {
    type: ["string", "array"],
    items: { type: "string", minLength: 1 },
    minLength: 1,
    minItems: 1,
    description,
    ...more,
  };
}

/** Warnings: a property of the data of tools that search. */
export const WARNINGS: Schema = {
  type: "array",
  items: { type: "string" },
  description: "What else is to be known of the answer, such as what was left out.",
};

/** Changes by after hooks: a property of the data of tools that change files. */
export const HOOK_DIFF: Schema = {
  type: "string",
  description:
    "What hooks changed in the files after this call, as a unified diff. `hash` is that of the file then.",
};

/** A property with a list of allowed words. */
export function choice(description: string, values: readonly string[], byDefault: string): Schema {
  return { type: "string", enum: values, description, default: byDefault };
}

/** The time limit of a call that walks. */
export function timeout(when = "After this time the call ends with TIMEOUT."): Schema {
  return integer(`${when} In milliseconds.`, {
    default: DEFAULT_TIMEOUT_MS,
    minimum: 1,
    maximum: MAX_TIMEOUT_MS,
  });
}

/** The meaning of the time limit of a changing call. */
export const BEFORE_WRITING =
  "A call that has not begun to write by then ends with TIMEOUT; one that has is finished.";

/** The default time limit of a call that walks, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** The longest time of a timer, in milliseconds. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** A path, relative to the workspace or absolute. */
export function path(what: string, more: Partial<Schema> = {}): Schema {
  return {
    type: "string",
    minLength: 1,
    description: `${what}; relative to the workspace, or absolute.`,
    ...more,
  };
}

/** The version guard of changing tools. */
export const EXPECTED_HASH: Schema = text(
  "Hash from an earlier read_file (`sha256:…`). The call fails with CONFLICT if the content is not that any more.",
  { pattern: HASH_FORM },
);

/** The names of `path` in other systems. */
export const PATH_ALIASES: Aliases = Object.freeze({ file_path: "path", absolute_path: "path" });

/** The names of `source` and `destination` in other systems. */
export const TRANSFER_ALIASES: Aliases = Object.freeze({
  source_path: "source",
  destination_path: "destination",
});

/** The names of `a` and `b` in other systems. */
export const COMPARE_ALIASES: Aliases = Object.freeze({ file_a: "a", file_b: "b" });
