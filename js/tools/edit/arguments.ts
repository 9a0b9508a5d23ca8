/**
 * Checks which arguments of `edit_file` may be given together, and converts a call with a single edit to one
 * with a list.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { Arguments } from "../lib/schema.ts";
import type { EditArgs, EditFileArgs } from "../generated/types.ts";
import { type EditRequest, PLACES_BY_FIELD } from "./schema.ts";

type ParsedEditArgs = Omit<EditRequest, "edits"> & EditFileArgs;

/**
 * Wraps an argument check. If it refuses an empty old text, the error also names the tool that creates a
 * file. `argument` and `tool` are the names of `old_text` and `write_file` that the caller knows; an
 * undefined `tool` adds nothing.
 */
export function withEmptyOldTextHint<T>(
  parse: (given: Arguments) => T,
  argument = "old_text",
  tool: string | undefined = "write_file",
): (given: Arguments) => T {
  return (given) => {
    try {
      return parse(given);
    } catch (error) {
      if (!(error instanceof FilewrightError) || tool === undefined) throw error;
      if (!error.message.endsWith(`${argument}': must not be empty.`)) throw error;
      throw new FilewrightError(
        error.code,
        `${error.message} To create a file, or to replace all of one, use ${tool}.`,
        { complete: true, details: error.details ?? {} },
      );
    }
  };
}

/** Extends the argument check: an edit given by arguments at the top level becomes a list with one edit. */
export function normalizeEdits(parse: (args: Arguments) => ParsedEditArgs): (args: Arguments) => EditRequest {
  return (given) => {
    const fields = parse(given);
    const [single, rest] = [{}, {}] as [Record<string, unknown>, Record<string, unknown>];
    for (const [name, value] of Object.entries(fields)) (EDIT_FIELDS.has(name) ? single : rest)[name] = value;
    return { ...rest, edits: checkedEdits(fields.edits, single) } as EditRequest;
  };
}

/** Returns the list of edits, or the edit at the top level as one. @throws INVALID_ARGUMENT */
function checkedEdits(
  edits: readonly EditArgs[] | undefined,
  single: Readonly<Record<string, unknown>>,
): readonly EditArgs[] {
  const [stray] = Object.keys(single);
  if (edits === undefined && stray === undefined)
    throw invalidArgumentError("edits", "is required: a list of {old_text, new_text}");
  if (edits === undefined) return [checkedEdit(single, "")];
  if (stray !== undefined)
    throw invalidArgumentError(stray, "give edits, or one edit at the top level, not both");
  return edits.map((edit, index) => checkedEdit(edit, `edits[${index}].`));
}

type PlaceField = keyof typeof PLACES_BY_FIELD;

/** The names of the fields of one edit. */
const EDIT_FIELDS: ReadonlySet<string> = new Set(["new_text", ...Object.keys(PLACES_BY_FIELD)]);

/** The fields in the order in which the first one that does not belong to the place of an edit is named. */
const FIELDS: readonly PlaceField[] = [
  ...(["old_text", "from", "to", "insert"] as const),
  ...(["replace_all", "expected_matches", "near_line", "json_pointer", "symbol"] as const),
];

/** What is wrong with a field of another place, by the place that the edit has. */
const STRAY_TEXT = {
  json_pointer: "names another place than json_pointer; give one of them",
  symbol: "names another place than symbol; give one of them",
  from: "is for a text; give either old_text or from",
  old_text: "goes with from, the anchor of a line",
} as const;

const MISSING_DELETION = 'is required; send "" to delete the text';
/** What is wrong with an edit without a new text, by the place that it has. */
const MISSING_TEXT = {
  json_pointer: "is required beside json_pointer",
  symbol: MISSING_DELETION,
  from: MISSING_DELETION,
  old_text: MISSING_DELETION,
} as const;

/**
 * Returns an edit that names its place in exactly one way: by a text, by lines, or by a pointer; and that has a new
 * text. A missing one is not taken as a deletion, because a caller that forgot it would lose the text. @throws
 * INVALID_ARGUMENT
 */
function checkedEdit(edit: { readonly [Field in keyof EditArgs]?: unknown }, prefix: string): EditArgs {
  const isGiven = (field: PlaceField): boolean => edit[field] !== undefined && edit[field] !== false;
  const place = (["json_pointer", "symbol", "from"] as const).find(isGiven) ?? "old_text";
  const refuse = (field: string, what: string): never => {
    throw invalidArgumentError(`${prefix}${field}`, what);
  };
  for (const field of FIELDS)
    if (!PLACES_BY_FIELD[field].includes(place) && isGiven(field)) refuse(field, STRAY_TEXT[place]);
  if (!isGiven(place)) refuse(place, "is required: the text to replace, or from: the line to replace");
  if (isGiven("insert") && isGiven("to"))
    refuse("to", "has no meaning with insert, which goes beside the line from");
  if (edit.new_text === undefined) refuse("new_text", MISSING_TEXT[place]);
  return edit as EditArgs;
}

/**
 * Creates the error for an argument that contradicts the others, or that they require. `what` completes the
 * sentence.
 */
function invalidArgumentError(argument: string, what: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${argument}': ${what}.`, {
    complete: true,
    details: { tool: "edit_file", argument },
  });
}
