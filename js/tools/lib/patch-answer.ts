/** The answer about a patch: what it did with each file, and its diff, which git and GNU patch can apply. */
import type { FsStat } from "../../backends/backend.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { forEachYielding, STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import { engine } from "../../engine/current.ts";
import type { PatchedFile } from "../../engine/text/patch.ts";
import type { Location } from "../../policy/index.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { Change, Put, Remove } from "../change/change.ts";
import type { ApplyPatchData, PatchOutcome } from "../generated/types.ts";
import { diffContentsAsync } from "../render/preview.ts";
import { maxAnswerBytes } from "./text.ts";
import type { Answer, Call } from "./tool.ts";

/** A patch as it is planned. */
export interface PlannedPatch {
  /** In the order of the patch. */
  readonly changes: readonly FileChange[];
  /** The entries of the patch, from which the changes were computed. */
  readonly patched: readonly PatchedFile[];
  readonly members: ReadonlyMap<string, PatchMember>;
}

/** A change of a patch. */
export type FileChange = Put | (Remove & { readonly was: CurrentState });

/** The data of the answer about a patch, and the diff of it as people and models see it. */
export interface DescribedPatch extends Answer<ApplyPatchData> {
  readonly shownDiff: string;
}

/** The content of a file and its permission bits. */
export interface FileState {
  readonly bytes: Uint8Array;
  readonly mode: string | undefined;
}

/** A file whose content and version are known. */
export interface CurrentState extends FileState {
  readonly version: string;
  readonly stat: FsStat;
}

/** The current state of a file of the patch. */
export interface CurrentFile extends CurrentState {
  /** The encoding of its bytes, when that is not UTF-8. */
  readonly encoding: { readonly name: string; readonly bom: boolean } | null;
  readonly isLink: boolean;
}

/** A file that the patch names, with its location and its current state. */
export interface PatchMember {
  readonly name: string;
  /** The name that diffs show: that of the entry which is used for it. */
  readonly shown: string;
  readonly at: Location;
  readonly found: CurrentFile | null;
}

/** Returns the data of the answer about these changes. */
export async function describePatch(
  facts: Pick<ApplyPatchData, "applied"> & { readonly warnings?: readonly string[] | undefined },
  { changes, patched, members }: PlannedPatch,
  call: Call,
): Promise<DescribedPatch> {
  const yielder = new Yielder({ signal: call.signal });
  if (changes.length > STEPS_PER_YIELD_CHECK) await yielder.yieldNow();
  const sides = await diffSidesOf(changes, patched, members, yielder);
  const { text, shown, truncated } = await diffOfAllFiles(sides, call, yielder);
  const { applied, warnings } = facts;
  const files: PatchOutcome[] = [];
  await forEachYielding(patched, yielder, (file) => files.push(patchOutcomeOf(file, members, call)));
  const data: ApplyPatchData = withoutUndefined({
    applied,
    files,
    diff: text,
    warnings,
    truncated: truncated ? true : undefined,
  });
  return { data, shownDiff: shown };
}

/** Returns the answer about what a reviewer has left of a patch, or made of it. */
export async function describeChosen(
  { data: { applied, warnings } }: DescribedPatch,
  planned: PlannedPatch,
  list: readonly Change[],
  call: Call,
): Promise<DescribedPatch> {
  const byPath = new Map(list.map((change) => [change.path, change as FileChange]));
  const changes = planned.changes.flatMap(({ path }) => byPath.get(path) ?? []);
  const patched = await chosenEntries(planned, byPath);
  return describePatch({ applied, warnings }, { changes, patched, members: planned.members }, call);
}

/** Returns the entries of a patch for the files that are written, with the numbers of lines that change. */
async function chosenEntries(
  { changes, patched, members }: PlannedPatch,
  byPath: ReadonlyMap<string, FileChange>,
): Promise<readonly PatchedFile[]> {
  const plannedByPath = new Map(changes.map((change) => [change.path, change]));
  const counted = new Set<string>();
  const chosen: PatchedFile[] = [];
  for (const file of patched) {
    const path = members.get(file.path)?.at.path ?? "";
    const [planned, change] = [plannedByPath.get(path), byPath.get(path)];
    if (planned !== undefined && change === undefined) continue;
    if (change === planned || change?.do !== "put") {
      chosen.push(file);
      continue;
    }
    // One entry counts for a file that several sections of the patch change.
    if (counted.has(path)) continue;
    counted.add(path);
    const before = (change.from ?? change.was)?.bytes;
    const { added, removed } = await engine().diffAsync(before ?? EMPTY_BYTES, change.now.bytes);
    chosen.push({ ...file, added, removed });
  }
  return chosen;
}

/**
 * Returns the whole change as one diff that git and GNU patch can apply, the same as it is shown, and whether
 * it was truncated.
 */
async function diffOfAllFiles(
  sides: readonly DiffSide[],
  call: Call,
  yielder: Yielder,
): Promise<{ readonly text: string; readonly shown: string; readonly truncated: boolean }> {
  // Once one file has a header in git's format, every file needs one.
  const withHeaders = sides.some(needsGitHeader);
  let [text, shown, truncated] = ["", "", false];
  for (const side of sides) {
    await yielder.yieldIfDue();
    const { oldName, newName, old, now } = side;
    const header = withHeaders ? gitHeader(side) : "";
    const options = {
      signal: call.signal,
      oldName: old === null ? null : oldName,
      newName: now === null ? null : newName,
      limits: { bytes: Math.max(maxAnswerBytes(call.settings.limits) - text.length, 1) },
    };
    const [before, after] = [old?.bytes ?? EMPTY_BYTES, now?.bytes ?? EMPTY_BYTES];
    // `data` contains every byte: other tools could not apply a diff without the CRs of its files.
    const made = await diffContentsAsync(before, after, { ...options, lineEnds: "raw" });
    const hunks = (diff: string): string => (withHeaders && !diff.includes("\n@@ ") ? "" : diff);
    text += header + hunks(made.text);
    const isSame = !made.text.includes("\r");
    shown += header + hunks(isSame ? made.text : (await diffContentsAsync(before, after, options)).text);
    truncated ||= made.truncated;
  }
  return { text, shown, truncated };
}

