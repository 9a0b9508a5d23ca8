/** The types of `edit_file`'s arguments and data, and its schemas for models. */
import { exactly, named, type Case } from "../lib/exact.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { EditArgs } from "../generated/types.ts";
import { object, type ObjectSchema, type Schema } from "../lib/schema.ts";
import {
  choice,
  EXPECTED_HASH_SCHEMA,
  flag,
  HOOK_DIFF_SCHEMA,
  integer,
  path,
  text,
  WARNINGS_SCHEMA,
} from "../lib/shared.ts";

/** The options of an edit that concern the whole call. */
type CallOptions =
  | ("path" | "dry_run" | "match" | "threshold")
  | ("on_multiple" | "expected_hash" | "whole_file");

/** The checked arguments, as a list of edits. */
export interface EditRequest extends Pick<CheckedArgs["edit_file"], CallOptions> {
  readonly edits: readonly EditArgs[];
}

/** The fields that name the place of an edit. */
type Place = "old_text" | "from" | "json_pointer" | "symbol";

/** The fields that can name the place of an edit, by the fields that go with them. Besides, each edit has `new_text`. */
export const PLACES_BY_FIELD: Readonly<Record<Exclude<keyof EditArgs, "new_text">, readonly Place[]>> = {
  old_text: ["old_text"],
  from: ["from"],
  to: ["from"],
  insert: ["from", "symbol"],
  replace_all: ["old_text"],
  expected_matches: ["old_text"],
  near_line: ["old_text"],
  json_pointer: ["json_pointer"],
  symbol: ["symbol"],
};

/** The four forms of an edit. */
const PLACES: readonly Case[] = (["old_text", "from", "json_pointer", "symbol"] satisfies Place[]).map(
  (place) => ({
    required: [place, "new_text"],
    optional: Object.entries(PLACES_BY_FIELD).flatMap(([field, its]) =>
      its.includes(place) && field !== place ? [field] : [],
    ),
  }),
);

const OLD_TEXT_DESCRIPTION =
  "The text to replace, copied from the file without line numbers; with enough lines around it to be there only once.";

const FROM_DESCRIPTION =
  "Instead of old_text: the first line to replace, as read_file with anchors: true numbers it (`120#k3x9q1a`).";
const TO = "The last line to replace; without it the line `from` alone.";
const INSERT_DESCRIPTION =
  "Put new_text on lines of its own before or after the line `from` or the definition `symbol`, which stays.";

const POINTER_DESCRIPTION =
  'Instead of old_text, in a JSON, YAML, TOML, XML or CSV file: the value at this pointer, such as "/scripts/test"; new_text is the new value as the file writes it, a JSON string with its quotes.';

const SYMBOL_DESCRIPTION =
  "Instead of old_text: the definition with this name, such as `parse` or `Parser.parse`; its decorators and comments above stay.";

const insertArgumentSchema = (description: string): Schema => ({
  type: "string",
  enum: ["before", "after"],
  description,
});

const EDIT_FIELD_SCHEMAS: Readonly<Record<string, Schema>> = {
  old_text: text(OLD_TEXT_DESCRIPTION, { minLength: 1 }),
  new_text: text('Required: the text to put there; "" deletes.'),
  replace_all: flag("Replace every occurrence instead of refusing more than one.", false),
  expected_matches: integer("Replace exactly this many occurrences, or refuse.", { minimum: 1 }),
  near_line: integer("Of several occurrences take the one nearest to this line.", { minimum: 1 }),
  from: text(FROM_DESCRIPTION),
  to: text(TO),
  insert: insertArgumentSchema(INSERT_DESCRIPTION),
  json_pointer: text(POINTER_DESCRIPTION),
  symbol: text(SYMBOL_DESCRIPTION, { minLength: 1 }),
};

