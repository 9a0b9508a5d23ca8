/**
 * Converts a tool result to the protocol's form.
 *
 * The text is the answer, and it is sent once. Facts for programs are in `_meta`, which no model reads,
 * unless the server is configured to send structured content. `read_media_file` of preset `mcp` returns the
 * bytes of a file as an image, audio or resource block, unless one of our readers returns a better form.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { toMcpContent } from "../../adapters/content.ts";
import type { ToolDefinition, ToolResult } from "../../workspace/index.ts";
import type { ServedPreset } from "../offered.ts";
import { fileUriOf } from "./paths.ts";
import { joinPath } from "../../backends/paths.ts";
import type { ServedWorkspace } from "../host.ts";
import { MEDIA_TOOL } from "../../presets/served.ts";

/**
 * How much of an answer is also sent as structured data. `none`: nothing. `compact`: the counts, cursors and
 * hashes. `full`: the output schema of each tool and all data; in preset `mcp` in the form of the reference
 * server.
 */
export type StructuredLevel = "none" | "compact" | "full";

/** One content block of an answer. */
type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | MediaBlock
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType?: string;
      readonly size?: number;
    };

/** The answer to `tools/call`. */
export interface CallAnswer {
  readonly content: AnswerBlock[];
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
  // The SDK's result types have an index signature.
  [key: string]: unknown;
}

/** The key in `_meta` under which the facts of a call are sent. */
const FACTS_META_KEY = "filewright/call";

/** The maximum length, in UTF-16 units, of a string that counts as a fact. A longer one is content. */
const MAX_FACT_LENGTH = 300;

/** Returns the answer to a call that is refused before it reaches a tool. */
export function refusalAnswer(text: string): CallAnswer {
  return { content: [{ type: "text", text }], isError: true };
}

/** The options of {@link answerOfResult}. */
export interface AnswerOptions {
  readonly preset: ServedPreset;
  readonly structured: StructuredLevel;
  /** The directory to which relative paths in results refer. */
  readonly cwd: string;
}

/** Returns the answer for the result of a call. */
export function answerOfResult(
  result: ToolResult,
  media: readonly MediaBlock[] | undefined,
  { preset, structured, cwd }: AnswerOptions,
): CallAnswer {
  if (media !== undefined) return mediaAnswer(media, structured);
  const content: AnswerBlock[] = toMcpContent(result, (path) => fileUriOf(path, cwd));
  const link = linkToTruncatedFile(result, cwd);
  if (link !== undefined) content.push(link);
  const facts = factsForPrograms(result);
  const data = result.ok ? (result.data as Record<string, unknown>) : undefined;
  const structuredContent =
    data === undefined || structured === "none"
      ? undefined
      : structured === "compact"
        ? facts
        : preset === "mcp"
          ? { content: result.text }
          : data;
  return withoutUndefined({
    content,
    isError: result.ok ? undefined : true,
    structuredContent,
    _meta: { [FACTS_META_KEY]: facts },
  });
}

/** Returns an answer that consists of the bytes of a file, without text. */
function mediaAnswer(media: readonly MediaBlock[], structured: StructuredLevel): CallAnswer {
  const content: AnswerBlock[] = [...media];
  return withoutUndefined({
    content,
    structuredContent: structured === "full" ? { content: media } : undefined,
  });
}

/**
 * The size in bytes from which a link is added to a truncated file. A smaller file can be read as a whole by
 * another call.
 */
const MIN_LINKED_FILE_BYTES = 64 * 1024;

/**
 * Returns a link to a file that the answer truncated, so that the client can read all of it as a resource;
 * undefined when nothing was truncated, or the file is small.
 */
function linkToTruncatedFile(result: ToolResult, cwd: string): AnswerBlock | undefined {
  if (!result.ok || !result.meta.truncated) return undefined;
  const { path, size, mime, content } = result.data as Readonly<Record<string, unknown>>;
  if (typeof path !== "string" || typeof content !== "string") return undefined;
  if (typeof size !== "number" || size < MIN_LINKED_FILE_BYTES) return undefined;
  return withoutUndefined({
    type: "resource_link",
    uri: fileUriOf(path, cwd),
    name: path.slice(path.lastIndexOf("/") + 1),
    mimeType: typeof mime === "string" ? mime : undefined,
    size,
  });
}

