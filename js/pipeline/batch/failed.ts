/** The error of a batch: the error of one operation, with its index. */
import { FilewrightError } from "../../engine/errors.ts";
import type { BatchData } from "../../tools/index.ts";
import type { ErrorData } from "../result.ts";

/** A failed batch: the error of one operation, and the results of the others. */
export class BatchFailed extends FilewrightError {
  readonly data: BatchData;
  /** True when the message is the unchanged text of a hook. */
  readonly verbatim: boolean;

  constructor(index: number, tool: string, error: ErrorData, data: BatchData) {
    const { code, message, path, hint, details } = error;
    const hooked = code === "HOOK_BLOCKED";
    super(code, hooked ? message : withShortFirstLine(`operations[${index}] (${tool}): ${message}`), {
      path,
      hint,
      complete: true,
      details: { ...details, index, tool, applied: data.applied, rolled_back: data.rolled_back },
    });
    this.data = data;
    this.verbatim = hooked && details?.["verbatim"] === true;
  }
}

/** The maximum length of the first line of a message. */
const MAX_MESSAGE_LINE_LENGTH = 200;

function withShortFirstLine(message: string): string {
  const [first = "", ...rest] = message.split("\n");
  if (first.length <= MAX_MESSAGE_LINE_LENGTH) return message;
  const at = first.lastIndexOf(" ", MAX_MESSAGE_LINE_LENGTH - 1);
  return [`${first.slice(0, at)}…`, first.slice(at + 1), ...rest].join("\n");
}
