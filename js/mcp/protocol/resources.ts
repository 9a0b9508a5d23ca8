/**
 * Offers files and directories as resources with `file:` URIs. They are listed in pages, and each is read as
 * a whole.
 *
 * Everything is read by calls of the workspace, so that rules, hooks and the audit log apply.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { escapeControls } from "../../engine/escape.ts";
import { compareCodePoints, isWithin, joinPath, nameOf } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { ServedWorkspace } from "../host.ts";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "./sdk.ts";
import { pathOfUri, fileUriOf } from "./paths.ts";

/** The only resource template. It stands for all paths below the directories. */
export const FILE_TEMPLATE = {
  uriTemplate: "file:///{+path}",
  name: "file",
  title: "File or directory",
  description:
    "A file below an allowed directory, whole: text as text, anything else as base64. Of a directory, its list.",
} as const;

/** The maximum number of entries on one page of the list. */
const RESOURCES_PER_PAGE = 100;
/** The maximum size in bytes of a file that is sent. A larger one is an error. */
const MAX_RESOURCE_BYTES = 20 * 1024 * 1024;
const DIRECTORY_MIME_TYPE = "inode/directory";

interface ListedResource {
  readonly resources: Record<string, unknown>[];
  readonly nextCursor?: string;
}

/**
 * Returns one page of the directories and the files directly in them.
 * @throws ProtocolError for an invalid cursor
 */
export async function listResources(
  { ws, roots }: ServedWorkspace,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListedResource> {
  const [index = "", inner = ""] = /^(\d{1,6}):(.*)$/u.exec(cursor ?? "0:")?.slice(1) ?? [];
  const at = Number(index === "" ? Number.NaN : index);
  const root = roots[at];
  if (root === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the cursor is unknown");
  const args = { path: root, sort: "name", limit: RESOURCES_PER_PAGE } as const;
  const page = await ws.listDirectory(inner === "" ? args : { ...args, cursor: inner }, {
    signal,
  });
  const resources: Record<string, unknown>[] = page.entries
    .filter(({ type }) => type === "file")
    .map(({ name, size, modified }) =>
      withoutUndefined({
        uri: fileUriOf(joinPath(root, name), "/"),
        name: escapeControls(name),
        size,
        annotations: modified === undefined ? undefined : { lastModified: modified },
      }),
    );
  if (inner === "")
    resources.unshift({
      uri: fileUriOf(root, "/"),
      name: escapeControls(nameOf(root) || "/"),
      mimeType: DIRECTORY_MIME_TYPE,
    });
  const next =
    page.next_cursor !== undefined
      ? `${at}:${page.next_cursor}`
      : at + 1 < roots.length
        ? `${at + 1}:`
        : undefined;
  return withoutUndefined({ resources, nextCursor: next });
}

/** The content of one resource in the answer to `resources/read`. */
export type ResourceContents =
  | { readonly uri: string; readonly mimeType: string; readonly text: string }
  | { readonly uri: string; readonly mimeType: string; readonly blob: string };

/**
 * Returns the content of the resource with a URI.
 * @throws ResourceNotFoundError, ProtocolError
 */
export async function readResource(
  served: ServedWorkspace,
  uri: string,
  signal: AbortSignal,
): Promise<ResourceContents> {
  const path = pathOfUri(uri);
  if (path === undefined) throw new ResourceNotFoundError(uri);
  try {
    return await readContents(served, uri, path, signal);
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    // The answer is the same for a path outside the roots and a missing one, so that it reveals nothing about
    // the disk.
    if (NOT_FOUND_CODES.has(error.code)) throw new ResourceNotFoundError(uri);
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message, { code: error.code });
  }
}

const NOT_FOUND_CODES: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "OUTSIDE_ALLOWED",
  "INVALID_ARGUMENT",
  "GRANT_DENIED",
]);
/** Error codes that mean that a file is not text, so that it is sent as bytes. */
const NOT_TEXT_CODES: ReadonlySet<string> = new Set(["BINARY_FILE", "UNSUPPORTED_FORMAT", "ENCODING_ERROR"]);

async function readContents(
  { ws, cwd }: ServedWorkspace,
  uri: string,
  path: string,
  signal: AbortSignal,
): Promise<ResourceContents> {
  const facts = await ws.stat({ path }, { signal });
  if (facts.is_dir) {
    const { entries } = await ws.listDirectory({ path, limit: 1000 }, { signal });
    const lines = entries.map(
      ({ type, name }) => `${type === "dir" ? "[DIR]" : "[FILE]"} ${escapeControls(name)}`,
    );
    return { uri, mimeType: DIRECTORY_MIME_TYPE, text: lines.join("\n") };
  }
  if (facts.size > MAX_RESOURCE_BYTES) {
    const message = `the file has ${facts.size} bytes; up to ${MAX_RESOURCE_BYTES} are sent whole: read it in parts with a tool`;
    throw new FilewrightError("TOO_LARGE", message);
  }
  const mimeType = facts.mime ?? "application/octet-stream";
  try {
    const text = await readWholeText(ws, path, signal);
    return { uri, mimeType: mimeType === "application/octet-stream" ? "text/plain" : mimeType, text };
  } catch (error) {
    if (!(error instanceof FilewrightError) || !NOT_TEXT_CODES.has(error.code)) throw error;
  }
  const bytes = await ws.fs.readBytes(joinPath(cwd, facts.path));
  const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { uri, mimeType, blob };
}

/** Returns the whole text of a file. It is read page by page, because the size of one answer is limited. */
async function readWholeText(ws: ServedWorkspace["ws"], path: string, signal: AbortSignal): Promise<string> {
  const parts: string[] = [];
  for (let start = 1; ; ) {
    const page = await ws.readFile(
      {
        path,
        start_line: start,
        max_lines: null,
        max_line_chars: 0,
        line_numbers: "none",
        non_text: "error",
      },
      { signal },
    );
    if (page.rendered === true) throw new FilewrightError("BINARY_FILE", "not text");
    parts.push(page.content);
    const next = page.next_start_line;
    if (next === undefined || next <= start) return parts.join("");
    start = next;
  }
}

/**
 * Returns completions for the template's `path`: absolute paths that begin with the typed text, without the
 * leading `/` if the text has none.
 */
export async function completePath(
  { ws, cwd, roots }: ServedWorkspace,
  typed: string,
  signal: AbortSignal,
): Promise<string[]> {
  const slash = typed.startsWith("/") ? "/" : "";
  const whole = `/${typed.slice(slash.length)}`;
  const near = roots.filter((root) => root.startsWith(whole) && root !== whole);
  const inside = roots.some((root) => isWithin(whole, root));
  const base = inside ? whole : near.length > 0 ? undefined : joinPath(cwd, typed);
  const values = near.map((root) => `${root}/`);
  if (base !== undefined) {
    const dir = base.slice(0, base.lastIndexOf("/")) || "/";
    const start = base.slice(base.lastIndexOf("/") + 1);
    const listed = await ws.listDirectory({ path: dir, limit: 10_000 }, { signal }).catch(() => undefined);
    for (const { name, type } of listed?.entries ?? [])
      if (name.startsWith(start)) values.push(`${joinPath(dir, name)}${type === "dir" ? "/" : ""}`);
  }
  return values.sort(compareCodePoints).map((value) => (slash === "" ? value.slice(1) : value));
}
