/**
 * Checks which arguments of `edit_file` may be given together, and converts a call with a single edit to one
 * with a list.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { Arguments } from "../lib/schema.ts";
import type { EditArgs, EditFileArgs, EditRequest } from "./schema.ts";

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
    const {
      old_text,
      new_text,
      replace_all,
      expected_matches,
      near_line,
      from,
      to,
      insert,
      json_pointer,
      edits,
      ...rest
    } = parse(given);
    const single = {
      old_text,
      new_text,
      replace_all,
      expected_matches,
      near_line,
      from,
      to,
      insert,
      json_pointer,
    };
    const stray = Object.entries(single).find(([, value]) => value !== undefined)?.[0];
    if (edits !== undefined) {
      if (stray !== undefined)
        throw invalidArgumentError(stray, "give edits, or one edit at the top level, not both");
      for (const [index, edit] of edits.entries()) checkSingleTarget(edit, `edits[${index}].`);
      return { ...rest, edits };
    }
    if (stray === undefined)
      throw invalidArgumentError("edits", "is required: a list of {old_text, new_text}");
    const edit = Object.fromEntries(
      Object.entries(single).filter(([, value]) => value !== undefined),
    ) as EditArgs;
    checkSingleTarget(edit, "");
    return { ...rest, edits: [edit] };
  };
}

/**
 * Checks that an edit names its place in exactly one way: by a text, by lines, or by a pointer. @throws
 * INVALID_ARGUMENT
 */
function checkSingleTarget(edit: EditArgs, prefix: string): void {
  const at = (field: string): string => `${prefix}${field}`;
  if (edit.json_pointer !== undefined) {
    const fields = [
      "old_text",
      "from",
      "to",
      "insert",
      "replace_all",
      "expected_matches",
      "near_line",
    ] as const;
    const other = fields.find((field) => edit[field] !== undefined && edit[field] !== false);
    if (other !== undefined)
      throw invalidArgumentError(at(other), "names another place than json_pointer; give one of them");
    if (edit.new_text === undefined)
      throw invalidArgumentError(at("new_text"), "is required beside json_pointer");
    return;
  }
  if (edit.from === undefined) {
    const needs = (["to", "insert"] as const).find((field) => edit[field] !== undefined);
    if (needs !== undefined) throw invalidArgumentError(at(needs), "goes with from, the anchor of a line");
    if (edit.old_text === undefined)
      throw invalidArgumentError(
        at("old_text"),
        "is required: the text to replace, or from: the line to replace",
      );
    assertNewText(edit, at);
    return;
  }
  const textual = ["old_text", "replace_all", "expected_matches", "near_line"] as const;
  const both = textual.find((field) => edit[field] !== undefined && edit[field] !== false);
  if (both !== undefined) throw invalidArgumentError(at(both), "is for a text; give either old_text or from");
  if (edit.insert !== undefined && edit.to !== undefined) {
    throw invalidArgumentError(at("to"), "has no meaning with insert, which goes beside the line from");
  }
  assertNewText(edit, at);
}

/**
 * Requires a new text. A missing one is not taken as a deletion, because a caller that forgot the argument
 * would lose the text. @throws INVALID_ARGUMENT
 */
function assertNewText({ new_text }: EditArgs, at: (field: string) => string): void {
  if (new_text === undefined)
    throw invalidArgumentError(at("new_text"), 'is required; send "" to delete the text');
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
