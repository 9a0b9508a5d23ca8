/**
 * The steps of a change as data, as they are recorded before they happen, and their stored form:
 * JSON, followed by the contents.
 *
 * A recorded step is intended. It is done when the operation has returned; then the version that
 * the operation created is known. A step whose operation was refused never happened, and is
 * dropped.
 */
import type { FsStat } from "../backend.ts";
import type { Changed } from "../entry.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { PreImage } from "./pre-image.ts";

/** The effect of a step on its path. */
export type PathStepKind = "write" | "create" | "delete" | "mkdir" | "symlink" | "chmod";

/** A change of one path. `path` is the real one, and `after` the expected state. */
export interface PathStep extends Changed<PreImage> {
  /** The number of the step in its transaction. */
  readonly id: number;
  readonly kind: PathStepKind;
  /** The `fileId` of the directory of the path, if known. A rollback restores nothing in another directory. */
  readonly parent?: string;
  /** The path to which the old entry is set aside. */
  readonly aside?: string;
  /** True for a temporary path of the change, such as a staged copy before it is moved: a rollback removes it. */
  readonly scratch?: true;
}

/** A move of one entry. */
export interface MoveStep {
  readonly id: number;
  readonly kind: "move";
  readonly from: string;
  readonly to: string;
  /** The `fileId` of the two directories; null when unknown. */
  readonly parents?: readonly [from: string | null, to: string | null];
  /** The state of the moved entry. */
  readonly moved: PreImage;
  /** The entries below a moved directory, by relative path; absent when there are too many. */
  readonly below?: readonly (readonly [path: string, facts: string])[];
  /** The entry at `to` before the move; null when there was none. */
  readonly over: PreImage | null;
  /** The path to which the entry at `to` was set aside. */
  readonly aside?: string;
}

/** One step of a change. */
export type Step = PathStep | MoveStep;

type WithoutId<S> = S extends Step ? Omit<S, "id"> : never;
/** A step without a number. */
export type NewStep = WithoutId<Step>;

/** The result of a step's operation. */
export interface StepResult {
  readonly version?: string;
  readonly fileId?: string;
}

/** The facts about steps that became known after they were recorded. */
export interface StepNotes {
  readonly done: readonly (readonly [id: number, given: StepResult])[];
  /** The ids of the steps that never happened, or have been rolled back. */
  readonly dropped: readonly number[];
}

/** The reason why a change was allowed. */
export interface AllowedBy {
  /**
   * `answer`: a reviewer who was asked about this call. `approval`: a lasting approval, so that no reviewer was asked. `rule`:
   * a rule that allows it. `review`: nothing before the change, because a person reviews it afterwards.
   */
  readonly kind: "answer" | "approval" | "rule" | "review";
  /** The person who answered or gave the approval, if known. */
  readonly by?: string;
  /** The lasting approval. */
  readonly approval?: {
    /** Its id, as in the list of lasting approvals. */
    readonly id: string;
    /** The calls that it covers, in words. */
    readonly covers: string;
  };
}

/** The facts about a change at the start of its record. */
export interface RecordHeader {
  readonly callId: string;
  readonly tool: string;
  /** The time of the change, in milliseconds since 1970, UTC. */
  readonly time: number;
  /** The working directory, which identifies the history, and the storage when that is not the disk. */
  readonly cwd: string;
  /** The id of the storage of the paths; absent for the local disk. */
  readonly storage?: string;
  /** True when the change is atomic, even with one step. */
  readonly atomic?: true;
  /** The name of the agent that made the change, if it has one. */
  readonly agent?: string;
  /** The id of the call that this change undoes. */
  readonly undoOf?: string;
  /** The name of the place in the history, for a record that is no change but a mark. */
  readonly mark?: string;
  /** True when the change was made without a question, and is unreviewed until a record of {@link keeps} names it. */
  readonly unreviewed?: true;
  /** The changes that were reviewed and are kept, for a record that is no change but says this. */
  readonly keeps?: readonly string[];
  /** The person who keeps them, or for whom the host made the change, if known. */
  readonly by?: string;
  /**
   * The reasons why the change was allowed: several for a batch whose operations were allowed in several ways. Absent
   * where the workspace neither asks nor reviews, and in records of older versions.
   */
  readonly allowedBy?: readonly AllowedBy[];
  /** The changes of which nothing is left after this one, for a rewind. */
  readonly undoes?: readonly string[];
}

/** The state of each touched path when the change was complete. */
export type FinalStates = readonly (readonly [path: string, image: PreImage | null])[];

/**
 * One record of a journal: in this order, `begin` once, `steps` any number of times, `commit` at
 * the end.
 */
export type RecordEntry =
  | { readonly entry: "begin"; readonly header: RecordHeader }
  | { readonly entry: "steps"; readonly steps: readonly Step[]; readonly notes?: StepNotes }
  | {
      readonly entry: "commit";
      readonly finals: FinalStates;
      readonly undoable: boolean;
      readonly notes?: StepNotes;
      /**
       * The moment of the commit, in milliseconds since 1970 with a fraction: the order of the changes. Absent in
       * records of older versions, for which the time of the header counts.
       */
      readonly at?: number;
      /**
       * The paths of a record that stays in the history although it cannot be undone: a mark or a list of kept
       * changes, which have none, or a change whose steps were not recorded.
       */
      readonly unrecorded?: readonly string[];
    };

