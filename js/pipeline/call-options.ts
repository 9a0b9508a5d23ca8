/**
 * Validates the options that accompany the arguments of a call: of `ws.call`, of a tool from
 * `ws.tools` or `toolsFor`, and of a typed method. A misspelt `signal` would leave a call that cannot
 * be cancelled, and a misspelt `agent` would attribute the call to another agent.
 */
import { FilewrightError } from "../engine/errors.ts";
import {
  anything,
  callback,
  optionChecker,
  type Options,
  options,
  type Rows,
  signalOption,
  text,
} from "../schema/option.ts";
import type { CallOptions } from "./enter.ts";
import { errorOfData, type Failure, refusedFailure } from "./result.ts";

/** The rows of the options of a call. */
export const CALL_OPTION_ROWS: Rows<CallOptions> = {
  signal: signalOption,
  onProgress: callback(),
  agent: text(),
  toolCall: anything(),
  turn: text(),
};

/**
 * The options of a call.
 *
 * @printed
 */
export const CALL_OPTIONS: Options<CallOptions> = options("CallOptions", CALL_OPTION_ROWS);

const checkOptions = optionChecker("call", CALL_OPTIONS);
/** The options of a call without any. */
export const NO_CALL_OPTIONS: CallOptions = Object.freeze({});

/** Returns the checked options of a call, or the failure with which it is refused. */
export function checkCallOptions(given: unknown): { readonly options: CallOptions } | Failure {
  if (given === undefined) return { options: NO_CALL_OPTIONS };
  try {
    return { options: checkOptions(given) };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return refusedFailure(error.code, error.message, error.details);
  }
}

/** Returns checked options. @throws FilewrightError when the check failed */
export function optionsOrThrow(checked: { readonly options: CallOptions } | Failure): CallOptions {
  if ("options" in checked) return checked.options;
  throw errorOfData(checked.error);
}
