/**
 * The gate of what is said beside the arguments of a call: by `ws.call`, by a tool
 * of `ws.tools` or `toolsFor`, and by a typed method. A misspelt `signal` must not
 * leave a call that nobody can cancel, nor a misspelt `agent` one that is another's.
 */
import { FilewrightError, makeError } from "../engine/errors.ts";
import {
  anything,
  callback,
  gateOf,
  type Options,
  options,
  type Rows,
  signalOption,
  text,
} from "../schema/option.ts";
import type { CallOptions } from "./enter.ts";
import { type Failure, refused } from "./result.ts";

/** The rows of the options of a call. */
export const CALL_ROWS: Rows<CallOptions> = {
  signal: signalOption,
  onProgress: callback(),
  agent: text(),
  toolCall: anything(),
};

/** The options of a call. */
export const CALL_OPTIONS: Options<CallOptions> = options("CallOptions", CALL_ROWS);

const gate = gateOf("call", CALL_OPTIONS);
const NONE: CallOptions = Object.freeze({});

/** The options to use, or the refusal. A call without options costs nothing here. */
export function callOptions(given: unknown): { readonly options: CallOptions } | Failure {
  if (given === undefined) return NO_OPTIONS;
  try {
    return { options: gate(given) };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return refused(error.code, error.message, error.details);
  }
}

/** The options, where there is no refusal. @throws FilewrightError what was refused */
export function allowed(checked: { readonly options: CallOptions } | Failure): CallOptions {
  if ("options" in checked) return checked.options;
  const { code, message, ...rest } = checked.error;
  throw makeError(code, message, rest);
}

const NO_OPTIONS = Object.freeze({ options: NONE });