/** Returns true for the end of a record that the history keeps. */
export function staysInHistory({
  undoable,
  unrecorded,
}: Pick<RecordEntry & { readonly entry: "commit" }, "undoable" | "unrecorded">): boolean {
  return undoable || unrecorded !== undefined;
}

/** An entry of a record in the form in which a store keeps it. */
export interface EncodedRecordEntry {
  readonly json: string;
  /** The contents. The JSON has their offsets in the concatenated contents. */
  readonly blobs: readonly Uint8Array[];
}

/** Encodes an entry. */
export function toFrame(entry: RecordEntry): EncodedRecordEntry {
  const blobs: Uint8Array[] = [];
  let at = 0;
  // The contents are removed before the JSON is made: a Buffer's own JSON form is a list of all its bytes.
  const stored = (image: PreImage | null): object | null => {
    if (image?.bytes === undefined) return image;
    const { bytes } = image;
    const range = [at, bytes.length];
    blobs.push(bytes);
    at += bytes.length;
    return { ...image, bytes: range };
  };
  const stepOf = (step: Step): object =>
    step.kind === "move"
      ? { ...step, over: stored(step.over) }
      : { ...step, before: stored(step.before), after: stored(step.after) };
  const bare =
    entry.entry === "steps"
      ? { ...entry, steps: entry.steps.map(stepOf) }
      : entry.entry === "commit"
        ? { ...entry, finals: entry.finals.map(([path, image]) => [path, stored(image)]) }
        : entry;
  return { json: JSON.stringify(bare), blobs };
}

/** Decodes an entry; null for invalid JSON. The caller has verified its authenticity. */
export function fromFrame(json: string, blob: Uint8Array): RecordEntry | null {
  try {
    const entry = JSON.parse(json) as RecordEntry | null;
    if (typeof entry !== "object" || entry === null || !RECORD_ENTRY_KINDS.has(entry.entry)) return null;
    if (entry.entry === "steps") {
      for (const step of entry.steps)
        for (const image of step.kind === "move" ? [step.over] : [step.before, step.after])
          restoreBytes(image, blob);
    } else if (entry.entry === "commit") for (const [, image] of entry.finals) restoreBytes(image, blob);
    return entry;
  } catch {
    return null;
  }
}

/** Puts the content into an image, whose JSON has its offset and length instead. */
function restoreBytes(image: PreImage | null, blob: Uint8Array): void {
  if (image?.bytes === undefined) return;
  const [at, length] = image.bytes as unknown as readonly [number, number];
  (image as { bytes: Uint8Array }).bytes = blob.subarray(at, at + length);
}

const RECORD_ENTRY_KINDS: ReadonlySet<unknown> = new Set(["begin", "steps", "commit"]);

/** Returns the steps of a record, and their results. */
export function readSteps(entries: readonly RecordEntry[]): {
  readonly steps: readonly Step[];
  readonly given: ReadonlyMap<number, StepResult>;
} {
  const steps: Step[] = [];
  const given = new Map<number, StepResult>();
  const dropped = new Set<number>();
  for (const entry of entries) {
    if (entry.entry === "begin") continue;
    if (entry.entry === "steps") steps.push(...entry.steps);
    for (const [id, what] of entry.notes?.done ?? []) given.set(id, what);
    for (const id of entry.notes?.dropped ?? []) dropped.add(id);
  }
  return { steps: steps.filter(({ id }) => !dropped.has(id)), given };
}

/** Returns the paths that the steps touch, without duplicates: the first `most` of them, or one more. */
export function pathsOfSteps(
  steps: readonly Step[],
  most: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const paths = new Set<string>();
  for (const step of steps) {
    if (paths.size >= most) break;
    if (step.kind === "move") paths.add(step.from).add(step.to);
    else if (step.scratch !== true) paths.add(step.path);
  }
  return [...paths];
}

/** Returns the facts about an entry as the result of a step. */
export function toStepResult({ version, fileId }: Pick<FsStat, "version" | "fileId">): StepResult {
  return withoutUndefined({ version, fileId });
}

/** Returns the current paths of set-aside entries, after later moves. */
export function* pathsOfAsides(steps: readonly Step[]): Generator<string, void, undefined> {
  if (steps.every(({ aside }) => aside === undefined)) return;
  const moves: (readonly [at: number, step: MoveStep])[] = [];
  for (const [at, step] of steps.entries()) if (step.kind === "move") moves.push([at, step]);
  for (const [at, step] of steps.entries()) {
    if (step.aside === undefined) continue;
    let path = step.aside;
    for (const [when, { from, to }] of moves)
      if (when > at && path.startsWith(`${from}/`)) path = to + path.slice(from.length);
    yield path;
  }
}
