/** Computes the result of `apply_patch` before anything is written: contents, their changes, and the answer. */
import { EMPTY_BYTES, equalBytes } from "../../engine/wire/bytes.ts";
import type { Location } from "../../policy/index.ts";
import { lstatOrNull, realpathVia } from "../../backends/fallback/fallback.ts";
import { forEachYielding, STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { CorrectedPatch, PatchedFile } from "../../engine/text/patch.ts";
import type { ApplyPatchData, PatchOutcome } from "../generated/types.ts";
import type { FileChange, FileState } from "./commit.ts";
import { isTextKind, readWholeFile } from "./contents.ts";
import { findOmissionsOfFile, type Omission, omissionError, omissionWarnings } from "./omission.ts";
import { textFormOf } from "./overwrite.ts";
import { diffContentsAsync } from "../render/preview.ts";
import { MAX_SHOWN_RETRY, withRetries } from "./retry.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { encodeUtf8 } from "./text.ts";
import { type Answer, type Call, type PathEffect, type Plan, locationError } from "./tool.ts";
import { maxAnswerBytes } from "./limits.ts";

/** The checked arguments, with the patch's paths. */
export interface PatchRequest {
  readonly patch: string;
  readonly path?: string;
  readonly strip?: number;
  readonly fuzz: number;
  readonly reverse: boolean;
  readonly dry_run: boolean;
  /** Every path that the patch reads or writes, in the order of the call's locations. */
  readonly names: readonly string[];
  /** The paths that are only read. */
  readonly sources: ReadonlySet<string>;
  /** The paths that it creates. */
  readonly created: ReadonlySet<string>;
  /**
   * The absolute paths of existing entries by the missing paths for which they are used, because both look
   * the same (for example in another Unicode form).
   */
  readonly taken?: ReadonlyMap<string, string>;
  /**
   * The calls of other tools to which the patch amounts, by path: rules for deletions, moves and copies apply
   * to them.
   */
  readonly effects: ReadonlyMap<string, readonly PathEffect[]>;
  readonly warnings: readonly string[];
}

/** The planned changes. */
export interface PatchTodo {
  readonly changes: readonly FileChange[];
  /** The previous paths of the moved files, by their new paths. Both are among `changes`. */
  readonly moves: ReadonlyMap<string, string>;
  /** The entries of the patch, from which the changes were computed. */
  readonly patched: readonly PatchedFile[];
  readonly members: ReadonlyMap<string, PatchMember>;
  readonly described: DescribedPatch;
  readonly warnings: readonly string[];
}

/** The data of the answer about a patch, and the diff of it as people and models see it. */
interface DescribedPatch extends Answer<ApplyPatchData> {
  readonly shownDiff: string;
}

/** The current state of a file of the patch. */
interface CurrentFile extends FileState {
  readonly version: string;
  /** The encoding of its bytes, when that is not UTF-8. */
  readonly encoding: { readonly name: string; readonly bom: boolean } | null;
  readonly isLink: boolean;
}

/** A file that the patch names, with its location and its current state. */
interface PatchMember {
  readonly name: string;
  /** The name that diffs show: that of the entry which is used for it. */
  readonly shown: string;
  readonly at: Location;
  readonly found: CurrentFile | null;
}

/** The files that a patch names. */
interface PatchMembers {
  readonly members: ReadonlyMap<string, PatchMember>;
  /** Further names of these files, each with the one under which the file is a member. */
  readonly same: Readonly<Record<string, string>>;
}

/** Reads the files that a patch names. @throws TOO_LARGE for all of them together, NOT_FOUND, and others */
async function readMembers(args: PatchRequest, call: Call, yielder: Yielder): Promise<PatchMembers> {
  const members = new Map<string, PatchMember>();
  const same: Record<string, string> = Object.create(null);
  const byPlace = new Map<string, string>();
  let bytes = 0;
  for (const [index, name] of args.names.entries()) {
    await yielder.yieldIfDue();
    const at = call.locations[index] as Location;
    const real = await realpathVia(call.fs, at.path);
    const other = byPlace.get(real);
    if (other !== undefined) {
      same[name] = other;
      continue;
    }
    byPlace.set(real, name);
    const found = await readCurrentFile(call, at);
    bytes += found?.bytes.length ?? 0;
    if (bytes > call.settings.limits.grepFileBytes) {
      throw locationError("TOO_LARGE", at, {
        details: { size: bytes, limit: call.settings.limits.grepFileBytes },
      });
    }
    const shown = args.taken?.has(name) === true ? call.reader.display(at.path) : name;
    members.set(name, { name, shown, at, found });
  }
  // Hunks alone change an existing file: only a header with /dev/null, or `*** Add File`, creates one.
  const [only] = members.values();
  if (only?.found === null && only.name === args.path && !FILE_HEADER.test(args.patch))
    throw locationError("NOT_FOUND", only.at);
  return { members, same };
}

/** Computes the files after the patch. @throws PATCH_FAILED and the errors of reading */
export async function planPatch(args: PatchRequest, call: Call): Promise<Plan<ApplyPatchData, PatchTodo>> {
  const yielder = new Yielder({ signal: call.signal });
  const { members, same } = await readMembers(args, call, yielder);
  const patched = await applyToMembers(args, members, same, call);
  const changes = await fileChangesOf(patched, members, yielder);
  const facts = {
    applied: !args.dry_run,
    warnings: args.warnings.length > 0 ? args.warnings : undefined,
  };
  const described = await describePatch(facts, { changes, patched, members }, call);
  const warnings = await acceptedOmissions(changes, args, call, yielder);
  const moves = await movesOf(changes, patched, members, yielder);
  const todo = { changes, moves, patched, members, described, warnings };
  const base: { path: string; version: string | null }[] = [];
  await forEachYielding(members.values(), yielder, ({ at, found }) =>
    base.push({ path: at.path, version: found?.version ?? null }),
  );
  if (args.dry_run) return { settled: { ...described, warnings }, todo, base };
  return { todo, base, ...(await changedFilesOf(todo, yielder)) };
}

/** Returns warnings about lines that stand for lines left out. @throws INVALID_ARGUMENT where they are refused */
async function acceptedOmissions(
  changes: readonly FileChange[],
  args: PatchRequest,
  call: Call,
  yielder: Yielder,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const change of changes) {
    await yielder.yieldIfDue();
    const left = await omissionsOfChange(change, call);
    if (left.length > 0 && call.reader.refusesOmissions && isModelPatch(args.patch))
      throw omittedLinesError(change, left);
    for (const warning of omissionWarnings(left))
      warnings.push(`${call.reader.display(change.path)}: ${warning}`);
  }
  return warnings;
}

