/** Formats directories and paths for a person: types, sizes, times and colours. */
import { escapeControls } from "../../engine/escape.ts";
import { relativeTo } from "../../backends/paths.ts";
import { NOT_SHOWN } from "../../tools/render/link-target.ts";
import type { ListDirectoryData, ListedEntry } from "../../tools/render/listing.ts";
import { styled } from "./style.ts";
import { humanBytes, localTime } from "./text.ts";

const TYPE_LABELS = { file: "file", dir: "dir", symlink: "link", other: "other" } as const;
const TYPE_WIDTH = 5;
const SIZE_WIDTH = 5;
const TIME_WIDTH = "2000-01-01 00:00".length;

/** A line for each entry: type, size, time and name; below the first level the name is a path. */
export function listLines(data: ListDirectoryData): readonly string[] {
  return data.entries.map((entry) => {
    const size = entry.type === "file" && entry.size !== undefined ? humanBytes(entry.size) : "-";
    const time = entry.modified === undefined ? "-" : localTime(entry.modified);
    return [
      styled("faint", TYPE_LABELS[entry.type].padEnd(TYPE_WIDTH)),
      styled("good", size.padStart(SIZE_WIDTH)),
      styled("faint", time.padEnd(TIME_WIDTH)),
      nameOf(entry, data.path),
    ].join("  ");
  });
}

function nameOf({ path, type, target }: ListedEntry, directory: string): string {
  const below = directory === "." ? path : (relativeTo(`/${path}`, `/${directory}`) ?? path);
  const name = escapeControls(below);
  switch (type) {
    case "dir":
      return styled("directory", `${name}/`);
    case "symlink":
      return `${styled("link", name)} -> ${escapeControls(target ?? NOT_SHOWN)}`;
    case "other":
      return styled("other", name);
    default:
      return name;
  }
}

/** Formats paths with dimmed directories. */
export function pathLines(paths: readonly string[]): readonly string[] {
  return paths.map((path) => {
    const shown = escapeControls(path);
    const at = shown.lastIndexOf("/") + 1;
    return `${styled("path", shown.slice(0, at))}${shown.slice(at)}`;
  });
}
