/** One path that a past call changed, or that a rewind changes, with the contents before and after. */
import type { Files } from "../../backends/files.ts";
import type { EntryType, FsStat } from "../../backends/backend.ts";
import type { PreImage } from "../../backends/transaction/pre-image.ts";
import { storedContentOf } from "../../storage/staged/stored-content.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { type ChangedBytes, type ConfirmedChange, confirmedChange } from "../../hooks/changed-files.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { diffContents, textIfDecodable } from "../../tools/render/preview.ts";

/**
 * A path that a past call changed, or that a rewind changes. Its texts and hunks are computed when they are read for the
 * first time; a text is null also where it is not known.
 */
export interface HistoryChange extends ConfirmedChange {
  /** The kind of change of the entry. */
  readonly kind: "create" | "edit" | "delete" | "move";
  /** `sha256:` of the content before, when it is known. */
  readonly beforeHash?: string;
  /** The unified diff of the texts; empty where one is no text, too large or not known. */
  readonly diff: string;
  /**
   * The contents that are not known: the history keeps what a call replaced, and what it wrote is known while the file,
   * or the next change of it, still has that content. Absent when both are known.
   */
  readonly unknown?: readonly ("before" | "after")[];
}

/** Not enumerable, because nothing that is shown or sent may contain whole files. */
const CONTENTS: unique symbol = Symbol("contents");

/** Returns the contents of a changed file; undefined when one is not known, and for what is no file. */
export function contentsOf(change: HistoryChange): ChangedBytes | undefined {
  return (change as { readonly [CONTENTS]?: ChangedBytes })[CONTENTS];
}

/** One side of a change: the entry and its content; null for no entry. */
export interface ChangeSide {
  readonly type: EntryType;
  readonly mode?: number | undefined;
  readonly hash?: string | undefined;
  /** The content of a file; undefined when it is not known. */
  readonly bytes?: Uint8Array | undefined;
}

/** The largest content of which a diff is computed. */
const MAX_DIFF_BYTES = 16 * 1024 * 1024;

/** Returns the permission bits in octal that a change has set; undefined where they are the same or not known. */
function newModeOf(before: ChangeSide | null, after: ChangeSide | null): string | undefined {
  if (after?.mode === undefined || before?.mode === undefined || after.mode === before.mode) return undefined;
  return after.mode.toString(8).padStart(4, "0");
}

/** Creates a change. `from` is the path from which the entry was moved. */
export function historyChange(
  {
    path,
    display,
    from,
  }: { readonly path: string; readonly display: string; readonly from?: string | undefined },
  before: ChangeSide | null,
  after: ChangeSide | null,
): HistoryChange {
  const kind = from !== undefined ? "move" : before === null ? "create" : after === null ? "delete" : "edit";
  const type = (after ?? before)?.type ?? "file";
  const sides = { before: fileOf(before), after: fileOf(after) };
  const unknown = (["before", "after"] as const).filter(
    (side) => sides[side]?.bytes === undefined && sides[side] !== null,
  );
  const lost = lostOf(kind, unknown);
  const isFile = sides.before !== null || sides.after !== null;
  const bytes: ChangedBytes | undefined =
    isFile && unknown.length === 0
      ? { before: sides.before?.bytes ?? null, after: sides.after?.bytes ?? null }
      : undefined;
  const hashes = { beforeHash: hashOf(sides.before), hash: hashOf(sides.after) };
  const confirmed = confirmedChange(
    {
      path,
      display,
      kind,
      type,
      ...withoutUndefined({ from, hash: hashes.hash, mode: newModeOf(before, after) }),
    },
    bytes,
  );
  const known = {
    ...confirmed,
    ...withoutUndefined({ beforeHash: hashes.beforeHash }),
    diff: diffOf(sides.before, sides.after, display),
    ...withoutUndefined({ unknown: lost.length === 0 ? undefined : Object.freeze(lost) }),
  };
  const lazy = (get: () => unknown): PropertyDescriptor => ({ enumerable: false, get });
  const change = Object.defineProperties(known, {
    [CONTENTS]: { value: bytes },
    before: lazy(() => textOf(sides.before)),
    after: lazy(() => textOf(sides.after)),
    binary: lazy(() => confirmed.binary),
    hunks: lazy(() => confirmed.hunks),
    whole: lazy(() => confirmed.whole),
  });
  return Object.freeze(change) as HistoryChange;
}

/** Returns the contents that are lost. A move changes no content, so it records none of either side. */
function lostOf(
  kind: HistoryChange["kind"],
  unknown: readonly ("before" | "after")[],
): readonly ("before" | "after")[] {
  return kind === "move" && unknown.length === 2 ? [] : unknown;
}

/** Returns the state of an entry as one side of a change. What stands for a stored content is no content. */
export function sideOf(image: PreImage | null): ChangeSide | null {
  if (image === null) return null;
  const { type, mode, hash, bytes } = image;
  const isStored = bytes !== undefined && storedContentOf(bytes) !== undefined;
  return { type, mode, hash, bytes: isStored ? undefined : bytes };
}

/** Returns the present entry of a path as one side of a change, with the content of a file that can be read. */
export async function readSide(fs: Files, path: string, stat: FsStat | null): Promise<ChangeSide | null> {
  if (stat === null) return null;
  const { type, mode } = stat;
  if (type !== "file") return { type, mode };
  try {
    return { type, mode, bytes: await fs.readBytes(path) };
  } catch (error) {
    if (error instanceof FilewrightError) return { type, mode };
    throw error;
  }
}

function fileOf(side: ChangeSide | null): ChangeSide | null {
  return side?.type === "file" ? side : null;
}

function textOf(side: ChangeSide | null): string | null {
  return side?.bytes === undefined ? null : textIfDecodable(side.bytes);
}

function hashOf(side: ChangeSide | null): string | undefined {
  return side?.hash ?? (side?.bytes === undefined ? undefined : engine().sha256(side.bytes));
}

function diffOf(before: ChangeSide | null, after: ChangeSide | null, name: string): string {
  if (before === null && after === null) return "";
  const [old, now] = [
    before === null ? EMPTY_BYTES : before.bytes,
    after === null ? EMPTY_BYTES : after.bytes,
  ];
  if (old === undefined || now === undefined || Math.max(old.length, now.length) > MAX_DIFF_BYTES) return "";
  if (textIfDecodable(old) === null || textIfDecodable(now) === null) return "";
  return diffContents(old, now, { oldName: name }).text;
}
