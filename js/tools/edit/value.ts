/**
 * Edits that name a value of a structured file (`json_pointer`) or a definition (`symbol`) instead of text. A definition
 * becomes the anchors of its lines as they are at that moment. Of a value only the
 * value's bytes are replaced, so that comments, order and layout stay. The new value is text in
 * the file's own syntax; text that does not parse as that one value is refused.
 */
import { engine } from "../../engine/current.ts";
import type { AppliedEdit, BytesPlan, EditInput, EditOptions } from "../../engine/text/edit.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { runOnThread } from "../../engine/workers/file-calls.ts";
import { formatOf, isLongToParse } from "../../readers/index.ts";
import { anchorAt, definitionOf, definitionsIn } from "../lib/definitions.ts";
import { encodeUtf8 } from "../lib/text.ts";
import { type EncodedValueEdit, invalidArgumentError, lineEditOfValue } from "./value-line.ts";

/** A place that is named by what the file means: the value at a JSON pointer, or the definition of a symbol. */
export type NamedPlace =
  | { readonly is: "value"; readonly pointer: string }
  | { readonly is: "definition"; readonly symbol: string };

/** An edit of a text or of lines, as the engine takes it; or of a named place, which is replaced or inserted beside. */
export interface ValueEdit extends EditInput {
  readonly place?: NamedPlace | undefined;
}

/** The type of the file, and the signal of the call. */
interface EditedFile {
  readonly mime: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Plans edits of which some name values. Each is planned on the result of those before it.
 *
 * @throws INVALID_ARGUMENT when a pointer has no target or the new text is no value there
 */
export async function planEditsWithValues(
  before: Uint8Array,
  edits: readonly ValueEdit[],
  options: EditOptions,
  file: EditedFile,
): Promise<BytesPlan> {
  const { signal } = file;
  const applied: AppliedEdit[] = [];
  let bytes = before;
  let plan: BytesPlan | undefined;
  for (const [index, edit] of edits.entries()) {
    const one = await engineEditOf(bytes, edit, options, file);
    plan = await engine().planEditsBytesAsync(bytes, [one], { ...options, signal });
    if (!plan.ok) return { ok: false, error: withEditIndex(plan.error, index) };
    for (const done of plan.edits) applied.push({ ...done, index });
    bytes = plan.bytes;
  }
  if (plan === undefined || !plan.ok) throw new FilewrightError("INVALID_ARGUMENT", "there are no edits");
  if (edits.length === 1) return plan;
  const decode = async (content: Uint8Array): Promise<Uint8Array> =>
    encodeUtf8((await engine().reading.decodeText(content, options.encoding, { signal })).text);
  const diff = await engine().diffAsync(await decode(before), await decode(bytes), {
    oldName: options.path,
    limits: options.limits,
    signal,
  });
  const replacements = applied.reduce((sum, { matches }) => sum + matches, 0);
  return { ok: true, bytes, replacements, edits: applied, diff };
}

/** Returns an edit as the engine takes it: of a named place, that of its lines. */
async function engineEditOf(
  bytes: Uint8Array,
  { place, ...edit }: ValueEdit,
  options: EditOptions,
  { mime, signal }: EditedFile,
): Promise<EditInput> {
  if (place === undefined) return edit;
  if (place.is === "definition")
    return lineEditOfSymbol(bytes, { ...edit, symbol: place.symbol }, options, signal);
  const { pointer } = place;
  return lineEditOf(bytes, { pointer, value: edit.newText ?? "", encoding: options.encoding, mime }, signal);
}

/**
 * Returns the error with the index that the edit has in the call. Each edit is planned alone, so the engine
 * reports index 0.
 */
function withEditIndex(error: FilewrightError, index: number): FilewrightError {
  const { code, message, hint, complete, path } = error;
  // The engine knows this edit alone, so its retry is not that of the call.
  const { retry: _one, retries: _several, ...details } = error.details ?? {};
  return new FilewrightError(code, message, {
    hint,
    complete,
    path,
    details: { ...details, edit_index: index },
  });
}

/**
 * Returns the edit of the lines of a definition. @throws MATCH_NOT_FOUND, MATCH_NOT_UNIQUE, UNSUPPORTED_FORMAT;
 * INVALID_ARGUMENT where something else is on its first or last line
 */
async function lineEditOfSymbol(
  bytes: Uint8Array,
  { symbol, ...edit }: EditInput & { readonly symbol: string },
  { encoding = "utf-8", path = "" }: EditOptions,
  signal: AbortSignal | undefined,
): Promise<EditInput> {
  const defined = await definitionsIn(bytes, encoding, path, signal);
  const { startLine, endLine, leadLine, ownsLines } = definitionOf(symbol, defined, path);
  if (!ownsLines)
    throw invalidArgumentError(
      "symbol",
      `names a definition that shares a line with other text (lines ${startLine}-${endLine}); give its text as old_text`,
    );
  const anchor = anchorAt(defined.text);
  const from = edit.insert === "before" ? leadLine : edit.insert === "after" ? endLine : startLine;
  const to = edit.insert === undefined ? anchor(endLine) : undefined;
  return { ...edit, oldText: undefined, from: anchor(from), to, unchanged: true };
}

/** Returns the edit of the lines of a value, which a long file gets on another thread where there is one. */
async function lineEditOf(
  bytes: Uint8Array,
  edit: EncodedValueEdit,
  signal: AbortSignal | undefined,
): Promise<EditInput> {
  const args: Parameters<typeof lineEditOfValue> = [bytes, edit];
  if (!isLongToParse(bytes.length, formatOf(edit.mime) ?? "json")) return lineEditOfValue(...args);
  return runOnThread({ file: "tools/edit/value-line.js", args, inPlace: lineEditOfValue, signal });
}
