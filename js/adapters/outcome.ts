/**
 * Converts results for frameworks. Most of them expect a failed call to throw: the error's message
 * is then the text for the model.
 */
import type { ErrorData, Failure, Success, ToolResult } from "../workspace/index.ts";

/** A failed call, for frameworks that expect an exception. The message is the text for the model. */
export class ToolFailure extends Error {
  /** The error with its stable code, its path and a remedy. */
  readonly error: ErrorData;

  constructor({ text, error }: Failure) {
    super(text);
    this.name = "ToolFailure";
    this.error = error;
  }

  /** Returns the text for the model. Frameworks that show an error by this method would add the name of the class. */
  override toString(): string {
    return this.message;
  }
}

/** Returns the result of a call. @throws ToolFailure for a failed one */
export function dataOrThrow(result: ToolResult): Success<unknown> {
  if (result.ok) return result;
  throw new ToolFailure(result);
}

/** Returns the text of a failure for frameworks that put `Error: ` before it themselves. */
export function textWithoutErrorPrefix(text: string): string {
  return text.startsWith("Error: ") ? text.slice("Error: ".length) : text;
}

/** An image or document that a result has in addition to its text. */
export interface OutcomeMedia {
  readonly kind: "image" | "document";
  /** The content in base64. */
  readonly data: string;
  readonly mime: string;
  /** The path of the file, as results show it. */
  readonly path: string;
  /** The last name of the path. */
  readonly name: string;
}

/** Returns the images and documents of a result, in order. */
export function mediaOfResult(result: ToolResult): readonly OutcomeMedia[] {
  return (result.content ?? []).map(({ type, source, file_path: path }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return { kind: type, data: source.data, mime: source.media_type, path, name };
  });
}

/**
 * Parses arguments that a model wrote as JSON. Invalid JSON is passed on unchanged, so that the
 * tool reports the error.
 */
export function argumentsOf(written: string): unknown {
  if (written.trim() === "") return {};
  try {
    return JSON.parse(written) as unknown;
  } catch {
    return written;
  }
}
