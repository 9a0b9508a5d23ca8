/**
 * Read before write: a file's content is only replaced by an agent that has seen
 * it, as it is now. Content decides, never times: a file that was touched is not
 * a conflict, one that another program rewrote always is.
 */
import type { Location } from "../access/index.ts";
import { readVersioned } from "../backends/fallback.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { statOrNull } from "../tools/contents.ts";
import { type Call, type PathUse, refuse } from "../tools/tool.ts";

/** Tools that put other content in the place of what is there. */
const REPLACING: ReadonlySet<string> = new Set(["write_file", "edit_file", "apply_patch", "copy", "move"]);

/** @throws FilewrightError CONFLICT where a file would be replaced that was not seen, or is another by now */
export async function wantSeen(
  tool: string,
  args: object,
  uses: readonly PathUse[],
  call: Call,
): Promise<void> {
  for (const at of replaced(tool, args, uses, call)) {
    const stat = await statOrNull(call.fs, at.path);
    if (stat === null || !stat.isFile) continue;
    const seen = call.seen.recall(at.path);
    if (seen === undefined) {
      throw refuse("CONFLICT", at, {
        message: "exists and was not read yet",
        hint: "read it first, then repeat the change",
        details: { reason: "not_read" },
      });
    }
    if (seen.version !== undefined && seen.version === stat.version) continue;
    if (seen.hash !== undefined && seen.hash === (await contentHash(call, at.path))) continue;
    throw refuse("CONFLICT", at, {
      message: "changed since it was read",
      details: { reason: "changed_since_read" },
    });
  }
}

/** Whether a failure is the guard's: planning again would not mend it. */
export function isUnseen(error: unknown): boolean {
  const reason = error instanceof FilewrightError ? error.details?.["reason"] : undefined;
  return reason === "not_read" || reason === "changed_since_read";
}

/** What the agent wrote, it has seen: notes what tools do not note themselves. */
export async function noteWritten(
  tool: string,
  args: object,
  uses: readonly PathUse[],
  call: Call,
): Promise<void> {
  for (const { path } of replaced(tool, args, uses, call)) {
    if (call.seen.recall(path)?.hash !== undefined) continue;
    const stat = await statOrNull(call.fs, path);
    if (stat?.isFile === true) call.seen.note(path, stat.version, await contentHash(call, path));
  }
}

/** The files whose content the call replaces. */
function replaced(tool: string, args: object, uses: readonly PathUse[], call: Call): readonly Location[] {
  if (!REPLACING.has(tool) || (args as { readonly append?: unknown }).append === true) return [];
  return call.locations.filter((_, index) => {
    const { argument, intent } = uses[index] as PathUse;
    return intent === "write" && argument !== "source";
  });
}

/** The hash of a file's content now. */
export async function contentHash(
  { fs, signal }: Pick<Call, "fs" | "signal">,
  path: string,
): Promise<string> {
  if (fs.hash !== undefined) return (await fs.hash(path, { signal })).hash;
  const { bytes } = (await readVersioned(fs, path, { signal }))!;
  return engine().sha256(bytes);
}
