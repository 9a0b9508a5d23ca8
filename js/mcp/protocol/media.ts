/**
 * `read_media_file` of preset `mcp`: returns the bytes of any file as an image, audio or resource block,
 * unless one of our readers gives a better form.
 *
 * Rules, hooks and the policy have allowed the read of this path before. The bytes come from the same
 * confined backend.
 */
import { joinPath } from "../../backends/paths.ts";
import type { ToolResult } from "../../workspace/index.ts";
import type { ServedWorkspace } from "../host.ts";
import { uriOf } from "./uri.ts";

/** A content block that carries the bytes of a file. */
export type MediaBlock =
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType: string; readonly blob: string };
    };

/** Error codes that concern only the type of a file. */
const KINDS: ReadonlySet<string> = new Set(["UNSUPPORTED_FORMAT", "BINARY_FILE", "ENCODING_ERROR"]);

/** Maximum size of a file that is sent as bytes. */
const MAX_MEDIA_BYTES = 20 * 1024 * 1024;

/**
 * Returns the bytes of the file that `read_media_file` names as a block; undefined when our own answer is
 * used.
 * @param raw true to send the bytes always, as the filesystem server does
 */
export async function mediaOf(
  { ws, cwd }: ServedWorkspace,
  args: Readonly<Record<string, unknown>>,
  result: ToolResult,
  raw: boolean,
): Promise<readonly MediaBlock[] | undefined> {
  const typed = args["path"];
  if (typeof typed !== "string") return undefined;
  if (result.ok ? !raw : !KINDS.has(result.error.code)) return undefined;
  const facts = await ws.stat({ path: typed }).catch(() => undefined);
  if (facts?.is_file !== true || facts.size > MAX_MEDIA_BYTES) return undefined;
  const mimeType = facts.mime ?? "application/octet-stream";
  const path = joinPath(cwd, facts.path);
  const bytes = await ws.fs.readBytes(path);
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  const family = mimeType.split("/", 1)[0];
  if (family === "image" || family === "audio") return [{ type: family, data, mimeType }];
  const real = await ws.fs.realpath?.(path);
  return [{ type: "resource", resource: { uri: uriOf(real ?? path, "/"), mimeType, blob: data } }];
}
