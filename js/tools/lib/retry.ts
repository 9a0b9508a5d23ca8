/**
 * Adds the calls to send instead of a refused one to its error: `retry` in the details, or `retries` for
 * each of several places. They are calls of the canonical tool until the answer of a preset is made.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { Arguments } from "./schema.ts";

/** A complete call. */
export interface RetryCall {
  readonly tool: string;
  readonly arguments: Arguments;
}

/** The maximum length of the corrected part that a message repeats, in UTF-16 units. */
export const MAX_SHOWN_RETRY = 1500;

/**
 * Returns the error with these calls. `text` is the corrected part for the message; where it is undefined, the
 * hint names the detail instead.
 */
export function withRetries(
  error: FilewrightError,
  calls: readonly RetryCall[],
  text: string | undefined,
): FilewrightError {
  const { retry: _one, retries: _several, ...details } = error.details ?? {};
  const [only] = calls;
  const one = calls.length === 1;
  const added = one ? { retry: only } : { retries: calls };
  const { code, path, complete } = error;
  const hint = one ? "send the call in details.retry" : "send the call in details.retries that is meant";
  return text === undefined
    ? new FilewrightError(code, error.message, { path, complete, hint, details: { ...details, ...added } })
    : new FilewrightError(code, `${error.message}\n${text}`, {
        path,
        complete,
        // Of several places the caller may mean another one, or all of them.
        hint: one ? undefined : error.hint,
        details: { ...details, ...added },
      });
}

/** Returns the details with their calls translated by `resend`; without those that it cannot express. */
export function translatedRetries(
  details: Readonly<Record<string, unknown>>,
  resend: (call: RetryCall) => RetryCall | undefined,
): Readonly<Record<string, unknown>> {
  const { retry, retries, ...others } = details as {
    readonly retry?: RetryCall;
    readonly retries?: readonly RetryCall[];
  };
  if (retry === undefined && retries === undefined) return details;
  const one = retry === undefined ? undefined : resend(retry);
  const several = (retries ?? []).map(resend).filter((call) => call !== undefined);
  if (one !== undefined) return { ...others, retry: one };
  return several.length > 0 ? { ...others, retries: several } : others;
}
