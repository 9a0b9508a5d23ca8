/** Converts a listing to the text for a model: lines with facts, bare names, a tree, or JSON. */
import { relativeTo } from "../../backends/paths.ts";
import { isAbsolutePath } from "../../backends/windows-paths.ts";
import { HIDDEN_TARGET_TEXT } from "./link-target.ts";
import { assignmentPhrase, type ReaderNames } from "../lib/tool.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import type { ListDirectoryData, ListedEntry } from "../generated/types.ts";

/** The arguments on which the text depends. */
interface ListingForm {
  readonly path: string;
  readonly depth: number;
  readonly format: "text" | "json" | "names" | "tree";
  readonly sort?: string;
}

/** Returns the text of a page of a listing. If more entries follow, its last line says how to continue. */
export function renderListing(data: ListDirectoryData, args: ListingForm, names: ReaderNames): string {
  if (args.format === "json") return listingAsJson(data, args, names);
  if (data.total === 0) return `[empty directory: ${escapeControls(args.path)}]`;
  const lines = data.entries.map((entry) => listingLine(entry, data, args));
  if (data.truncated) lines.push(closingLine(data, names));
  return lines.join("\n");
}

const TYPE_TAGS = { dir: "[DIR]", file: "[FILE]", symlink: "[LINK]", other: "[OTHER]" } as const;

function listingLine(entry: ListedEntry, data: ListDirectoryData, args: ListingForm): string {
  const shown = escapeControls(args.depth > 1 || isInOtherRoot(entry, data) ? entry.path : entry.name);
  const pointed = entry.type === "symlink" ? ` -> ${escapeControls(entry.target ?? HIDDEN_TARGET_TEXT)}` : "";
  if (args.format === "names") return shown;
  if (args.format === "tree" && !isInOtherRoot(entry, data)) {
    const below =
      data.path === "." ? entry.path : (relativeTo(`/${entry.path}`, `/${data.path}`) ?? entry.path);
    const level = below.split("/").length - 1;
    return `${"  ".repeat(level)}${escapeControls(entry.name)}${entry.type === "dir" ? "/" : pointed}`;
  }
  if (args.format === "tree") return `${shown}${entry.type === "dir" ? "/" : pointed}`;
  return `${TYPE_TAGS[entry.type]} ${shown}${pointed}${sizeText(entry, args)}`;
}

/** Returns the size of a file in a listing by size; an empty text otherwise. */
function sizeText({ type, size }: ListedEntry, { sort }: ListingForm): string {
  return sort === "size" && type === "file" && size !== undefined ? ` (${plural(size, "byte")})` : "";
}

/**
 * Returns true when the listing of the working directory contains the entry of another root. Its whole path
 * is shown, because its name alone would look like an entry of the working directory.
 */
function isInOtherRoot({ path }: ListedEntry, data: ListDirectoryData): boolean {
  return data.path === "." && isShownAbsolute(path);
}

/** Returns true for the path of a listed entry that is not below the working directory. */
function isShownAbsolute(path: string): boolean {
  return isAbsolutePath(path, /^[A-Z]:\\/u.test(path) ? "windows" : undefined);
}

function closingLine({ entries, total, next_cursor: next }: ListDirectoryData, names: ReaderNames): string {
  const assigned = next === undefined ? undefined : assignmentPhrase(names, "cursor", next);
  const onward = assigned === undefined ? "truncated" : `continue with ${assigned}`;
  return `[${entries.length} of ${total} entries; ${onward}]`;
}

function listingAsJson(data: ListDirectoryData, args: ListingForm, names: ReaderNames): string {
  // A reader that cannot pass a cursor expects a list of a fixed form, so it gets no last line.
  const cut = data.truncated && names.argument("cursor") !== undefined ? [closingLine(data, names)] : [];
  const notices = [...cut.map((line) => line.slice(1, -1)), ...(data.warnings ?? [])];
  // JSON leaves out what is undefined.
  const entries = data.entries.map(({ name, path: where, type, size, target }) => ({
    name,
    path: args.depth > 1 || isShownAbsolute(where) ? where : undefined,
    type,
    size: type === "file" ? size : undefined,
    target,
  }));
  const rows: readonly object[] = [...entries, ...notices.map((notice) => ({ notice }))];
  return rows.length === 0 ? "[]" : `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]`;
}
