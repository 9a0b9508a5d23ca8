/**
 * Edits of a notebook by the text of its cells, as `read_file` shows it. The file holds each cell as a JSON list of
 * lines, in which that text does not stand.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { BytesPlan, EditOptions } from "../../engine/text/edit.ts";
import { Yielder } from "../../engine/yielder.ts";
import { type NotebookLimits, parseNotebook } from "../../readers/notebook/parse.ts";
import { sourceOf } from "../../readers/source.ts";
import { planEditsWithValues, type ValueEdit } from "./value.ts";

export const NOTEBOOK_MIME = "application/x-ipynb+json";
/** The limits for reading the whole source of each cell, and no outputs. */
const SOURCES_ALONE: NotebookLimits = Object.freeze({
  cells: Number.POSITIVE_INFINITY,
  source: Number.MAX_SAFE_INTEGER,
  output: 0,
  image: 0,
  images: 0,
});
/** The maximum number of cells that an error names. */
const MAX_NAMED_CELLS = 5;

/**
 * Plans edits whose old texts stand in the sources of cells, each on the result of those before it.
 *
 * @returns undefined when one of them stands in no cell, or names its place in another way
 * @throws FilewrightError MATCH_NOT_UNIQUE when an old text fits several cells
 */
export async function planNotebookEdits(
  before: Uint8Array,
  edits: readonly ValueEdit[],
  options: EditOptions,
  signal: AbortSignal | undefined,
): Promise<BytesPlan | undefined> {
  const file = { mime: NOTEBOOK_MIME, signal };
  const values: ValueEdit[] = [];
  let bytes = before;
  for (const [index, edit] of edits.entries()) {
    if (edit.oldText === undefined) return undefined;
    const value = await toValueEdit(bytes, edit, options, { index, signal });
    if (value === undefined) return undefined;
    values.push(value);
    if (index === edits.length - 1) break;
    const plan = await planEditsWithValues(bytes, [value], options, file);
    if (!plan.ok) return plan;
    bytes = plan.bytes;
  }
  return planEditsWithValues(before, values, options, file);
}

/** Returns the edit of the source of the only cell that an edit fits. @throws MATCH_NOT_UNIQUE */
async function toValueEdit(
  bytes: Uint8Array,
  edit: ValueEdit,
  options: EditOptions,
  { index, signal }: { readonly index: number; readonly signal: AbortSignal | undefined },
): Promise<ValueEdit | undefined> {
  const { text } = await engine().reading.decodeText(bytes, options.encoding, { signal });
  const notebook = await parseNotebook(sourceOf(new TextEncoder().encode(text)), SOURCES_ALONE, signal);
  const found: { readonly pointer: string; readonly source: string }[] = [];
  const yielder = new Yielder({ signal });
  for (const { place, sourceKey, source } of notebook?.cells ?? []) {
    await yielder.yieldIfDue();
    const given = new TextEncoder().encode(source.text);
    const plan = await engine().planEditsBytesAsync(given, [edit], { ...options, encoding: "utf-8" });
    if (plan.ok)
      found.push({ pointer: `${place}/${sourceKey}`, source: new TextDecoder().decode(plan.bytes) });
  }
  const [only] = found;
  if (only === undefined) return undefined;
  if (found.length > 1)
    throw severalCellsError(
      found.map(({ pointer }) => pointer),
      index,
      options.path,
    );
  return { place: { is: "value", pointer: only.pointer }, newText: sourceAsJson(only.source, text) };
}

/** Returns a source as JSON in the layout of the notebook: a list of lines, each on a line of the file. */
function sourceAsJson(source: string, notebook: string): string {
  const lines = source.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
  const [, indent] = /\n([ \t]*)"(?:source|input)"\s*:/u.exec(notebook) ?? [];
  const [, unit = " "] = /^\s*\{\r?\n([ \t]+)"/u.exec(notebook) ?? [];
  const ending = notebook.includes("\r\n") ? "\r\n" : "\n";
  if (lines.length === 0) return "[]";
  if (indent === undefined) return JSON.stringify(lines);
  const items = lines.map((line) => `${indent}${unit}${JSON.stringify(line)}`);
  return `[${ending}${items.join(`,${ending}`)}${ending}${indent}]`;
}

function severalCellsError(
  pointers: readonly string[],
  index: number,
  path = "the notebook",
): FilewrightError {
  const named = pointers.slice(0, MAX_NAMED_CELLS);
  return new FilewrightError(
    "MATCH_NOT_UNIQUE",
    `old_text stands in ${pointers.length} cells of '${path}' (their sources: ${named.join(", ")}); add lines that only one of them has.`,
    { complete: true, path, details: { edit_index: index, json_pointers: named } },
  );
}