/** Returns the two sides of each file that the diff of a patch shows. */
async function diffSidesOf(
  changes: readonly FileChange[],
  patched: readonly PatchedFile[],
  members: ReadonlyMap<string, PatchMember>,
  yielder: Yielder,
): Promise<readonly DiffSide[]> {
  const names = new Map<string, string>();
  await forEachYielding(members.values(), yielder, ({ at, name }) => names.set(at.path, name));
  const shownName = (name: string): string => members.get(name)?.shown ?? name;
  const renamed = new Map<string, string | null>();
  await forEachYielding(patched, yielder, ({ path, operation, from }) =>
    renamed.set(path, operation === "rename" ? from : null),
  );
  const gone = new Set(renamed.values());
  const sides: DiffSide[] = [];
  await forEachYielding(changes, yielder, (change) => {
    const name = names.get(change.path) as string;
    const from = renamed.get(name) ?? null;
    const now = change.do === "put" ? change.now : null;
    if (now === null && gone.has(name)) return;
    const old = from === null ? (members.get(name)?.found ?? null) : (members.get(from)?.found ?? null);
    sides.push({ oldName: shownName(from ?? name), newName: shownName(name), old, now });
  });
  return sides;
}

/** One file of a patch, before and after. */
interface DiffSide {
  readonly oldName: string;
  readonly newName: string;
  readonly old: FileState | null;
  readonly now: FileState | null;
}

/** Returns git's mode of a file. */
const gitMode = ({ mode = "0" }: FileState): string =>
  (Number.parseInt(mode, 8) & 0o111) === 0 ? "100644" : "100755";

/**
 * Returns true when hunks cannot describe the change: a different name or mode, or a file that is created or
 * deleted empty.
 */
function needsGitHeader({ oldName, newName, old, now }: DiffSide): boolean {
  if (old === null || now === null) {
    const one = old ?? now;
    return one !== null && (one.bytes.length === 0 || gitMode(one) === "100755");
  }
  return oldName !== newName || gitMode(old) !== gitMode(now);
}

function gitHeader({ oldName, newName, old, now }: DiffSide): string {
  const lines = [`diff --git ${prefixedGitName("a", oldName)} ${prefixedGitName("b", newName)}`];
  if (old !== null && now !== null) {
    if (gitMode(old) !== gitMode(now)) lines.push(`old mode ${gitMode(old)}`, `new mode ${gitMode(now)}`);
    if (oldName !== newName)
      lines.push(`rename from ${prefixedGitName("", oldName)}`, `rename to ${prefixedGitName("", newName)}`);
  } else if (now !== null) {
    lines.push(`new file mode ${gitMode(now)}`);
    // GNU patch needs the hashes to recognise that an empty file is created or deleted.
    if (now.bytes.length === 0) lines.push(`index 0000000..${EMPTY_BLOB_HASH}`);
  } else if (old !== null) {
    lines.push(`deleted file mode ${gitMode(old)}`);
    if (old.bytes.length === 0) lines.push(`index ${EMPTY_BLOB_HASH}..0000000`);
  }
  return `${lines.join("\n")}\n`;
}

/** The first digits of git's hash of an empty file. */
const EMPTY_BLOB_HASH = "e69de29";

/**
 * Returns a name as git writes it in a header, below `prefix`, in quotes if it contains special characters. A
 * name with spaces in a header with two names is quoted, too, because GNU patch could not tell where the
 * first one ends.
 */
function prefixedGitName(prefix: "a" | "b" | "", name: string): string {
  const [line = ""] = engine().diff(ONE_LINE_FEED, EMPTY_BYTES, { oldName: name }).text.split("\n", 1);
  const written = line.slice("--- ".length).replace(/\t$/u, "");
  const start = prefix === "" ? "" : `${prefix}/`;
  if (written.startsWith('"')) return `"${start}${written.slice('"a/'.length)}`;
  const plain = start + written.slice("a/".length);
  return prefix !== "" && plain.includes(" ") ? `"${plain}"` : plain;
}

const ONE_LINE_FEED = new Uint8Array([0x0a]);

const MATCHES_BY_LOOSENESS = ["exact", "whitespace", "fuzzy", "fuzz"] as const;

function loosestOf({ hunks }: PatchedFile): PatchOutcome["matched"] {
  const found = new Set(hunks.map(({ how }) => how));
  return MATCHES_BY_LOOSENESS.findLast((how) => found.has(how)) ?? "exact";
}

function patchOutcomeOf(
  file: PatchedFile,
  members: ReadonlyMap<string, PatchMember>,
  call: Call,
): PatchOutcome {
  const shown = (name: string): string => call.reader.display((members.get(name) as PatchMember).at.path);
  return withoutUndefined({
    path: shown(file.path),
    from: file.from === null ? undefined : shown(file.from),
    operation: file.operation,
    added: file.added,
    removed: file.removed,
    offset: file.offset,
    matched: loosestOf(file),
  });
}
