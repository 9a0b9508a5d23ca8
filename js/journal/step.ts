/**
 * One step of a change, as it is recorded before it happens, and its form in
 * storage: JSON, with the contents behind it.
 */
import type { Image } from "./image.ts";

/** One path becomes something else, or one thing goes to another path. */
export type Step =
  | {
      readonly kind: "path";
      readonly path: string;
      readonly before: Image | null;
      /** What it will be. Without hash and version only type and size are known. */
      readonly after: Image | null;
    }
  | {
      readonly kind: "move";
      readonly from: string;
      readonly to: string;
      /** What stood at `to`. */
      readonly over: Image | null;
    };

/** Who changes what. */
export interface Header {
  readonly callId: string;
  readonly tool: string;
  /** Milliseconds since 1970, UTC. */
  readonly time: number;
  /** The working directory: whose history this is. */
  readonly cwd: string;
  /** The agent that made it, where it has a name. */
  readonly agent?: string;
  /** The call that this one undoes. */
  readonly undoOf?: string;
}

/** What stood at each touched path when the change was complete. */
export type Finals = readonly (readonly [path: string, image: Image | null])[];

/** One record of a journal: in this order, `begin` once, `steps` any number of times, `commit` at the end. */
export type Entry =
  | { readonly entry: "begin"; readonly header: Header }
  | { readonly entry: "steps"; readonly steps: readonly Step[] }
  | { readonly entry: "commit"; readonly finals: Finals; readonly undoable: boolean };

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
  const placed = (image: Image | null): object | null => {
    if (image?.bytes === undefined) return image;
    const { bytes } = image;
    const place = [at, bytes.length];
    blobs.push(bytes);
    at += bytes.length;
    return { ...image, bytes: place };
  };
  const stepOf = (step: Step): object =>
    step.kind === "move"
      ? { ...step, over: placed(step.over) }
      : { ...step, before: placed(step.before), after: placed(step.after) };
  const bare =
    entry.entry === "steps"
      ? { ...entry, steps: entry.steps.map(stepOf) }
      : entry.entry === "commit"
        ? { ...entry, finals: entry.finals.map(([path, image]) => [path, placed(image)]) }
        : entry;
  return { json: JSON.stringify(bare), blobs };
}

/** The entry of a stored form; null where it is none. Who calls has made sure that it is authentic. */
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

/** Every path that steps touch, each once. */
export function pathsOf(steps: readonly Step[]): readonly string[] {
  return [...new Set(steps.flatMap((step) => (step.kind === "path" ? [step.path] : [step.from, step.to])))];
}
