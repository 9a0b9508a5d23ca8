/**
 * Edits: replace text in a file, only where it is found as requested.
 *
 * An edit that cannot be applied is returned as a value, not thrown: it names the edit, the reason, and lines
 * that may have been meant. Each edit is applied to the result of those before it. If one fails, none is
 * applied.
 */
import { type DiffResult, UnifiedDiff } from "./diff.ts";
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "../errors.ts";
import { untilAborted } from "../threads.ts";
import type { PackedPlan, TextExports } from "../generated/exports.ts";
import { type Applied, decodePlanFacts, type Tier } from "../generated/records.ts";
import { Unpacker } from "../wire/unpack.ts";
import { toUtf8 } from "../wire/bytes.ts";

/** One replacement. */
export interface EditInput {
  /** The text to replace; not empty. Line endings may be LF or CRLF, independent of the file. */
  readonly oldText?: string | undefined;
  /**
   * The first line to replace, instead of an old text: its number and anchor, such as `120#k3x9q1` (see
   * `anchors` of a page; a seventh character is ignored). A line that has moved is found by its anchor; if it
   * is gone, the edit is refused.
   */
  readonly from?: string | undefined;
  /** The last line to replace, in the same form. Default: only the line `from`. */
  readonly to?: string | undefined;
  /**
   * True when the file is known to be unchanged since the anchors were read: then the number
   * selects among lines with equal anchors. Default false: such lines are refused.
   */
  readonly unchanged?: boolean | undefined;
  /** Insert the new text before or after the line `from` instead of replacing it. */
  readonly insert?: "before" | "after" | undefined;
  /** The new text. Default: empty. */
  readonly newText?: string | undefined;
  /** Replace every occurrence. Default false: more than one is refused. */
  readonly replaceAll?: boolean | undefined;
  /** Replace exactly this many occurrences, or refuse. */
  readonly expectedMatches?: number | undefined;
  /** The line, from 1, whose nearest occurrence of `oldText` is replaced if there are several. */
  readonly nearLine?: number | undefined;
}

export type { Tier as MatchMode } from "../generated/records.ts";

/** How edits are applied. */
export interface EditOptions {
  /**
   * The least strict way of matching that is allowed. `exact`: the bytes must be equal, except for line
   * endings. `whitespace` (default): differences of indentation, of white space at line ends, and of empty
   * lines at the edges are ignored, too. `fuzzy`: small differences of wording are ignored, too.
   */
  readonly match?: Tier | undefined;
  /**
   * The minimum share (0 to 1) of the old text that must match with `fuzzy`. A value below the engine's own
   * minimum has no effect.
   */
  readonly threshold?: number | undefined;
  /**
   * The treatment of an old text that occurs several times: `error` refuses the edit, `first` replaces the first
   * occurrence. Default `error`.
   */
  readonly onMultiple?: "error" | "first" | undefined;
  /** The path of the file, for error messages and the diff. Default `file`. */
  readonly path?: string | undefined;
  /**
   * The encoding of the bytes. Default `utf-8`. In any encoding the bytes outside the edited places are kept,
   * even invalid ones.
   */
  readonly encoding?: string | undefined;
  /**
   * Truncates the diff for display: lines to `line` code points, and the text to `bytes` bytes. Default:
   * none.
   */
  readonly limits?: { readonly line?: number; readonly bytes?: number } | undefined;
}

/** The result of one edit. Lines are 1-based, of the text the edit was applied to. */
export interface AppliedEdit extends Applied {
  /** The index of the edit in the list, from 0. */
  readonly index: number;
}

/** The result of successful edits, except the new content. */
export interface PlanFacts {
  readonly ok: true;
  /** The number of replacements of all edits together. */
  readonly replacements: number;
  readonly edits: readonly AppliedEdit[];
  readonly diff: DiffResult;
}

/**
 * The result when an edit cannot be applied, with the code MATCH_NOT_FOUND, MATCH_NOT_UNIQUE,
 * MATCH_COUNT_MISMATCH, NO_CHANGE or INVALID_ARGUMENT.
 */
export interface PlanRefusal {
  readonly ok: false;
  /**
   * `details.edit_index` is the index of the edit, from 0. `details.retry` has the edits to send instead,
   * `details.retries` one such list for each of several places.
   */
  readonly error: FilewrightError;
}

/** One edit of {@link CorrectedEdits}; without `old` and `new` the edit as it was sent. */
export interface CorrectedEdit {
  /** The index of the sent edit, from 0. */
  readonly index: number;
  /** The old text to send, which stands in the file once. */
  readonly old?: string;
  /** The new text to send. */
  readonly new?: string;
}

/**
 * The edits to send instead of a refused list: `details.retry` of a {@link PlanRefusal}, or an item of its
 * `details.retries` where several places can be meant. An edit that changes nothing is left out.
 */
export interface CorrectedEdits {
  readonly edits: readonly CorrectedEdit[];
}

/** The result of {@link EditEngine.planEdits}: the new text with facts about the edits, or the refusal. */
export type TextPlan = (PlanFacts & { readonly text: string }) | PlanRefusal;
/** The result of {@link EditEngine.planEditsBytes}: the new bytes with facts about the edits, or the refusal. */
export type BytesPlan =
  | (PlanFacts & {
      readonly bytes: Uint8Array;
      /** The `sha256:` of the new bytes, when it was requested and another thread has made the edits. */
      readonly hash?: Promise<string>;
    })
  | PlanRefusal;