/** Returns the facts of a call that programs need for the next one, such as cursors and hashes. */
function factsForPrograms(result: ToolResult): Record<string, unknown> {
  const {
    truncated,
    call_id: callId,
    undoable,
    modified_by_hook: byHook,
    modified_by_user: byUser,
  } = result.meta;
  const meta = withoutUndefined({
    truncated,
    call_id: callId,
    undoable: callId === undefined ? undefined : undoable,
    modified_by_hook: byHook,
    modified_by_user: byUser,
  });
  if (!result.ok) {
    const { code, hint, details } = result.error;
    return withoutUndefined({ code, hint, ...shortValues(details ?? {}), ...meta });
  }
  return { ...shortValues(result.data as Record<string, unknown>), ...meta };
}

function shortValues(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).filter(
      ([key, value]) =>
        key !== "content" &&
        key !== "diff" &&
        (typeof value === "number" ||
          typeof value === "boolean" ||
          value === null ||
          (typeof value === "string" && value.length <= MAX_FACT_LENGTH)),
    ),
  );
}

/** The options of {@link listedTool}. */
export interface ToolListOptions {
  readonly preset: ServedPreset;
  readonly structured: StructuredLevel;
  /** Converts the schema of a tool's arguments to the form in which it is listed. */
  readonly listedSchema: (schema: ToolDefinition["inputSchema"]) => unknown;
}

/** Returns a tool as `tools/list` describes it. */
export function listedTool(
  { name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition,
  { preset, structured, listedSchema }: ToolListOptions,
): Record<string, unknown> {
  const output =
    structured !== "full" ? undefined : preset === "mcp" ? referenceOutputSchema(name) : outputSchema;
  return withoutUndefined({
    name,
    title,
    description,
    inputSchema: listedSchema(inputSchema),
    outputSchema: output,
    annotations,
  });
}

const TEXT_SCHEMA = { type: "string" } as const;
const MEDIA_BLOCK_SCHEMA = {
  type: "object",
  properties: {
    type: { type: "string", enum: ["image", "audio"] },
    data: TEXT_SCHEMA,
    mimeType: TEXT_SCHEMA,
  },
  required: ["type", "data", "mimeType"],
} as const;
const RESOURCE_BLOCK_SCHEMA = {
  type: "object",
  properties: {
    type: { type: "string", enum: ["resource"] },
    resource: {
      type: "object",
      properties: { uri: TEXT_SCHEMA, mimeType: TEXT_SCHEMA, blob: TEXT_SCHEMA },
      required: ["uri", "blob"],
    },
  },
  required: ["type", "resource"],
} as const;

/** Returns the output schema that the reference server has for a tool. */
function referenceOutputSchema(tool: string): Record<string, unknown> {
  const content =
    tool === MEDIA_TOOL
      ? { type: "array", items: { anyOf: [MEDIA_BLOCK_SCHEMA, RESOURCE_BLOCK_SCHEMA] } }
      : TEXT_SCHEMA;
  return { type: "object", properties: { content }, required: ["content"] };
}

/** A block with the bytes of a file. */
export type MediaBlock =
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType: string; readonly blob: string };
    };

/** Error codes that mean that a file has an unsuitable type. */
const UNSUITABLE_TYPE_CODES: ReadonlySet<string> = new Set([
  "UNSUPPORTED_FORMAT",
  "BINARY_FILE",
  "ENCODING_ERROR",
]);

/** The maximum size in bytes of a file that is sent as bytes. A larger one is answered as usual. */
const MAX_MEDIA_BYTES = 20 * 1024 * 1024;

/**
 * Returns a block with the bytes of the file that `read_media_file` names; undefined when the usual answer is
 * used. The read has been allowed by rules, hooks and policy before, and the bytes come from the same
 * confined backend.
 * @param raw true to send the bytes always, as the filesystem server does
 */
export async function mediaBlockOf(
  { ws, cwd }: ServedWorkspace,
  args: Readonly<Record<string, unknown>>,
  result: ToolResult,
  raw: boolean,
): Promise<readonly MediaBlock[] | undefined> {
  const typed = args["path"];
  if (typeof typed !== "string") return undefined;
  if (result.ok ? !raw : !UNSUITABLE_TYPE_CODES.has(result.error.code)) return undefined;
  const facts = await ws.stat({ path: typed }).catch(() => undefined);
  if (facts?.is_file !== true || facts.size > MAX_MEDIA_BYTES) return undefined;
  const mimeType = facts.mime ?? "application/octet-stream";
  const path = joinPath(cwd, facts.path);
  const bytes = await ws.fs.readBytes(path);
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  const family = mimeType.split("/", 1)[0];
  if (family === "image" || family === "audio") return [{ type: family, data, mimeType }];
  const real = await ws.fs.realpath(path);
  return [{ type: "resource", resource: { uri: fileUriOf(real ?? path, "/"), mimeType, blob: data } }];
}
