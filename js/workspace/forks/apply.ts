/**
 * Makes the changes of a planned merge on the files of the parent. A write, or the removal of a file whose version is
 * known, fails with CONFLICT if the file is no longer in the state for which the merge was planned.
 */
import type { FsBackend, WriteOptions } from "../../backends/backend.ts";
import { chmodVia, symlinkVia, writeVia } from "../../backends/fallback/fallback.ts";
import { deleteVia } from "../../backends/fallback/fallback-tree.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import type { Entry, Op, PlannedMerge } from "../../storage/storage.ts";
import { toConflict } from "../../tools/lib/contents.ts";
import type { Call } from "../../tools/lib/tool.ts";

/** Makes the changes in their order. The caller rolls them back when one fails. @throws CONFLICT */
export async function applyOps(
  plan: PlannedMerge,
  { fs, signal, settings: { durability } }: Pick<Call, "fs" | "signal" | "settings">,
): Promise<void> {
  const states = new Map(plan.states.map((state) => [state.path, state]));
  const removed = new Set<string>();
  for (const op of plan.ops) {
    checkAborted(signal);
    const path = op.op === "move" ? op.from : op.path;
    // The entry that must be there now: the planned state of the parent, or nothing once this merge has removed it.
    const expected = removed.has(path) ? null : (states.get(path)?.ours ?? null);
    if (op.op === "remove") {
      await removeEntry(fs, path, expected);
      removed.add(path);
    } else if (op.op === "put" || op.op === "link") {
      const content = await contentOf(plan, op, states.get(path)?.ours?.hash);
      await putFile(fs, op, content, expected, { durability, signal });
    } else await makeEntry(fs, op);
  }
}

/**
 * Returns the content to write; undefined where only the mode differs, so that the content stays. A `link` names a
 * content by its hash: it is that of one of the two sides. `present` is the hash of the file in the parent.
 */
async function contentOf(
  plan: PlannedMerge,
  op: Extract<Op, { op: "put" | "link" }>,
  present: string | undefined,
): Promise<Uint8Array | undefined> {
  if (op.op === "put") return op.body;
  if (present === op.hash) return undefined;
  return (await plan.bodies("theirs", [op.path]))[0] ?? EMPTY_BYTES;
}

async function putFile(
  fs: FsBackend,
  { path, mode }: Extract<Op, { op: "put" | "link" }>,
  content: Uint8Array | undefined,
  expected: Entry | null,
  options: WriteOptions,
): Promise<void> {
  if (content !== undefined) {
    const bits = mode === undefined || fs.chmod === undefined ? {} : { mode };
    const condition: WriteOptions =
      expected?.type === "file"
        ? { ...options, ...bits, ifVersion: expected.version }
        : { ...options, ...bits, ifAbsent: true, createDirs: true };
    try {
      await writeVia(fs, path, content, condition);
    } catch (error) {
      throw toConflict(error, condition, true);
    }
  }
  const isNewMode = mode !== undefined && expected?.type === "file" && expected.mode !== mode;
  if (isNewMode && fs.chmod !== undefined) await chmodVia(fs, path, mode);
}

async function removeEntry(fs: FsBackend, path: string, expected: Entry | null): Promise<void> {
  // A file that the fork removed with its directory was not read. In place of hash and version, its entry has a size
  // and time that were compared when the merge was planned, and that are no condition for a backend.
  const hasVersion = expected?.type === "file" && expected.hash?.startsWith("sha256:") === true;
  try {
    await deleteVia(fs, path, hasVersion ? { ifVersion: expected.version } : {});
  } catch (error) {
    const code = error instanceof FilewrightError ? error.code : undefined;
    if (code !== "NOT_EMPTY" && code !== "NOT_FOUND") throw error;
    throw new FilewrightError("CONFLICT", "changed since it was read", { path });
  }
}

async function makeEntry(fs: FsBackend, op: Exclude<Op, { op: "put" | "link" | "remove" }>): Promise<void> {
  switch (op.op) {
    case "mkdir":
      await fs.mkdir(op.path, { parents: true, existOk: true });
      if (op.mode !== undefined && fs.chmod !== undefined) await chmodVia(fs, op.path, op.mode);
      return;
    case "symlink":
      return symlinkVia(fs, op.target, op.path);
    case "chmod":
      return chmodVia(fs, op.path, op.mode);
    case "move":
      throw new FilewrightError("INTERNAL", "a merge moves nothing");
  }
}