function omittedLinesError({ path }: FileChange, left: readonly Omission[]): FilewrightError {
  const {
    code,
    message,
    details = {},
  } = omissionError(
    "apply_patch",
    "patch",
    left,
    "Nothing was written: send the lines themselves, and remove only lines that are to go.",
  );
  return new FilewrightError(code, message, { complete: true, path, details });
}

/** Returns the data of the answer about these changes. */
export async function describePatch(
  facts: Pick<ApplyPatchData, "applied"> & { readonly warnings: readonly string[] | undefined },
  { changes, patched, members }: Pick<PatchTodo, "changes" | "patched" | "members">,
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

/** Returns the previous paths of the files that a patch moves, by their new paths. */
async function movesOf(
  changes: readonly FileChange[],
  patched: readonly PatchedFile[],
  members: ReadonlyMap<string, PatchMember>,
  yielder: Yielder,
): Promise<ReadonlyMap<string, string>> {
  const written = new Set<string>();
  const removed = new Set<string>();
  await forEachYielding(changes, yielder, ({ path, after }) =>
    (after === null ? removed : written).add(path),
  );
  const moves = new Map<string, string>();
  await forEachYielding(patched, yielder, ({ operation, path, from }) => {
    const [to, source] = [members.get(path)?.at.path, from === null ? undefined : members.get(from)?.at.path];
    if (operation !== "rename" || to === undefined || source === undefined) return;
    if (written.has(to) && removed.has(source)) moves.set(to, source);
  });
  return moves;
}

/** Returns what a plan tells of the changes of a patch: the files that it replaces, and those that it deletes. */
async function changedFilesOf(
  { changes, patched, moves }: Pick<PatchTodo, "changes" | "patched" | "moves">,
  yielder: Yielder,
): Promise<Required<Pick<Plan<ApplyPatchData, PatchTodo>, "touched" | "deleted">>> {
  let quoted = true;
  await forEachYielding(patched, yielder, ({ hunks }) => {
    quoted &&= hunks.every(({ how }) => how === "exact");
  });
  const moved = new Set(moves.values());
  const touched: { path: string; before: Uint8Array; after: Uint8Array; quoted: boolean }[] = [];
  const deleted: string[] = [];
  await forEachYielding(changes, yielder, ({ path, before, after }) => {
    if (before !== null && after !== null)
      touched.push({ path, before: before.bytes, after: after.bytes, quoted });
    if (after === null && !moved.has(path)) deleted.push(path);
  });
  return { touched, deleted };
}

/**
 * Returns true for the patch format that models write (`*** Begin Patch`). Other patches are made by
 * programs, so they are not checked for omissions.
 */
function isModelPatch(patch: string): boolean {
  return /^\s*\*\*\* Begin Patch/u.test(patch);
}

/** Finds added lines, such as `// ... rest of the file`, that stand for lines which the patch removes. */
async function omissionsOfChange(
  { path, before, after }: FileChange,
  { reader: { display }, signal }: Call,
): Promise<readonly Omission[]> {
  if (before === null || after === null) return [];
  const form = await textFormOf(before.bytes, display(path), signal);
  if (form === undefined) return [];
  return findOmissionsOfFile({ bytes: before.bytes, encoding: form.encoding }, after.bytes, signal);
}

/** Matches a line of a patch that begins a file's section. */
const FILE_HEADER = /^(?:--- |\+\+\+ |\*\*\* |diff |Index:)/mu;

async function readCurrentFile(call: Call, at: Location): Promise<CurrentFile | null> {
  const entry = await lstatOrNull(call.fs, at.path);
  if (entry === null) return null;
  const { bytes, version, stat } = await readWholeFile(call, at, call.settings.limits.grepFileBytes);
  const { kind, encoding, bom } = await engine().reading.inspect(bytes, {
    name: at.path,
    signal: call.signal,
  });
  const foreign = isTextKind(kind) && encoding !== null && !UTF_8_ENCODINGS.has(encoding);
  return {
    bytes,
    version,
    mode: stat.mode,
    encoding: foreign ? { name: encoding, bom } : null,
    isLink: entry.type === "symlink",
  };
}

/** Names of encodings in which every text has the same bytes as in UTF-8. */
const UTF_8_ENCODINGS: ReadonlySet<string> = new Set(["utf-8", "ascii", "us-ascii"]);

async function applyToMembers(
  args: PatchRequest,
  members: ReadonlyMap<string, PatchMember>,
  same: Readonly<Record<string, string>>,
  call: Call,
): Promise<readonly PatchedFile[]> {
  const texts = new Map<string, Uint8Array>();
  for (const { name, at, found } of members.values()) {
    if (found !== null)
      texts.set(name, found.encoding === null ? found.bytes : await toUtf8Bytes(found, at, call));
  }
  const { strip, fuzz, path, reverse } = args;
  try {
    const files = await engine().applyPatchAsync(texts, args.patch, {
      ...{ strip, fuzz, path, reverse, same },
      signal: call.signal,
    });
    const yielder = new Yielder({ signal: call.signal });
    await forEachYielding(files, yielder, (file) => refuseChangesOfLinks(file, members));
    return await encodeAllAsBefore(files, members, call);
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "PATCH_FAILED") throw error;
    const name = error.details?.["path"];
    const about = typeof name === "string" ? args.names.indexOf(same[name] ?? name) : -1;
    const refused = withPatchRetries(error, args);
    throw new FilewrightError(refused.code, refused.message, {
      hint: refused.hint,
      details: refused.details,
      path: call.locations[Math.max(about, 0)]?.path,
    });
  }
}

