/**
 * Edits: replacing text in a file, right or refused.
 *
 * A refusal is a value, not a throw: which edit, why, and where in the file the
 * text that was meant may stand. All edits are made, each on the result of those
 * before, or none.
 */
import { type DiffResult, readDiff } from "./diff.ts";
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "./errors.ts";
import { type Packed, unpack } from "./unpack.ts";
import { toUtf8 } from "./utf8.ts";

/** One replacement. */
export interface EditInput {
  /** The text to replace; not empty. Line ends may be LF or CRLF, whatever the file has. */
  readonly oldText?: string | undefined;
  /**
   * Instead of a text: the first line to replace, by number and anchor (`120#k3x9q1`,
   * see `anchors` of a page; a seventh character is passed over). Where the line has moved it is found
   * again, or the edit is refused.
   */
  readonly from?: string | undefined;
  /** The last line to replace. Default: `from` alone. */
  readonly to?: string | undefined;
  /**
   * Whether the file is known to be the one that the anchors were read from: then the number tells lines with
   * equal anchors apart. Default false: such lines are refused.
   */
  readonly unchanged?: boolean | undefined;
  /** Put the new text before or after the line `from` instead of in its place. */
  readonly insert?: "before" | "after" | undefined;
  /** The text to put there. Default: nothing. */
  readonly newText?: string | undefined;
  /** Replace every occurrence. Default false: more than one is refused. */
  readonly replaceAll?: boolean | undefined;
  /** Replace exactly this many occurrences, or refuse. */
  readonly expectedMatches?: number | undefined;
  /** Of several occurrences take the one nearest to this line (1-based). */
  readonly nearLine?: number | undefined;
}

/** How loosely an edit may match, strictest first. */
export type MatchMode = "exact" | "whitespace" | "fuzzy";

/** How edits are applied. */
export interface EditOptions {
  /**
   * The loosest way of matching allowed. `exact`: the bytes, line ends folded.
   * `whitespace` (default): also indentation, trailing blanks and blank edges.
   * `fuzzy`: also small differences of wording.
   */
  readonly match?: MatchMode | undefined;
  /** The least share (0 to 1) of a fuzzy old text that must be found. It only raises the engine's own bar. */
  readonly threshold?: number | undefined;
  /** What to do where an edit fits in several places. Default `error`. */
  readonly onMultiple?: "error" | "first" | undefined;
  /** The path for messages and for the diff. Default `file`. */
  readonly path?: string | undefined;
  /**
   * How the bytes are encoded. Default `utf-8`. In another encoding only the
   * bytes of what an edit names change, whatever the rest of the file holds.
   */
  readonly encoding?: string | undefined;
  /** Cuts of the diff for display, in code points of a line and bytes of the text. Default: none. */
  readonly limits?: { readonly line?: number; readonly bytes?: number } | undefined;
}

/** What became of one edit. Lines are 1-based, of the text the edit was applied to. */
export interface AppliedEdit {
  /** Position in the list, from 0. */
  readonly index: number;
  /** Places where the text was found: more than were replaced where one of them was chosen. */
  readonly matches: number;
  /** How they were found. */
  readonly tier: MatchMode;
  readonly startLine: number;
  readonly endLine: number;
  /** How much of the old text was found, 0 to 1. */
  readonly score: number;
  /** What had to be undone in the edit, such as `line numbers`. */
  readonly repairs: readonly string[];
}

/** What a successful plan tells besides the new content. */
export interface PlanFacts {
  readonly ok: true;
  /** Places replaced, of all edits together. */
  readonly replacements: number;
  readonly edits: readonly AppliedEdit[];
  readonly diff: DiffResult;
}

/** A refusal: MATCH_NOT_FOUND, MATCH_NOT_UNIQUE, MATCH_COUNT_MISMATCH, NO_CHANGE or INVALID_ARGUMENT. */
export interface PlanRefusal {
  readonly ok: false;
  /** `details.edit_index` says which edit, from 0. */
  readonly error: FilewrightError;
}

/** The result of {@link EditEngine.planEdits}. */
export type TextPlan = (PlanFacts & { readonly text: string }) | PlanRefusal;
/** The result of {@link EditEngine.planEditsBytes}. */
export type BytesPlan =
  | (PlanFacts & {
      readonly bytes: Uint8Array;
      /** The `sha256:` of the bytes, under way, where it was asked for and there are threads. */
      readonly hash?: Promise<string>;
    })
  | PlanRefusal;

interface PackedPlan extends Packed {
  readonly bytes: Uint8Array;
  /** What `sha256From` goes on with. */
  readonly hashing?: object | null;
}

/** What both bindings export for this area. */
export interface EditBinding {
  planEdits(text: Uint8Array, call: string): PackedPlan;
  /** Off the event loop; only where there are threads. */
  planEditsAsync?(text: Uint8Array, call: string, signal?: AbortSignal): Promise<PackedPlan>;
  /** The same, while the hash of what will be is begun: of what the texts have in common. */
  planEditsHashed?(text: Uint8Array, call: string): Promise<PackedPlan>;
  sha256From?(bytes: Uint8Array, hashing: object): Promise<string>;
}

/** The functions of this area. */
export interface EditEngine {
  /** Applies edits to a text. */
  planEdits(text: string, edits: readonly EditInput[], options?: EditOptions): TextPlan;
  /** Applies edits to the bytes of a text; only the bytes that the edits name change. */
  planEditsBytes(bytes: Uint8Array, edits: readonly EditInput[], options?: EditOptions): BytesPlan;
  /**
   * The same off the event loop where there are threads: for large files. With `hash` the new
   * bytes are hashed too, begun while they are planned.
   */
  planEditsBytesAsync(
    bytes: Uint8Array,
    edits: readonly EditInput[],
    options?: EditOptions & Signalled & { readonly hash?: boolean | undefined },
  ): Promise<BytesPlan>;
}

const TIERS: readonly MatchMode[] = ["exact", "whitespace", "fuzzy"];
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
          const packed = await binding.planEditsHashed(bytes, toCall(edits, options));
          const { hashing } = packed;
          const hash = hashing && binding.sha256From?.(packed.bytes, hashing);
          return { ...toPlan(packed), ...(hash ? { hash } : {}) };
        }
        return toPlan(await binding.planEditsAsync(bytes, toCall(edits, options), options.signal));
      } catch (error) {
        // An aborted call is no refusal of its edits.
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

/** Reads what `plan_packed` of `crates/core/src/edit/pack.rs` wrote. */
function toPlan(packed: PackedPlan): BytesPlan {
  const { bytes } = packed;
  const from = unpack(packed);
  const replacements = from.num();
  const edits: AppliedEdit[] = [];
  const count = from.num();
  for (let index = 0; index < count; index++) {
    const matches = from.num();
    const tier = TIERS[from.num()] as MatchMode;
    const [startLine, endLine, score] = [from.num(), from.num(), from.num()];
    const repairs = from.str().split(", ").filter(Boolean);
    edits.push({ index, matches, tier, startLine, endLine, score, repairs });
  }
  return { ok: true, bytes, replacements, edits, diff: readDiff(from) };
}
