/**
 * Edits: replacing text in a file, exactly or not at all.
 *
 * A refusal is a value, not an exception: it names the edit, the reason, and candidates for the
 * intended text. All edits are applied, each on the result of those before, or none.
 */
import { type DiffResult, readDiff } from "./diff.ts";
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "../errors.ts";
import { untilAborted } from "../yielder.ts";
import { type Applied, decodeApplied, type Tier } from "../generated/records.ts";
import { type Packed, unpack } from "../wire/unpack.ts";
import { toUtf8 } from "../wire/bytes.ts";

/** One replacement. */
export interface EditInput {
  /** The text to replace; not empty. Line endings may be LF or CRLF, independent of the file. */
  readonly oldText?: string | undefined;
  /**
   * Instead of a text: the first line to replace, by number and anchor (`120#k3x9q1`, see
   * `anchors` of a page; a seventh character is ignored). A line that has moved is found again, or
   * the edit is refused.
   */
  readonly from?: string | undefined;
  /** The last line to replace. Default: `from` alone. */
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
  /** With several occurrences, replace the one nearest to this line (1-based). */
  readonly nearLine?: number | undefined;
}

export type { Tier as MatchMode } from "../generated/records.ts";

/** How edits are applied. */
export interface EditOptions {
  /**
   * The loosest allowed way of matching. `exact`: the bytes, with line endings normalised.
   * `whitespace` (default): ignores indentation, trailing whitespace and empty lines at the edges.
   * `fuzzy`: also ignores small differences of wording.
   */
  readonly match?: Tier | undefined;
  /**
   * The minimum share (0 to 1) of a fuzzy old text that must match. It only raises the engine's
   * own minimum.
   */
  readonly threshold?: number | undefined;
  /** The behaviour for an edit with several matches. Default `error`. */
  readonly onMultiple?: "error" | "first" | undefined;
  /** The path for messages and for the diff. Default `file`. */
  readonly path?: string | undefined;
  /**
   * The encoding of the bytes. Default `utf-8`. In another encoding only the edited bytes change,
   * whatever the rest of the file contains.
   */
  readonly encoding?: string | undefined;
  /** Limits of the diff for display, in code points of a line and bytes of the text. Default: none. */
  readonly limits?: { readonly line?: number; readonly bytes?: number } | undefined;
}

/** The result of one edit. Lines are 1-based, of the text the edit was applied to. */
export interface AppliedEdit extends Applied {
  /** Position in the list, from 0. */
  readonly index: number;
}

/** The result of a successful plan, apart from the new content. */
export interface PlanFacts {
  readonly ok: true;
  /** The number of replacements of all edits together. */
  readonly replacements: number;
  readonly edits: readonly AppliedEdit[];
  readonly diff: DiffResult;
}

/** A refusal: MATCH_NOT_FOUND, MATCH_NOT_UNIQUE, MATCH_COUNT_MISMATCH, NO_CHANGE or INVALID_ARGUMENT. */
export interface PlanRefusal {
  readonly ok: false;
  /** `details.edit_index` is the index of the edit, from 0. */
  readonly error: FilewrightError;
}

/** The result of {@link EditEngine.planEdits}. */
export type TextPlan = (PlanFacts & { readonly text: string }) | PlanRefusal;
/** The result of {@link EditEngine.planEditsBytes}. */
export type BytesPlan =
  | (PlanFacts & {
      readonly bytes: Uint8Array;
      /** A promise of the `sha256:` of the bytes, when requested and threads exist. */
      readonly hash?: Promise<string>;
    })
  | PlanRefusal;

interface PackedPlan extends Packed {
  readonly bytes: Uint8Array;
  /** The state from which `sha256From` continues. */
  readonly hashing?: object | null;
}

/** The exports of both bindings for this area. */
export interface EditBinding {
  planEdits(text: Uint8Array, call: string): PackedPlan;
  /** On another thread; only in bindings with threads. */
  planEditsAsync?(text: Uint8Array, call: string, signal?: AbortSignal): Promise<PackedPlan>;
  /** The same, while the hash of the new content is started on its unchanged beginning. */
  planEditsHashed?(text: Uint8Array, call: string): Promise<PackedPlan>;
  sha256From?(bytes: Uint8Array, hashing: object): Promise<string>;
}

/** The functions of this area. */
export interface EditEngine {
  /** Applies edits to a text. */
  planEdits(text: string, edits: readonly EditInput[], options?: EditOptions): TextPlan;
  /** Applies edits to the bytes of a text; only the edited bytes change. */
  planEditsBytes(bytes: Uint8Array, edits: readonly EditInput[], options?: EditOptions): BytesPlan;
  /**
   * The same on another thread, where threads exist: for large files. With `hash` the new bytes
   * are hashed too, starting while they are planned.
   */
  planEditsBytesAsync(
    bytes: Uint8Array,
    edits: readonly EditInput[],
    options?: EditOptions & Signalled & { readonly hash?: boolean | undefined },
  ): Promise<BytesPlan>;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Wraps a binding. */
export function editEngine(binding: EditBinding): EditEngine {
  const planEditsBytes: EditEngine["planEditsBytes"] = (bytes, edits, options = {}) => {
    try {
      return toPlan(binding.planEdits(bytes, toCall(edits, options)));
    } catch (error) {
      return refused(error);
    }
  };
  return {
    planEdits(text, edits, options) {
      if (/\p{Surrogate}/u.test(text)) {
        return refused(new FilewrightError("INVALID_ARGUMENT", "the text has an unpaired surrogate"));
      }
      const plan = planEditsBytes(toUtf8(text), edits, { ...options, encoding: undefined });
      if (!plan.ok) return plan;
      const { bytes, ...facts } = plan;
      return { ...facts, text: decoder.decode(bytes) };
    },
    planEditsBytes,
    async planEditsBytesAsync(bytes, edits, options = {}) {
      checkAborted(options.signal);
      if (binding.planEditsAsync === undefined) return planEditsBytes(bytes, edits, options);
      try {
        if (options.hash === true && binding.planEditsHashed !== undefined) {
          const plan = binding.planEditsHashed(bytes, toCall(edits, options));
          const packed = await untilAborted(options.signal, plan);
          const { hashing } = packed;
          const hash = hashing && binding.sha256From?.(packed.bytes, hashing);
          return { ...toPlan(packed), ...(hash ? { hash } : {}) };
        }
        const plan = binding.planEditsAsync(bytes, toCall(edits, options), options.signal);
        return toPlan(await untilAborted(options.signal, plan));
      } catch (error) {
        // A cancelled call is no refusal of its edits.
        if (options.signal?.aborted) throw error;
        return refused(error);
      }
    },
  };
}

function refused(error: unknown): PlanRefusal {
  return { ok: false, error: fromEngine(error) };
}

function toCall(edits: readonly EditInput[], options: EditOptions): string {
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

/** Decodes the result of `plan_packed` in `crates/core/src/edit/pack.rs`. */
function toPlan(packed: PackedPlan): BytesPlan {
  const { bytes } = packed;
  const from = unpack(packed);
  const replacements = from.num();
  let index = 0;
  const edits = from.list(() => ({ index: index++, ...decodeApplied(from) }));
  return { ok: true, bytes, replacements, edits, diff: readDiff(from) };
}