/** Returns the error with complete calls in place of the engine's patches, and with the patch in its message. */
function withPatchRetries(error: FilewrightError, args: PatchRequest): FilewrightError {
  const { retry, retries } = (error.details ?? {}) as {
    readonly retry?: CorrectedPatch;
    readonly retries?: readonly CorrectedPatch[];
  };
  const all = retry === undefined ? (retries ?? []) : [retry];
  if (all.length === 0) return error;
  const { path, strip, fuzz, dry_run } = args;
  const others = {
    path,
    strip,
    fuzz: fuzz === DEFAULT_FUZZ ? undefined : fuzz,
    dry_run: dry_run ? true : undefined,
  };
  const calls = all.map(({ patch }) => ({
    tool: "apply_patch",
    arguments: withoutUndefined({ patch, ...others }),
  }));
  const text = all
    .map(({ patch }) => `Send this patch instead:\n${patch.trimEnd()}`)
    .join("\nor, for another place:\n");
  return withRetries(error, calls, text.length > MAX_SHOWN_RETRY ? undefined : text);
}

/** The default of the argument `fuzz`. */
export const DEFAULT_FUZZ = 2;

/**
 * Returns the text of a file in UTF-8, because the engine patches UTF-8. @throws ENCODING_ERROR when encoding
 * the text again would not give the same bytes
 */
