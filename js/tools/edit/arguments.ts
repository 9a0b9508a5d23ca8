/** The arguments of `edit_file`: which of them go together, and a single edit as a list of one. */
import { FilewrightError } from "../../engine/errors.ts";
import type { Arguments } from "../lib/schema.ts";
import type { EditArgs, EditFileArgs, EditRequest } from "./schema.ts";

type ParsedEditArgs = Omit<EditRequest, "edits"> & EditFileArgs;

/**
 * Wraps the argument check with an error about empty old text that names the tool to create a
 * file. `argument` and `tool` are the caller's names of `old_text` and `write_file`.
 */
export function withHint<T>(
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

/** Converts a single edit at the top level to a list of one. */
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
      if (stray !== undefined) throw refused(stray, "give edits, or one edit at the top level, not both");
      for (const [index, edit] of edits.entries()) checkSingleTarget(edit, `edits[${index}].`);
      return { ...rest, edits };
    }
    if (stray === undefined) throw refused("edits", "is required: a list of {old_text, new_text}");
    const edit = Object.fromEntries(
      Object.entries(single).filter(([, value]) => value !== undefined),
    ) as EditArgs;
    checkSingleTarget(edit, "");
    return { ...rest, edits: [edit] };
  };
}

/** Requires either a text or lines. @throws INVALID_ARGUMENT */
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
      throw refused(at(other), "names another place than json_pointer; give one of them");
    if (edit.new_text === undefined) throw refused(at("new_text"), "is required beside json_pointer");
    return;
  }
  if (edit.from === undefined) {
    const needs = (["to", "insert"] as const).find((field) => edit[field] !== undefined);
    if (needs !== undefined) throw refused(at(needs), "goes with from, the anchor of a line");
    if (edit.old_text === undefined)
      throw refused(at("old_text"), "is required: the text to replace, or from: the line to replace");
    assertNewText(edit, at);
    return;
  }
  const textual = ["old_text", "replace_all", "expected_matches", "near_line"] as const;
  const both = textual.find((field) => edit[field] !== undefined && edit[field] !== false);
  if (both !== undefined) throw refused(at(both), "is for a text; give either old_text or from");
  if (edit.insert !== undefined && edit.to !== undefined) {
    throw refused(at("to"), "has no meaning with insert, which goes beside the line from");
  }
  assertNewText(edit, at);
}

/**
 * A missing new text is not taken as a deletion: a forgotten argument would lose the text. @throws
 * INVALID_ARGUMENT
 */
function assertNewText({ new_text }: EditArgs, at: (field: string) => string): void {
  if (new_text === undefined) throw refused(at("new_text"), 'is required; send "" to delete the text');
}

/** The error of an argument that does not go with the others. */
function refused(argument: string, what: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${argument}': ${what}.`, {
    complete: true,
    details: { tool: "edit_file", argument },
  });
}
