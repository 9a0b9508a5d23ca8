/**
 * A result of ours as the protocol carries it.
 *
 * The text is the truth and is sent once. Facts for programs go where no model
 * reads them (`_meta`), unless structured content was asked for.
 */
import { toMcpContent } from "../adapters/content.ts";
import type { ToolDefinition, ToolResult } from "../workspace/index.ts";
import type { ServedPreset } from "./tool-list.ts";
import type { MediaBlock } from "./media.ts";
import { uriOf } from "./uri.ts";

/**
 * `none`: text alone. `compact`: also counts, cursors and hashes as structured
 * content. `full`: the schema of each answer, and the answer once more as data;
 * in preset `mcp` as the filesystem server has it.
 */
export type Structured = "none" | "compact" | "full";

/** One block of an answer. */
export type Block =
  | { readonly type: "text"; readonly text: string }
  | MediaBlock
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType?: string;
      readonly size?: number;
    };

/** What `tools/call` answers. */
export interface CallAnswer {
  readonly content: Block[];
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
  // The SDK's results are open records.
  [key: string]: unknown;
}

/** Under this key of `_meta` stand the facts of a call. */
export const META_KEY = "filewright/call";

/** Longer strings are contents, not facts. In UTF-16 units. */
const MAX_FACT = 300;

/** A refusal before any call was made. */
export function refusal(text: string): CallAnswer {
  return { content: [{ type: "text", text }], isError: true };
}

/** How a host's results become answers. */
export interface AnswerOptions {
  readonly preset: ServedPreset;
  readonly structured: Structured;
  /** What relative paths in results begin at. */
  readonly cwd: string;
}

/** The answer of a call. */
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

/** The bytes of a file, which need no words. */
function mediaAnswer(media: readonly MediaBlock[], structured: Structured): CallAnswer {
  return {
    content: [...media],
    ...(structured === "full" ? { structuredContent: { content: media } } : {}),
  };
}

/** Bytes of a file that is worth a link: a smaller one is read whole by asking for it. */
const LARGE = 64 * 1024;

/** What was cut of a large file can be read as a resource. */
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

/** The small facts of a call: for programs that go on from it. */
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

/** How tools are listed. */
export interface ListOptions {
  readonly preset: ServedPreset;
  readonly structured: Structured;
  /** Makes the strict form of a schema; absent where schemas are told as they are. */
  readonly strictSchema?: ((schema: ToolDefinition["inputSchema"]) => unknown) | undefined;
}

/** A tool as `tools/list` tells it. */
export function toolFacts(
  { name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition,
  { preset, structured, strictSchema }: ListOptions,
): Record<string, unknown> {
  const output = structured !== "full" ? undefined : preset === "mcp" ? parityOutput(name) : outputSchema;
  return {
    name,
    title,
    description,
    inputSchema: strictSchema === undefined ? inputSchema : strictSchema(inputSchema),
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

/** The shape of structured answers that clients of the filesystem server know. */
function parityOutput(tool: string): Record<string, unknown> {
  const content = tool === "read_media_file" ? { type: "array", items: { anyOf: [MEDIA, RESOURCE] } } : TEXT;
  return { type: "object", properties: { content }, required: ["content"] };
}
