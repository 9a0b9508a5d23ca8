/**
 * Read before write: content is only replaced or removed by an agent that has seen
 * it, as it is now. Content decides, never times: a file that was touched is not
 * a conflict, one that another program rewrote always is. With `warn` the change is
 * made, and the answer says what was not seen.
 *
 * An edit needs the lines that it changes; whatever replaces or removes a file as a
 * whole, by itself or in a directory, needs all of them.
 */
import type { Location } from "../access/index.ts";
import type { FsStat } from "../backends/backend.ts";
import { lstatOrNull, readVersioned, realpathVia } from "../backends/fallback.ts";
import { walkTree } from "../backends/walk-tree.ts";
import { engine } from "../engine/current.ts";
import type { DiffHunk } from "../engine/diff.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { GuardLevel } from "../presets/index.ts";
import { statOrNull } from "../tools/contents.ts";
import { where } from "../tools/names.ts";
import { afterChange, type LineRange, licenses } from "../tools/line-ranges.ts";
import { escapeControls } from "../engine/escape.ts";
import {
  type Answer,
  type Call,
  type ChangingTool,
  type PathUse,
  type Plan,
  refuse,
  type TouchedFile,
} from "../tools/tool.ts";

/** A change that is looked at. */
export interface Guarded<Args extends object, Data, Todo> {
  readonly tool: Pick<ChangingTool<Args, Data, Todo>, "name" | "apply">;
  readonly args: Args;
  readonly uses: readonly PathUse[];
  readonly call: Call;
}

/** What of a file edited in part is known afterwards: the lines that were seen, moved with the edit. */
type SeenAfter = ReadonlyMap<string, readonly LineRange[]>;

/** Applies a plan; under a guard on what was seen alone, or with a warning, and what was written counts as seen. */
export async function applyGuarded<Args extends object, Data, Todo>(
  level: GuardLevel,
  change: Guarded<Args, Data, Todo>,
  plan: Plan<Data, Todo>,
): Promise<Answer<Data>> {
  const { tool, args, call } = change;
  if (level === "off") return tool.apply(plan, args, call);
  if (level === "refuse") {
    const lines = await assertSeen(change, plan);
    const answer = await tool.apply(plan, args, call);
    await noteWritten(change, lines, true);
    return answer;
  }
  const { lines, warning } = await unseenWarning(change, plan);
  const answer = await tool.apply(plan, args, call);
  await noteWritten(change, lines, false);
  return warning === undefined ? answer : { ...answer, warnings: [...(answer.warnings ?? []), warning] };
}

/** What a change touches that was not seen, in a sentence for its answer. */
async function unseenWarning<Args extends object, Data, Todo>(
  change: Guarded<Args, Data, Todo>,
  plan: Plan<Data, Todo>,
): Promise<{ readonly lines: SeenAfter; readonly warning?: string }> {
  try {
    return { lines: await assertSeen(change, plan) };
  } catch (error) {
    // A warning must not fail a change: what cannot be looked at is said nothing about.
    if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
    const lines = linesWritten(plan);
    return isUnseen(error) ? { lines, warning: warningOf(error, change.call) } : { lines };
  }
}

/** Of files that are changed in part and were not seen, the lines that the change writes. */
function linesWritten({ touched = [] }: Plan<unknown, unknown>): SeenAfter {
  return new Map(touched.map((file) => [file.path, afterChange([], hunksOf(file))]));
}

function warningOf({ path, details = {} }: FilewrightError, { display }: Call): string {
  const inside = details["file"];
  const file = escapeControls(typeof inside === "string" ? inside : display(path ?? ""));
  switch (details["reason"]) {
    case "changed_since_read":
      return `${file} had changed since you read it; read it again`;
    case "partial_read":
      return `${file}: lines that you had not read were changed`;
    default:
      return `${file} was changed without having been read before`;
  }
}