async function toUtf8Bytes(found: CurrentFile, at: Location, { signal }: Call): Promise<Uint8Array> {
  const { name, bom } = found.encoding as NonNullable<CurrentFile["encoding"]>;
  const { text } = await engine().reading.decodeText(found.bytes, name, { signal });
  const back = await engine().reading.encodeText(text, name, { bom, signal });
  if (!equalBytes(back, found.bytes))
    throw locationError("ENCODING_ERROR", at, { details: { encoding: name } });
  return encodeUtf8(text);
}

async function encodeAllAsBefore(
  files: readonly PatchedFile[],
  members: ReadonlyMap<string, PatchMember>,
  call: Call,
): Promise<readonly PatchedFile[]> {
  const encoded: PatchedFile[] = [];
  const yielder = new Yielder({ signal: call.signal });
  // Decoding the result of many files has taken long.
  if (files.length > STEPS_PER_YIELD_CHECK) await yielder.yieldNow();
  for (const file of files) {
    await yielder.yieldIfDue();
    encoded.push(await encodeAsBefore(file, members, call));
  }
  return encoded;
}

/**
 * Converts the patched text from UTF-8 to the encoding of the file that it was made from. Returns a UTF-8
 * file unchanged.
 */
async function encodeAsBefore(
  file: PatchedFile,
  members: ReadonlyMap<string, PatchMember>,
  { signal }: Call,
): Promise<PatchedFile> {
  const encoding = members.get(file.from ?? file.path)?.found?.encoding ?? null;
  if (encoding === null || file.bytes === null) return file;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(file.bytes);
  const { name, bom } = encoding;
  return { ...file, bytes: await engine().reading.encodeText(text, name, { bom, signal }) };
}

/**
 * Refuses a patch that renames or deletes a symbolic link, because the patch describes the file that the link
 * leads to. A patch that changes content is allowed: it changes that file. @throws PATCH_FAILED
 */
function refuseChangesOfLinks(file: PatchedFile, members: ReadonlyMap<string, PatchMember>): void {
  const gone = file.operation === "delete" ? file.path : file.operation === "rename" ? file.from : null;
  if (gone === null || members.get(gone)?.found?.isLink !== true) return;
  throw new FilewrightError("PATCH_FAILED", `${gone} is a link, which a patch does not remove`, {
    hint: "use delete or move for the link itself",
    details: { path: gone, file: gone, reason: "link" },
  });
}

/**
 * Combines the entries of a patch to one change per path: several entries may concern the same file. Paths
 * that end up unchanged are left out.
 */
async function fileChangesOf(
  patched: readonly PatchedFile[],
  members: ReadonlyMap<string, PatchMember>,
  yielder: Yielder,
): Promise<readonly FileChange[]> {
  const after = new Map<string, FileState | null>();
  const now = (name: string): FileState | null =>
    after.has(name) ? (after.get(name) ?? null) : (members.get(name)?.found ?? null);
  await forEachYielding(patched, yielder, ({ path, from, operation, bytes, mode }) => {
    // A copy gets the mode of its source before the patch, like its bytes; the patch may change the source,
    // too.
    const copied = operation === "copy" && from !== null ? members.get(from)?.found : undefined;
    const source = copied ?? now(from ?? path);
    if (operation === "rename" && from !== null) after.set(from, null);
    after.set(path, bytes === null ? null : { bytes, mode: modeAfterPatch(source?.mode, mode) });
  });
  const changes: FileChange[] = [];
  for (const [name, state] of after) {
    await yielder.yieldIfDue();
    const { at, found } = members.get(name) as PatchMember;
    const same = state !== null && found !== null && equalBytes(state.bytes, found.bytes);
    if ((state === null && found === null) || (same && state.mode === found.mode)) continue;
    changes.push({ path: at.path, before: found, after: state });
  }
  return changes;
}

/**
 * Returns the permission bits of a file after the patch. Git knows only executable or not; `wanted` is its
 * mode, null when the patch does not set it.
 */
function modeAfterPatch(has: number | undefined, wanted: number | null): number | undefined {
  if (wanted === null) return has;
  const executable = (wanted & 0o111) !== 0;
  if (has === undefined) return executable ? 0o755 : undefined;
  return executable ? has | ((has & 0o444) >> 2) : has & ~0o111;
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
  await forEachYielding(changes, yielder, ({ path, before, after }) => {
    const name = names.get(path) as string;
    const from = renamed.get(name) ?? null;
    if (after === null && gone.has(name)) return;
    const old = from === null ? before : (members.get(from)?.found ?? null);
    sides.push({ oldName: shownName(from ?? name), newName: shownName(name), old, now: after });
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
const gitMode = ({ mode }: FileState): string => (((mode ?? 0) & 0o111) === 0 ? "100644" : "100755");

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
