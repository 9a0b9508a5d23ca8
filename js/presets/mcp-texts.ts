/** Texts of answers in the form of the Model Context Protocol's reference server `server-filesystem`. */
import type {
  ListDirectoryArgs,
  ListDirectoryData,
  ReadFileArgs,
  ReadFileData,
  ReadManyFilesArgs,
  ReadManyFilesData,
  StatArgs,
  StatData,
} from "../tools/index.ts";
import { readFileAnswerText } from "../tools/read/text.ts";
import { escapeControls } from "../engine/escape.ts";
import type { RenderInput } from "./meaning.ts";

/**
 * Returns the content of the file unchanged. For `head` or `tail`, returns the lines without the last line
 * ending.
 */
export function readMcpText({
  data,
  args,
  given,
  call,
  plain,
}: RenderInput<ReadFileArgs, ReadFileData>): string {
  if (data.image !== undefined) return plain();
  const part = given["head"] !== undefined || given["tail"] !== undefined;
  if (data.lines_read === 0) return data.total_lines === 0 ? "" : plain();
  const shown = { path: args.path, line_numbers: "none", max_line_chars: 0, anchors: false } as const;
  const content = readFileAnswerText(data, shown, call, false);
  const cut = truncatedPageNote(data, given);
  if (cut !== undefined) return `${content.replace(/\n$/u, "")}\n${cut}`;
  if (!part) return data.truncated ? plain() : content;
  return content.replace(/\n$/u, "");
}

/**
 * Returns the note that a page is truncated and how to read the rest. The server has only the argument `tail`
 * for that.
 */
function truncatedPageNote(
  {
    start_line: first,
    end_line: last,
    lines_read: read,
    total_lines: total,
    truncated,
    cut_lines: cut,
  }: ReadFileData,
  { head, tail }: RenderInput["given"],
): string | undefined {
  const wanted = head ?? tail;
  const isWhole = wanted !== undefined && read >= Number(wanted);
  if (!truncated || isWhole || total === null || last >= total || (cut?.length ?? 0) > 0) return undefined;
  return `[lines ${first}-${last} of ${total}; truncated, tail: ${total - last} goes on]`;
}

/** Returns a diff in a Markdown fence that is longer than any fence inside. */
export function inMarkdownFence(diff: string): string {
  let fence = "```";
  while (diff.includes(fence)) fence += "`";
  return `${fence}diff\n${diff}${fence}\n`;
}

/** Returns the content of each file in the requested order, or the reason why it was not read. */
export function manyFilesText({
  data,
  args,
  call,
}: RenderInput<ReadManyFilesArgs, ReadManyFilesData>): string {
  const read = new Map(data.files.map((file) => [file.path, file]));
  const skipped = new Map(data.skipped.map(({ path, reason }) => [path, reason]));
  const parts = args.paths.map((typed) => {
    const path = escapeControls(typed);
    const shown = displayPath(typed, call);
    const file = read.get(shown);
    if (file !== undefined) {
      const cut = `[lines 1-${file.lines_read} of ${file.total_lines}; truncated]\n`;
      return `${path}:\n${file.content}\n${file.truncated ? cut : ""}`;
    }
    return `${path}: Error - ${escapeControls(skipped.get(shown) ?? skipped.get(typed) ?? "is a directory")}`;
  });
  return parts.join("\n---\n");
}

/** Returns a path as data shows it. A path that is not allowed is returned as typed. */
function displayPath(typed: string, call: RenderInput["call"]): string {
  try {
    return call.reader.display(call.reach.found(typed, "read").path);
  } catch {
    return typed; // Not allowed: shown under the requested name.
  }
}

/** Returns a table of names and sizes, followed by their totals. */
export function listingWithSizesText({
  data,
  args,
}: RenderInput<ListDirectoryArgs, ListDirectoryData>): string {
  if (data.total === 0) return `[empty directory: ${escapeControls(args.path ?? ".")}]`;
  const marks = { dir: "[DIR]", file: "[FILE]", symlink: "[LINK]", other: "[OTHER]" } as const;
  const lines = data.entries.map(({ type, name, size }) => {
    const shown = type === "file" ? formatSize(size ?? 0).padStart(10) : "";
    return `${marks[type]} ${escapeControls(name).padEnd(30)} ${shown}`;
  });
  const files = data.entries.filter(({ type }) => type === "file");
  const directories = data.entries.filter(({ type }) => type === "dir").length;
  const sum = files.reduce((total, { size }) => total + (size ?? 0), 0);
  lines.push(
    "",
    `Total: ${files.length} files, ${directories} directories`,
    `Combined size: ${formatSize(sum)}`,
  );
  if (data.truncated) lines.push(`[${data.entries.length} of ${data.total} entries]`);
  return lines.join("\n");
}

const SIZE_UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

function formatSize(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1024 && unit < SIZE_UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return unit === 0 ? `${bytes} B` : `${size.toFixed(2)} ${SIZE_UNITS[unit]}`;
}

interface TreeNode {
  readonly name: string;
  readonly type: string;
  readonly children?: TreeNode[];
}

/**
 * Returns everything below a directory as nested JSON. If entries are missing, a last entry of type `notice`
 * says so.
 */
export function directoryTreeText({ data }: RenderInput<ListDirectoryArgs, ListDirectoryData>): string {
  const top: TreeNode[] = [];
  const below = new Map<string, TreeNode[]>();
  for (const { path, name, type } of data.entries) {
    const children: TreeNode[] = [];
    const node =
      type === "dir"
        ? { name, type: "directory", children }
        : { name, type: type === "file" ? "file" : type };
    const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
    (below.get(parent) ?? top).push(node);
    if (type === "dir") below.set(path, children);
  }
  const cut = `${data.entries.length} of ${data.total} entries; the rest is left out: name a subdirectory, or leave some out with excludePatterns`;
  const notices = [...(data.truncated ? [cut] : []), ...(data.warnings ?? [])];
  return JSON.stringify([...top, ...notices.map((name) => ({ name, type: "notice" }))], null, 2);
}

/** Returns the facts about a path under the keys of the server. */
export function fileInfoText({ data }: RenderInput<StatArgs, StatData>): string {
  const rows: readonly (readonly [string, unknown])[] = [
    ["size", data.size],
    ["created", data.created ?? data.modified],
    ["modified", data.modified],
    ["accessed", data.accessed ?? data.modified],
    ["isDirectory", data.is_dir],
    ["isFile", data.is_file],
    ["permissions", (data.mode ?? "0000").slice(-3)],
  ];
  return rows.map(([key, value]) => `${key}: ${String(value)}`).join("\n");
}
