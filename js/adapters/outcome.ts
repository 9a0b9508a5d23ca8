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

/** An image in a result. */
export interface OutcomeImage {
  /** Base64. */
  readonly data: string;
  readonly mime: string;
}

/** The images of a result, in order. */
export function imagesOf(result: ToolResult): readonly OutcomeImage[] {
  return (result.content ?? []).map(({ source }) => ({ data: source.data, mime: source.media_type }));
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