/** The exports of a binding that edits need. */
export interface EditBinding extends TextExports {
  /** Like `planEditsAsync`, and begins to hash the new content with the part before the first edit. */
  planEditsHashed?(text: Uint8Array, call: string): Promise<PackedPlan>;
  sha256From?(bytes: Uint8Array, hashing: object): Promise<string>;
}

/** The functions of the engine for edits. */
export interface EditEngine {
  /** Applies edits to a text. */
  planEdits(text: string, edits: readonly EditInput[], options?: EditOptions): TextPlan;
  /** Applies edits to the bytes of a text. All other bytes stay as they are. */
  planEditsBytes(bytes: Uint8Array, edits: readonly EditInput[], options?: EditOptions): BytesPlan;
  /**
   * Like {@link EditEngine.planEditsBytes}, but on another thread where threads exist, so that large files do
   * not block the caller. With `hash` the new bytes are hashed, too, beginning while the edits are applied.
   */
  planEditsBytesAsync(
    bytes: Uint8Array,
    edits: readonly EditInput[],
    options?: EditOptions & Signalled & { readonly hash?: boolean | undefined },
  ): Promise<BytesPlan>;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the functions of the engine for edits, which call the given binding. */
export function makeEditEngine(binding: EditBinding): EditEngine {
  const planEditsBytes: EditEngine["planEditsBytes"] = (bytes, edits, options = {}) => {
    try {
      return decodePlan(binding.planEdits(bytes, editCallJson(edits, options)));
    } catch (error) {
      return toRefusal(error);
    }
  };
  return {
    planEdits(text, edits, options) {
      if (/\p{Surrogate}/u.test(text)) {
        return toRefusal(new FilewrightError("INVALID_ARGUMENT", "the text has an unpaired surrogate"));
      }
      const plan = planEditsBytes(toUtf8(text), edits, { ...options, encoding: undefined });
      if (!plan.ok) return plan;
      const { bytes, ...facts } = plan;
      return { ...facts, text: decoder.decode(bytes) };
    },
    planEditsBytes,
    async planEditsBytesAsync(bytes, edits, options = {}) {
      checkAborted(options.signal);
      if (binding.planEditsAsync === undefined || isFoundAtOnce(bytes, edits, options.encoding))
        return planEditsBytes(bytes, edits, options);
      try {
        if (options.hash === true && binding.planEditsHashed !== undefined) {
          const plan = binding.planEditsHashed(bytes, editCallJson(edits, options));
          const packed = await untilAborted(options.signal, plan);
          const { hashing } = packed;
          const hash = hashing && binding.sha256From?.(packed.bytes, hashing);
          return { ...decodePlan(packed), ...(hash ? { hash } : {}) };
        }
        const plan = binding.planEditsAsync(bytes, editCallJson(edits, options), options.signal);
        return decodePlan(await untilAborted(options.signal, plan));
      } catch (error) {
        // A cancelled call is thrown as an error and not returned as a refused edit.
        if (options.signal?.aborted) throw error;
        return toRefusal(error);
      }
    },
  };
}

/** The maximum size in bytes of a text whose edits are applied on the calling thread. */
const MAX_BYTES_HERE = 16 * 1024;
/** The maximum number of characters in the old and new texts of such edits. */
const MAX_CHARS_HERE = 2048;

/**
 * Returns true for small edits of a small UTF-8 text that name what stands there once: they take 10 µs, and another thread
 * takes 60 µs to begin. An edit whose text is not found can take 8 ms, in which the engine looks for what was meant.
 */
function isFoundAtOnce(
  bytes: Uint8Array,
  edits: readonly EditInput[],
  encoding: string | undefined = "utf-8",
): boolean {
  if (bytes.length > MAX_BYTES_HERE || edits.length === 0 || encoding !== "utf-8") return false;
  let text = decoder.decode(bytes);
  let left = MAX_CHARS_HERE;
  return edits.every(({ oldText = "", newText = "" }) => {
    left -= oldText.length + newText.length;
    const at = text.indexOf(oldText);
    if (oldText === "" || left < 0 || at < 0 || text.indexOf(oldText, at + 1) >= 0) return false;
    // The next edit finds what this one leaves.
    text = text.replace(oldText, () => newText);
    return true;
  });
}

function toRefusal(error: unknown): PlanRefusal {
  return { ok: false, error: fromEngine(error) };
}

function editCallJson(edits: readonly EditInput[], options: EditOptions): string {
  return JSON.stringify({
    edits: edits.map((edit) => ({
      old: edit.oldText,
      from: edit.from,
      to: edit.to,
      insert: edit.insert,
      unchanged: edit.unchanged,
      new: edit.newText,
      replaceAll: edit.replaceAll,
      expected: edit.expectedMatches,
      nearLine: edit.nearLine,
    })),
    match: options.match,
    threshold: options.threshold,
    onMultiple: options.onMultiple,
    label: options.path,
    encoding: options.encoding,
    lineLimit: options.limits?.line,
    byteLimit: options.limits?.bytes,
  });
}

/** Decodes the result of edits. */
function decodePlan(packed: PackedPlan): BytesPlan {
  const { replacements, edits, diff } = decodePlanFacts(new Unpacker(packed));
  return {
    ok: true,
    bytes: packed.bytes,
    replacements,
    edits: edits.map((edit, index) => ({ index, ...edit })),
    diff: new UnifiedDiff(diff),
  };
}