/** @throws FilewrightError CONFLICT where something would be lost that was not seen, or is another by now */
export async function assertSeen<Args extends object, Data, Todo>(
  { tool, args, uses, call }: Guarded<Args, Data, Todo>,
  { touched }: Plan<Data, Todo>,
): Promise<SeenAfter> {
  const after = new Map<string, readonly LineRange[]>();
  const inPart = new Map(touched?.map((one) => [one.path, one]));
  for (const at of writtenBy(tool.name, args, uses, call)) {
    const part = inPart.get(at.path);
    if (part !== undefined) await assertLinesSeen(call, at, part, after);
    else if (touched !== undefined || !PARTIAL.has(tool.name))
      await assertFileSeen(call, at, at.path, { isWhole: isWholeFile(args) });
  }
  const [first, second] = call.locations;
  if (tool.name === "delete" && first !== undefined) {
    if ((await lstatOrNull(call.fs, first.path))?.isDir === true)
      await assertTreeSeen(call, first, first.path, first.path);
    else await assertFileSeen(call, first, first.path, { entry: true });
  }
  if ((tool.name === "copy" || tool.name === "move") && first !== undefined && second !== undefined) {
    const target = await lstatOrNull(call.fs, second.path);
    if (tool.name === "copy" && target?.type === "symlink") await assertReplacedSeen(call, first, second);
    else if (target?.isDir !== true) await assertFileSeen(call, second, second.path, { entry: true });
    else if (tool.name === "copy") await assertTreeSeen(call, second, first.path, second.path);
  }
  return after;
}

/** A file that is copied to a link goes through it: what the link leads to is replaced. */
async function assertReplacedSeen(call: Call, from: Location, to: Location): Promise<void> {
  if ((await statOrNull(call.fs, from.path))?.isFile !== true) return;
  const isNamed = call.seen.recall(to.path) !== undefined;
  await assertFileSeen(call, to, isNamed ? to.path : await realpathVia(call.fs, to.path), {});
}

/** Whether the call says that it knows what it replaces. */
function isWholeFile(args: object): boolean {
  return (args as { readonly whole_file?: unknown }).whole_file === true;
}

/** Tools that change files in part. What a reviewer put in the place of their content is not asked about. */
const PARTIAL: ReadonlySet<string> = new Set(["edit_file", "apply_patch"]);

/** The files whose content a tool writes by itself. */
function writtenBy(tool: string, args: object, uses: readonly PathUse[], call: Call): readonly Location[] {
  if (tool !== "write_file" && !PARTIAL.has(tool)) return [];
  if ((args as { readonly append?: unknown }).append === true) return [];
  return call.locations.filter((_, index) => uses[index]?.intent === "write");
}

/** The files below `to` that stand for those below `from`; with both the same, all files of a tree. */
async function assertTreeSeen(call: Call, at: Location, from: string, to: string): Promise<void> {
  for await (const entry of walkTree(call.fs, from, call.signal)) {
    if (entry.isDir) continue;
    await assertFileSeen(call, at, `${to}${entry.path.slice(from.length)}`, { entry: true });
  }
}

/** How a file is looked at. */
interface FileCheck {
  /** A link is not followed: what it leads to stays. */
  readonly entry?: boolean;
  /** The call says that it gives all of the file, so that what was not read may go. */
  readonly isWhole?: boolean;
}

async function assertFileSeen(
  call: Call,
  at: Location,
  path: string,
  { entry = false, isWhole = false }: FileCheck,
): Promise<void> {
  const stat = await (entry ? lstatOrNull(call.fs, path) : statOrNull(call.fs, path));
  if (stat === null || !stat.isFile || stat.size === 0) return;
  if (isWhole && call.seen.recall(path) === undefined) return;
  const lines = await assertCurrent(call, at, path, stat);
  if (lines !== undefined && !isWhole) throw partial(call, at, path, "only a part of it was read");
}

async function assertLinesSeen(
  call: Call,
  at: Location,
  touched: TouchedFile,
  after: Map<string, readonly LineRange[]>,
): Promise<void> {
  const stat = await statOrNull(call.fs, at.path);
  if (stat === null || !stat.isFile) return;
  const hunks = hunksOf(touched);
  if (call.acceptsQuotes && touched.quoted === true && call.seen.recall(at.path) === undefined) {
    after.set(at.path, afterChange([], hunks));
    return;
  }
  const lines = await assertCurrent(call, at, at.path, stat);
  if (lines === undefined) return;
  if (!licenses(lines, hunks)) throw partial(call, at, at.path, "lines that the edit changes were not read");
  after.set(at.path, afterChange(lines, hunks));
}

function hunksOf({ before, after }: TouchedFile): readonly DiffHunk[] {
  return engine().diff(before, after, { context: 0 }).hunks;
}

