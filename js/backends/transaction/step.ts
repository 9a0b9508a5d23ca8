/**
 * The steps of a change as data, as they are recorded before they happen, and their form in storage: JSON, with the
 * contents behind it.
 *
 * A step is intended when it is recorded. It is done once the operation has answered; then the version that the
 * operation gave is known. A step whose operation was refused never happened, and is dropped.
 */
import type { PreImage } from "./pre-image.ts";

/** What becomes of one path. */
export type PathStepKind = "write" | "create" | "delete" | "mkdir" | "symlink" | "chmod";

/** One path becomes something else. */
export interface PathStep {
  /** The number of the step in its transaction. */
  readonly id: number;
  readonly kind: PathStepKind;
  /** The real path. */
  readonly path: string;
  /** The `fileId` of the directory it lies in, where it is known: nothing is put back into another one. */
  readonly parent?: string;
  readonly before: PreImage | null;
  /** What it will be. */
  readonly after: PreImage | null;
  /** Where the old entry is set aside. */
  readonly aside?: string;
  /** Present on a path of ours alone, such as the place where a copy is made before it is moved: rolling back removes it. */
  readonly scratch?: true;
}

/** One entry goes to another path. */
export interface MoveStep {
  readonly id: number;
  readonly kind: "move";
  readonly from: string;
  readonly to: string;
  /** The `fileId` of the two directories; null where it is not known. */
  readonly parents?: readonly [from: string | null, to: string | null];
  /** What is moved. */
  readonly moved: PreImage;
  /** What lies below a directory that is moved, by relative path; absent where that is too much. */
  readonly below?: readonly (readonly [path: string, facts: string])[];
  /** What stood at `to`. */
  readonly over: PreImage | null;
  /** Where that is set aside. */
  readonly aside?: string;
}

/** One step of a change. */
export type Step = PathStep | MoveStep;

type WithoutId<S> = S extends Step ? Omit<S, "id"> : never;
/** A step that has no number yet. */
export type NewStep = WithoutId<Step>;

/** What the operation of a step gave. */
export interface Given {
  readonly version?: string;
  readonly fileId?: string;
}

/** What has become of steps since they were recorded. */
export interface Notes {
  readonly done: readonly (readonly [id: number, given: Given])[];
  /** Those that never happened, or have been rolled back. */
  readonly dropped: readonly number[];
}

/** Who changes what. */
export interface Header {
  readonly callId: string;
  readonly tool: string;
  /** Milliseconds since 1970, UTC. */
  readonly time: number;
  /** Whose history this is: the working directory, and the storage where that is not the disk. */
  readonly cwd: string;
  /** The storage that the paths belong to; absent for the disk. */
  readonly storage?: string;
  /** Whether the change is all or nothing, even where it is one step. */
  readonly atomic?: true;
  /** The agent that made it, where it has a name. */
  readonly agent?: string;
  /** The call that this one undoes. */
  readonly undoOf?: string;
}

/** What stood at each touched path when the change was complete. */
export type Finals = readonly (readonly [path: string, image: PreImage | null])[];

/** One record of a journal: in this order, `begin` once, `steps` any number of times, `commit` at the end. */
export type Entry =
  | { readonly entry: "begin"; readonly header: Header }
  | { readonly entry: "steps"; readonly steps: readonly Step[]; readonly notes?: Notes }
  | { readonly entry: "commit"; readonly finals: Finals; readonly undoable: boolean; readonly notes?: Notes };

/** An entry as a store keeps it. */
export interface Frame {
  readonly json: string;
  /** Contents, one after the other; the JSON says where each is. */
  readonly blobs: readonly Uint8Array[];
}

/** An entry in its stored form. */
export function toFrame(entry: Entry): Frame {
  const blobs: Uint8Array[] = [];
  let at = 0;
  // Contents are taken out first: a Buffer has a JSON form of its own, a list of all its bytes.
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

/** The entry of a stored form; null where it is none. Whoever calls has made sure that it is authentic. */
export function fromFrame(json: string, blob: Uint8Array): Entry | null {
  try {
    const entry = JSON.parse(json, (key, value: unknown) => {
      if (key !== "bytes") return value;
      const [at, length] = value as readonly [number, number];
      return blob.subarray(at, at + length);
    }) as Entry | null;
    return typeof entry === "object" && entry !== null && ENTRIES.has(entry.entry) ? entry : null;
  } catch {
    return null;
  }
}

const ENTRIES: ReadonlySet<unknown> = new Set(["begin", "steps", "commit"]);

/** The steps that a record tells of, and what became of them. */
export function readSteps(entries: readonly Entry[]): {
  readonly steps: readonly Step[];
  readonly given: ReadonlyMap<number, Given>;
} {
  const steps: Step[] = [];
  const given = new Map<number, Given>();
  const dropped = new Set<number>();
  for (const entry of entries) {
    if (entry.entry === "begin") continue;
    if (entry.entry === "steps") steps.push(...entry.steps);
    for (const [id, what] of entry.notes?.done ?? []) given.set(id, what);
    for (const id of entry.notes?.dropped ?? []) dropped.add(id);
  }
  return { steps: steps.filter(({ id }) => !dropped.has(id)), given };
}

/** Every path that steps touch, each once. */
export function pathsOf(steps: readonly Step[]): readonly string[] {
  const paths = steps.flatMap((step) => {
    if (step.kind === "move") return [step.from, step.to];
    return step.scratch === true ? [] : [step.path];
  });
  return [...new Set(paths)];
}