/** The schema of the arguments. */
export const inputSchema: ObjectSchema = exactly(
  object(
    {
      path: path("The file to edit"),
      edits: {
        type: "array",
        minItems: 1,
        items: exactly(object(EDIT_FIELD_SCHEMAS, []), { name: "EditArgs", oneOf: { cases: PLACES } }),
        description:
          "The replacements, applied in order, each on the result of those before; all of them or none. For one alone its fields may stand at the top level instead.",
      },
      old_text: text(`For a single edit: ${OLD_TEXT_DESCRIPTION}`, { minLength: 1 }),
      new_text: text('For a single edit, required: the text to put there; "" deletes.'),
      replace_all: { type: "boolean", description: "For a single edit: replace every occurrence." },
      expected_matches: integer("For a single edit: replace exactly this many occurrences, or refuse.", {
        minimum: 1,
      }),
      near_line: integer("For a single edit: take the occurrence nearest to this line.", { minimum: 1 }),
      from: text(`For a single edit. ${FROM_DESCRIPTION}`),
      to: text(`For a single edit. ${TO}`),
      insert: insertArgumentSchema(`For a single edit. ${INSERT_DESCRIPTION}`),
      json_pointer: text(`For a single edit. ${POINTER_DESCRIPTION}`),
      symbol: text(`For a single edit. ${SYMBOL_DESCRIPTION}`, { minLength: 1 }),
      dry_run: flag("Only show the diff; nothing is written.", false),
      match: {
        type: "string",
        enum: ["exact", "whitespace", "fuzzy"],
        description:
          "How strictly old_text must match: exact (line ends aside), whitespace (indentation and blanks may differ), or fuzzy (small slips too). Default: whitespace, unless the host has set another.",
      },
      threshold: {
        type: "number",
        minimum: 0,
        maximum: 1,
        description:
          "With match: fuzzy, the least share of old_text that must be found. It can only make matching stricter.",
      },
      on_multiple: choice("What to do where an edit fits in several places.", ["error", "first"], "error"),
      expected_hash: EXPECTED_HASH_SCHEMA,
      whole_file: flag(
        "The edits leave nothing out, although a new line looks like a comment that stands for lines left out.",
        false,
      ),
    },
    ["path"],
  ),
  { oneOf: { cases: [{ required: ["edits"] }, ...PLACES] } },
);

/** The schema of the data. */
export const outputSchema: ObjectSchema = object(
  {
    path: text("The file, relative to the workspace."),
    applied: { type: "boolean", description: "False for a dry run." },
    replacements: integer("Places replaced."),
    revised: exactly(
      {
        type: "boolean",
        description: "Whether a reviewer changed the result or accepted parts: see the diff.",
      },
      { values: [true] },
    ),
    edits: {
      type: "array",
      description: "What became of each edit.",
      items: named(
        "EditOutcome",
        object(
          {
            index: integer("Position in the list, from 0."),
            matches: integer("Places where the text was found: more than replaced where one was chosen."),
            tier: {
              type: "string",
              enum: ["exact", "whitespace", "fuzzy"],
              description: "How they were found.",
            },
            score: { type: "number", description: "Share of old_text that was found, 0 to 1." },
            repairs: {
              type: "array",
              items: { type: "string" },
              description: "What had to be undone in the edit, such as pasted line numbers.",
            },
            start_line: integer("First line replaced, before this edit."),
            end_line: integer("Last line replaced, before this edit."),
          },
          ["index", "matches", "tier", "score", "repairs", "start_line", "end_line"],
        ),
      ),
    },
    diff: text("Unified diff of the whole change."),
    bytes_written: integer("Bytes of the file now."),
    hash: text("Hash of the file now, for expected_hash."),
    hook_diff: HOOK_DIFF_SCHEMA,
    truncated: { type: "boolean", description: "Whether the diff is cut." },
    warnings: WARNINGS_SCHEMA,
  },
  ["path", "applied", "replacements", "edits", "diff", "bytes_written", "hash"],
);
