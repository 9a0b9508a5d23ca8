/** The text of an answer of `find_symbol`, and as many of its places as there is room for. */
import { escapeControls, plural } from "../../engine/escape.ts";
import type { FindSymbolData, SymbolDefinition, SymbolUse } from "../generated/types.ts";

/** Returns the text of an answer: the definitions, then the uses of each file below its path. */
export function symbolText(data: FindSymbolData, { name }: { readonly name: string }): string {
  const { definitions, uses, total_definitions: defined, total_uses: used, complete } = data;
  const notes: string[] = [];
  if (defined === 0) notes.push(nothingDefinesText(escapeControls(name), complete));
  // Beyond the size of every answer a larger max_tokens gives no more.
  const remedy =
    data.left_out_by === "size" ? "name a narrower path or glob" : "name a path or a larger max_tokens";
  const lines = definitions.map(definitionLine);
  if (definitions.length < defined)
    lines.push(`[${plural(defined - definitions.length, "more definition")}; ${remedy}]`);
  const useLines = uses.flatMap((use, at) => [...headOf(use, uses[at - 1]), useLine(use)]);
  if (uses.length < used) useLines.push(`[${plural(used - uses.length, "more use")}; ${remedy}]`);
  if (!complete) useLines.push("[not everything was searched; name a narrower path or glob]");
  return [...notes, lines.join("\n"), useLines.join("\n")].filter(Boolean).join("\n\n");
}

const nothingDefinesText = (name: string, isComplete: boolean): string =>
  isComplete ? `Nothing defines ${name}` : `No definition of ${name} found so far`;

/**
 * Returns the data with its first places, the definitions before the uses, up to the first one of which `take` does not
 * take the text. `by` is the limit that leaves out the others.
 */
export function withFirstPlaces(
  data: FindSymbolData,
  by: NonNullable<FindSymbolData["left_out_by"]>,
  take: (text: string) => boolean,
): FindSymbolData {
  const definitions = firstOf(data.definitions, (one) => take(definitionLine(one)));
  const isWhole = definitions.length === data.definitions.length;
  const uses = isWhole
    ? firstOf(data.uses, (use, before) => take([...headOf(use, before), useLine(use)].join("\n")))
    : [];
  const first = { ...data, definitions, uses };
  return isWhole && uses.length === data.uses.length ? first : { ...first, left_out_by: by };
}

function firstOf<T>(all: readonly T[], take: (one: T, before: T | undefined) => boolean): readonly T[] {
  const end = all.findIndex((one, at) => !take(one, all[at - 1]));
  return end === -1 ? all : all.slice(0, end);
}

function definitionLine({ path, start_line: start, end_line: end, signature }: SymbolDefinition): string {
  return `${escapeControls(path)}:${start === end ? start : `${start}-${end}`}  ${escapeControls(signature)}`;
}

/** Returns the line with the path of a use, unless the use before it is in the same file. */
function headOf({ path }: SymbolUse, before: SymbolUse | undefined): readonly string[] {
  return before?.path === path ? [] : [escapeControls(path)];
}

function useLine({ line, text, in: around, defines }: SymbolUse): string {
  const place =
    defines === undefined
      ? around && `[in ${escapeControls(around)}]`
      : `[defines ${escapeControls(defines)}]`;
  return `${line}: ${escapeControls(text.trim())}${place === undefined ? "" : `  ${place}`}`;
}
