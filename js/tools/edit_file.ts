import type { ChangingTool } from "./lib/tool.ts";
import { type EditRequest, inputSchema, outputSchema } from "./edit/schema.ts";
import type { EditFileArgs, EditFileData, EditOutcome } from "./generated/types.ts";
import { normalizeEdits, withEmptyOldTextHint } from "./edit/arguments.ts";
import { compileArgumentCheck } from "./lib/schema.ts";
import { PATH_ALIASES } from "./lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { withDiff } from "./lib/text.ts";
import { lazilyEarly } from "../engine/lazy.ts";

const planning = lazilyEarly("edits", () => import("./run/edit_file.ts"));

/** Replaces text in one file. */
export const editFile: ChangingTool<EditRequest, EditFileData> = {
  kind: "change",
  name: "edit_file",
  title: "Edit file",
  traits: ["readsContents", "edits", "showsDiff"],
  otherNames: {
    names:
      /^(?:str|string)?replace(?:text|string|infile|basededittool|intextfile)?$|^edit(?:text|or)?$|^modifyfile$|^updatefile$|^multiedit$|^searchreplace$|^strreplace(?:editor|basededittool)?$/u,
    does: "replaces text",
  },
  description: `Replaces text in an existing file: each edit gives old_text as it stands in the file and the new_text for it. An old_text that is missing, or there more than once, is refused with the line that comes nearest or the lines where it stands, and nothing is written; several edits are made all or none. Returns the diff.
Read the place first and copy old_text exactly, without the line numbers. Give a few lines around the change rather than one common line. Or name whole lines by the anchors that read_file gives with anchors: true (from, to, insert), one value of a JSON, YAML, TOML, XML or CSV file by json_pointer, or a definition by its name (symbol): none needs old_text. Line ends, encoding and untouched bytes of the file are kept. dry_run shows the diff only. For a new file, or to rewrite one, use write_file.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: normalizeEdits(
    withEmptyOldTextHint(
      compileArgumentCheck<Omit<EditRequest, "edits"> & EditFileArgs>("edit_file", inputSchema),
    ),
  ),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write", missing: "refuse" }],
  plan: async (args, call, outdated) => (await planning()).planEditFile(args, call, outdated),
  texts: {
    render(data, args) {
      const done = `Edited ${escapeControls(args.path)}`;
      const replacements = plural(data.replacements, "replacement");
      const edited =
        data.revised === true
          ? `${done} as the reviewer decided; ${replacements} ${data.replacements === 1 ? "was" : "were"} asked for`
          : `${done}: ${replacements}`;
      const head = data.applied ? edited : "Dry run, nothing written";
      return `${head}\n${data.diff.replace(/\n$/u, "")}${data.edits.map(approximateMatchLine).join("")}${chosenMatchLine(data, args)}`;
    },
    display: ({ path, applied, replacements, revised, diff }) =>
      withDiff(
        revised === true
          ? `Edited ${escapeControls(path)} as a reviewer decided`
          : `${applied ? "Edited" : "Would edit"} ${escapeControls(path)}: ${plural(replacements, "replacement")}`,
        diff,
      ),
  },
};

/**
 * Returns the last line of the answer for an edit that matched only approximately or after a repair, so that
 * the caller can check the place. Empty for any other edit.
 */
function approximateMatchLine({ tier, score, repairs, start_line }: EditOutcome): string {
  const undone = repairs.length === 0 ? "" : `, without ${repairs.join(", ")}`;
  if (tier !== "fuzzy") return undone === "" ? "" : `\n[matched at line ${start_line}${undone}]`;
  return `\n[matched nearly, at line ${start_line}: ${Math.round(score * 100)} % of old_text${undone}]`;
}

/**
 * Returns the last line of the answer for an edit that chose one of several matches, so that the caller can
 * check the choice.
 */
export function chosenMatchLine(
  { edits }: Pick<EditFileData, "edits">,
  { edits: asked = [] }: Pick<EditFileArgs, "edits">,
): string {
  let lines = "";
  for (const { index, matches, start_line } of edits) {
    const { replace_all = false, expected_matches, near_line } = asked[index] ?? {};
    if (matches < 2 || replace_all || (expected_matches ?? near_line) !== undefined) continue;
    const which = edits.length > 1 ? `edit ${index}: ` : "";
    lines += `\n[warning: ${which}matches: ${matches}; only the one at line ${start_line} was replaced]`;
  }
  return lines;
}
