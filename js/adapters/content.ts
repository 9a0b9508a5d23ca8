/**
 * A result as the message that each provider takes: its text, and its images in that provider's form. For loops
 * that call a provider themselves; the adapters of SDKs use the same.
 *
 * An image of a kind that a provider refuses would fail the whole request: a line of text says so in its place.
 *
 * @module filewright/content
 */
import { escapeControls } from "../engine/escape.ts";
import type { ContentBlock } from "../tools/lib/tool.ts";

/** The content to convert: a result of `ws.call`, or of `resolveMentions`. */
export interface Shown {
  /** The text for the model. */
  readonly text: string;
  /** Blocks in addition to the text. */
  readonly content?: readonly ContentBlock[] | undefined;
}

/** A text block of a message. */
export interface TextPart {
  /** The kind of this block, which is text. */
  type: "text";
  /** The text of the block. */
  text: string;
}

/** A block of a tool's result in the Model Context Protocol. */
export type McpContent =
  | TextPart
  | { type: "image"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType: string; blob: string } };

/** The kinds of images that Anthropic's API takes. */
export type AnthropicMediaType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

/** A block of a tool's result in Anthropic's API. */
export type AnthropicBlock =
  | TextPart
  | { type: "image"; source: { type: "base64"; media_type: AnthropicMediaType; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };

/** A part of `function_call_output`, or of a message, in OpenAI's Responses API. */
export type OpenAIContent =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; filename: string; file_data: string };

/** A part of a user's message in OpenAI's Chat Completions API, whose tool messages are text alone. */
export type OpenAIChatContent =
  | TextPart
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

/** A part of a message in Google's API. */
export type GeminiContent = { text: string } | { inlineData: { mimeType: string; data: string } };

const PDF_MEDIA_TYPE = "application/pdf";
const WEB_MEDIA_TYPES: readonly string[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  PDF_MEDIA_TYPE,
];
const GEMINI_MEDIA_TYPES: readonly string[] = [
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/heic",
  "image/heif",
  PDF_MEDIA_TYPE,
];

/**
 * For the Model Context Protocol, whose clients decide which blocks they show.
 *
 * @example
 * const content = toMcpContent(await ws.call("read_file", { path: "chart.png" }));
 */
export function toMcpContent(
  { text, content = [] }: Shown,
  /** Returns the URI of a document's path. Default: a name that only these tools know. */
  uriOf: (path: string) => string = workspaceUri,
): McpContent[] {
  const media = content.map(({ type, source, file_path: path }): McpContent => {
    const { data, media_type: mimeType } = source;
    return type === "image"
      ? { type, data, mimeType }
      : { type: "resource", resource: { uri: uriOf(path), mimeType, blob: data } };
  });
  return [{ type: "text", text }, ...media];
}

function workspaceUri(path: string): string {
  return `workspace:${path.split("/").map(encodeURIComponent).join("/")}`;
}

/**
 * For Anthropic's API: the `content` of a `tool_result`, or of a message.
 *
 * @example
 * const block = { type: "tool_result", tool_use_id, is_error: !result.ok, content: toAnthropicContent(result) };
 */
export function toAnthropicContent(shown: Shown): AnthropicBlock[] {
  return contentParts<AnthropicBlock>(
    shown,
    WEB_MEDIA_TYPES,
    toTextPart,
    ({ type, source: { media_type, data } }) =>
      type === "image"
        ? { type, source: { type: "base64", media_type: media_type as AnthropicMediaType, data } }
        : { type, source: { type: "base64", media_type: PDF_MEDIA_TYPE, data } },
  );
}

/**
 * For OpenAI's Responses API: the `output` of a `function_call_output`.
 *
 * @example
 * const item = { type: "function_call_output", call_id, output: toOpenAIContent(result) };
 */
export function toOpenAIContent(shown: Shown): OpenAIContent[] {
  return contentParts<OpenAIContent>(
    shown,
    WEB_MEDIA_TYPES,
    (text) => ({ type: "input_text", text }),
    ({ type, source, file_path }) =>
      type === "image"
        ? { type: "input_image", image_url: dataUrl(source), detail: "auto" }
        : { type: "input_file", filename: baseName(file_path), file_data: dataUrl(source) },
  );
}

/**
 * For OpenAI's Chat Completions API: the `content` of a user's message. A tool message can only
 * contain the text.
 *
 * @example
 * const answer = { role: "tool", tool_call_id, content: result.text };
 * const shown = { role: "user", content: toOpenAIChatContent(result) };
 */
export function toOpenAIChatContent(shown: Shown): OpenAIChatContent[] {
  return contentParts<OpenAIChatContent>(shown, WEB_MEDIA_TYPES, toTextPart, ({ type, source, file_path }) =>
    type === "image"
      ? { type: "image_url", image_url: { url: dataUrl(source) } }
      : { type: "file", file: { filename: baseName(file_path), file_data: dataUrl(source) } },
  );
}

/**
 * For Google's API: the `parts` of a message.
 *
 * @example
 * const message = { role: "user", parts: toGeminiContent(result) };
 */
export function toGeminiContent(shown: Shown): GeminiContent[] {
  return contentParts<GeminiContent>(
    shown,
    GEMINI_MEDIA_TYPES,
    (text) => ({ text }),
    ({ source: { media_type, data } }) => ({ inlineData: { mimeType: media_type, data } }),
  );
}

const toTextPart = (text: string): TextPart => ({ type: "text", text });

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function dataUrl({ media_type, data }: ContentBlock["source"]): string {
  return `data:${media_type};base64,${data}`;
}

/** Returns the text, then an image or a line in its place for each block. */
function contentParts<Part>(
  { text, content = [] }: Shown,
  taken: readonly string[],
  textPart: (text: string) => Part,
  mediaPart: (block: ContentBlock) => Part,
): Part[] {
  const shown = content.map((block) => {
    const { source, file_path } = block;
    return taken.includes(source.media_type)
      ? mediaPart(block)
      : textPart(`[${escapeControls(file_path)}: images of type ${source.media_type} cannot be shown here]`);
  });
  return [textPart(text), ...shown];
}
