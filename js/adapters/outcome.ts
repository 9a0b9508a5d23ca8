/**
 * A result as frameworks take it. Most of them know a failed call by what it
 * throws: the thrown error's message is then the text for the model.
 */
import type { ErrorData, Failure, Success, ToolResult } from "../workspace/index.ts";

/** A call that failed, thrown for frameworks that expect it so. The message is what the model is told. */
export class ToolFailure extends Error {
  /** The stable code, the path, a remedy. */
  readonly error: ErrorData;

  constructor({ text, error }: Failure) {
    super(text);
    this.name = "ToolFailure";
    this.error = error;
  }
}

/** What a call gave. @throws ToolFailure where it failed */
export function succeed(result: ToolResult): Success<unknown> {
  if (result.ok) return result;
  throw new ToolFailure(result);
}

/** The text of a failure for frameworks that put `Error: ` before it themselves. */
export function bareText(text: string): string {
  return text.startsWith("Error: ") ? text.slice("Error: ".length) : text;
}

/** A file beside the text of a result. */
export interface OutcomeMedia {
  readonly kind: "image" | "document";
  /** Base64. */
  readonly data: string;
  readonly mime: string;
  /** The path of the file, as results show it. */
  readonly path: string;
  /** The last name of the path. */
  readonly name: string;
}

/** The images and documents of a result, in order. */
export function mediaOf(result: ToolResult): readonly OutcomeMedia[] {
  return (result.content ?? []).map(({ type, source, file_path: path }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return { kind: type, data: source.data, mime: source.media_type, path, name };
  });
}

/** Arguments that a model wrote as JSON. What is no JSON is handed on as it is: the tool says what is wrong. */
export function argumentsOf(written: string): unknown {
  if (written.trim() === "") return {};
  try {
    return JSON.parse(written) as unknown;
  } catch {
    return written;
  }
}
