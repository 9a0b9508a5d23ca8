/**
 * Makes complete calls of `edit_file` of the corrected edits that the engine adds to a refusal. A preset
 * translates them to its own names (`CanonicalCall.resend`).
 */
import type { CorrectedEdit, CorrectedEdits } from "../../engine/text/edit.ts";
import type { FilewrightError } from "../../engine/errors.ts";
import type { Arguments } from "../lib/schema.ts";
import type { EditRequest } from "./schema.ts";
import { MAX_SHOWN_RETRY, withRetries } from "../lib/retry.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** Returns the error with complete calls in place of the engine's edits, and with the corrected text in its message. */
export function withEditRetries(error: FilewrightError, args: EditRequest): FilewrightError {
  const { retry, retries } = (error.details ?? {}) as {
    readonly retry?: CorrectedEdits;
    readonly retries?: readonly CorrectedEdits[];
  };
  const all = retry === undefined ? (retries ?? []) : [retry];
  if (all.length === 0) return error;
  const calls = all.map(({ edits }) => ({ tool: "edit_file", arguments: callArguments(args, edits) }));
  return withRetries(error, calls, textOfRetries(all, args));
}

/**
 * Returns the error of a single edit whose anchor several equal lines have, with one call for each of them.
 * Where not all of them are known as candidates there is none.
 */
export function withAnchorRetries(error: FilewrightError, args: EditRequest): FilewrightError {
  const {
    reason,
    found,
    candidates = [],
  } = (error.details ?? {}) as {
    readonly reason?: string;
    readonly found?: number;
    readonly candidates?: readonly { readonly from: string; readonly to: string }[];
  };
  const [edit, ...others] = args.edits;
  const isAmbiguous = error.code === "MATCH_NOT_UNIQUE" && reason === "stale_anchor";
  if (edit?.from === undefined || others.length > 0 || !isAmbiguous || found !== candidates.length)
    return error;
  const calls = candidates.map(({ from, to }) => {
    const placed = edit.to === undefined ? { ...edit, from } : { ...edit, from, to };
    return { tool: "edit_file", arguments: callArguments({ ...args, edits: [placed] }, [{ index: 0 }]) };
  });
  return withRetries(error, calls, undefined);
}

/** Returns the canonical arguments of the call that sends these edits. */
function callArguments(args: EditRequest, edits: readonly CorrectedEdit[]): Arguments {
  const sent = edits.map(({ index, old, new: made }) => {
    const { old_text, new_text, replace_all, ...place } = args.edits[index] ?? {};
    return withoutUndefined({
      old_text: old ?? old_text,
      new_text: made ?? new_text,
      ...place,
      replace_all: replace_all === true ? true : undefined,
    });
  });
  const { match, threshold, expected_hash, on_multiple } = args;
  const others = {
    match,
    threshold,
    expected_hash,
    on_multiple: on_multiple === "error" ? undefined : on_multiple,
    whole_file: args.whole_file === true ? true : undefined,
    dry_run: args.dry_run === true ? true : undefined,
  };
  const [only] = sent;
  return sent.length === 1 && args.edits.length === 1
    ? withoutUndefined({ path: args.path, ...only, ...others })
    : withoutUndefined({ path: args.path, edits: sent, ...others });
}

/** Returns the corrected texts for the message; undefined when they are too long to repeat there. */
function textOfRetries(all: readonly CorrectedEdits[], { edits: sent }: EditRequest): string | undefined {
  const texts = all.map(({ edits }) => {
    const parts = edits.flatMap(({ index, old, new: made }) => {
      if (old === undefined) return [];
      const which = sent.length > 1 ? ` of edits[${index}]` : "";
      const head = `Send this as old_text${which}:\n${old}`;
      return made === sent[index]?.new_text ? [head] : [head, `and this as new_text${which}:\n${made}`];
    });
    const kept = new Set(edits.map(({ index }) => index));
    const idle = sent.flatMap((_, index) => (kept.has(index) ? [] : [`edits[${index}]`]));
    if (idle.length > 0) parts.push(`Leave out ${idle.join(", ")}: it changes nothing.`);
    return parts.join("\n");
  });
  const text = texts.join("\nor, for another place:\n");
  return text.length > MAX_SHOWN_RETRY ? undefined : text;
}
