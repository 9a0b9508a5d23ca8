/**
 * Converts a tool result to the protocol's form.
 *
 * The text is authoritative and is sent once. Facts for programs go into `_meta`, which no model reads,
 * unless the server is asked for structured content. `read_media_file` of preset `mcp` gives the bytes of any
 * file as an image, audio or resource block, unless one of our readers gives a better form.
 */
import { toMcpContent } from "../../adapters/content.ts";
import type { ToolDefinition, ToolResult } from "../../workspace/index.ts";
import type { ServedPreset } from "../served-tools.ts";
import { uriOf } from "./paths.ts";
import { joinPath } from "../../backends/paths.ts";
import type { ServedWorkspace } from "../host.ts";

/**
 * The amount of structured content. `none`: text alone. `compact`: text, and the counts, cursors and hashes
 * of the answer. `full`: the output schema of each tool, and every answer as data too; in preset `mcp` in the
 * form of the filesystem server.
 */
export type Structured = "none" | "compact" | "full";

/** One content block of an answer. */
type Block =
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
  readonly content: Block[];
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
  // The SDK's result types have an index signature.
  [key: string]: unknown;
}

/** The key of `_meta` that holds the facts of a call. */
const META_KEY = "filewright/call";

/** A longer string is content and not a fact. UTF-16 units. */
const MAX_FACT = 300;

/** Returns a refusal for a request that does not reach a tool. */
export function refusal(text: string): CallAnswer {
  return { content: [{ type: "text", text }], isError: true };
}

/** The options of {@link answerOf}. */
export interface AnswerOptions {
  readonly preset: ServedPreset;
  readonly structured: Structured;
  /** The base of the relative paths in results. */
  readonly cwd: string;
}

/** Returns the answer for the result of a call. */
export function answerOf(
  result: ToolResult,
  media: readonly MediaBlock[] | undefined,
  { preset, structured, cwd }: AnswerOptions,
): CallAnswer {
  if (media !== undefined) return mediaAnswer(media, structured);
  const content: Block[] = toMcpContent(result, (path) => uriOf(path, cwd));
  const link = linkOf(result, cwd);
  if (link !== undefined) content.push(link);
  const facts = factsOf(result);
  const data = result.ok ? (result.data as Record<string, unknown>) : undefined;
  const structuredContent =
    data === undefined || structured === "none"
      ? undefined
      : structured === "compact"
        ? facts
        : preset === "mcp"
          ? { content: result.text }
          : data;
  return {
    content,
    ...(result.ok ? {} : { isError: true }),
    ...(structuredContent === undefined ? {} : { structuredContent }),
    _meta: { [META_KEY]: facts },
  };
}

/** Returns the bytes of a file as an answer without text. */
function mediaAnswer(media: readonly MediaBlock[], structured: Structured): CallAnswer {
  return {
    content: [...media],
    ...(structured === "full" ? { structuredContent: { content: media } } : {}),
  };
}

/** Bytes from which a cut file is worth a resource link. A smaller file can be read whole by another call. */
const LARGE = 64 * 1024;

/**
 * Returns a link to a large file whose content the answer cut, so that the client can read it as a resource.
 */
function linkOf(result: ToolResult, cwd: string): Block | undefined {
  if (!result.ok || !result.meta.truncated) return undefined;
  const { path, size, mime, content } = result.data as Readonly<Record<string, unknown>>;
  if (typeof path !== "string" || typeof content !== "string") return undefined;
  if (typeof size !== "number" || size < LARGE) return undefined;
  return {
    type: "resource_link",
    uri: uriOf(path, cwd),
    name: path.slice(path.lastIndexOf("/") + 1),
    ...(typeof mime === "string" ? { mimeType: mime } : {}),
    size,
  };
}

/** Returns the small facts of a call, which programs use for the next call. */
function factsOf(result: ToolResult): Record<string, unknown> {
  const { truncated, call_id: callId, modified_by_hook: byHook, modified_by_user: byUser } = result.meta;
  const meta = {
    truncated,
    ...(callId === undefined ? {} : { call_id: callId }),
    ...(byHook === undefined ? {} : { modified_by_hook: byHook }),
    ...(byUser === undefined ? {} : { modified_by_user: byUser }),
  };
  if (!result.ok) {
    const { code, hint, details } = result.error;
    return { code, ...(hint === undefined ? {} : { hint }), ...small(details ?? {}), ...meta };
  }
  return { ...small(result.data as Record<string, unknown>), ...meta };
}

function small(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).filter(
      ([key, value]) =>
        key !== "content" &&
        key !== "diff" &&
        (typeof value === "number" ||
          typeof value === "boolean" ||
          value === null ||
          (typeof value === "string" && value.length <= MAX_FACT)),
    ),
  );
}

/** The options of {@link toolFacts}. */
export interface ListOptions {
  readonly preset: ServedPreset;
  readonly structured: Structured;
  /** Converts the schema of a tool's arguments to the form that is listed. */
  readonly listedSchema: (schema: ToolDefinition["inputSchema"]) => unknown;
}

/** Returns a tool in the form of `tools/list`. */
export function toolFacts(
  { name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition,
  { preset, structured, listedSchema }: ListOptions,
): Record<string, unknown> {
  const output = structured !== "full" ? undefined : preset === "mcp" ? parityOutput(name) : outputSchema;
  return {
    name,
    title,
    description,
    inputSchema: listedSchema(inputSchema),
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations,
  };
}

const TEXT = { type: "string" } as const;
const MEDIA = {
  type: "object",
  properties: { type: { type: "string", enum: ["image", "audio"] }, data: TEXT, mimeType: TEXT },
  required: ["type", "data", "mimeType"],
} as const;
const RESOURCE = {
  type: "object",
  properties: {
    type: { type: "string", enum: ["resource"] },
    resource: {
      type: "object",
      properties: { uri: TEXT, mimeType: TEXT, blob: TEXT },
      required: ["uri", "blob"],
    },
  },
  required: ["type", "resource"],
} as const;

/** Returns the output schema that clients of the filesystem server know. */
function parityOutput(tool: string): Record<string, unknown> {
  const content = tool === "read_media_file" ? { type: "array", items: { anyOf: [MEDIA, RESOURCE] } } : TEXT;
  return { type: "object", properties: { content }, required: ["content"] };
}

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
 * used. Rules, hooks and the policy have allowed the read of this path before, and the bytes come from the
 * same confined backend.
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