/** The lines that were seen of a file as it is now; undefined where all were. @throws FilewrightError CONFLICT */
async function assertCurrent(
  call: Call,
  at: Location,
  path: string,
  stat: FsStat,
): Promise<readonly LineRange[] | undefined> {
  const seen = call.seen.recall(path);
  if (seen === undefined) {
    throw refuse("CONFLICT", at, {
      message: `${named(call, at, path)} and was not read yet`,
      hint: "read it first, then repeat the change",
      details: { reason: "not_read", ...inside(call, at, path) },
    });
  }
  const isSame =
    (seen.version !== undefined && seen.version === stat.version) ||
    (seen.hash !== undefined && seen.hash === (await contentHash(call, path)));
  if (isSame) return seen.lines;
  throw refuse("CONFLICT", at, {
    message:
      path === at.path
        ? "changed since it was read"
        : `${named(call, at, path)} and changed since it was read`,
    details: { reason: "changed_since_read", ...inside(call, at, path) },
  });
}

function named(call: Call, at: Location, path: string): string {
  return path === at.path ? "exists" : `holds '${escapeControls(call.display(path))}', which exists`;
}

function inside(call: Call, at: Location, path: string): { readonly file?: string } {
  return path === at.path ? {} : { file: call.display(path) };
}

function partial(call: Call, at: Location, path: string, why: string): FilewrightError {
  const which = path === at.path ? "" : `holds '${escapeControls(call.display(path))}': `;
  const whole =
    path === at.path ? where(call.names.argument("whole_file"), (name) => `, or set ${name}: true`) : "";
  return refuse("CONFLICT", at, {
    message: `${which}${why}`,
    hint: `read the rest first, then repeat the change${whole}`,
    details: { reason: "partial_read", ...inside(call, at, path) },
  });
}

/** Whether a failure is the guard's: planning again would not mend it. */
export function isUnseen(error: unknown): boolean {
  const reason = error instanceof FilewrightError ? error.details?.["reason"] : undefined;
  return reason === "not_read" || reason === "changed_since_read" || reason === "partial_read";
}

/** What the agent wrote, it has seen; what it moved, it has seen as far as before. `copies`: so are those of a tree. */
async function noteWritten<Args extends object, Data, Todo>(
  { tool, args, uses, call }: Guarded<Args, Data, Todo>,
  lines: SeenAfter,
  copies: boolean,
): Promise<void> {
  const { seen, fs } = call;
  const [first, second] = call.locations;
  if (tool.name === "delete" && first !== undefined) forget(call, first.path);
  if (tool.name === "move" && first !== undefined && second !== undefined) {
    forget(call, second.path);
    for (const path of seen.below(first.path)) {
      const file = seen.recall(path);
      seen.note(path, undefined);
      if (file === undefined) continue;
      seen.note(`${second.path}${path.slice(first.path.length)}`, file.version, file.hash, file.lines);
    }
  }
  if (tool.name === "copy" && second !== undefined) {
    const made = await lstatOrNull(fs, second.path);
    if (made?.isFile === true) await noteFile(call, second.path, undefined);
    else if (copies && made?.isDir === true && first !== undefined)
      await noteCopies(call, first.path, second.path);
  }
  for (const { path } of writtenBy(tool.name, args, uses, call)) {
    const part = lines.get(path);
    const noted = seen.recall(path);
    if (noted?.hash === undefined) await noteFile(call, path, part);
    else if (part !== undefined) {
      // Forgotten first: lines are added to those of the same content, which a tool notes as all of them.
      seen.note(path, undefined);
      seen.note(path, noted.version, noted.hash, part);
    }
  }
}

function forget({ seen }: Call, top: string): void {
  for (const path of seen.below(top)) seen.note(path, undefined);
}

async function noteFile(call: Call, path: string, lines: readonly LineRange[] | undefined): Promise<void> {
  const stat = await statOrNull(call.fs, path);
  call.seen.note(path, undefined);
  if (stat?.isFile === true) call.seen.note(path, stat.version, await contentHash(call, path), lines);
}

/** Copies of a directory are the agent's own work; beyond so many they count as unread. */
const MAX_COPIES = 2000;

async function noteCopies(call: Call, from: string, to: string): Promise<void> {
  let noted = 0;
  for await (const entry of walkTree(call.fs, from, call.signal)) {
    if (entry.type !== "file") continue;
    if (noted === MAX_COPIES) return;
    noted += 1;
    const path = `${to}${entry.path.slice(from.length)}`;
    const made = await lstatOrNull(call.fs, path);
    if (made?.version !== undefined) call.seen.note(path, made.version);
  }
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
