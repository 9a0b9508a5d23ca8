/** Computes the result of `apply_patch` before anything is written: contents, and the list of changes. */
import { equalBytes } from "../../engine/wire/bytes.ts";
import type { Location } from "../../policy/index.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { forEachYielding, STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { CorrectedPatch, PatchedFile } from "../../engine/text/patch.ts";
import type { ApplyPatchData } from "../generated/types.ts";
import type { BaseVersion, Change, Heading, PreviewChange } from "../change/change.ts";
import { writeWarnings } from "../change/make.ts";
import { hashNowOrLater, isTextKind, readWholeFile } from "./contents.ts";
import { findOmissionsOfFile, type Omission, omissionError, omissionWarnings } from "./omission.ts";
import { textFormOf } from "./overwrite.ts";
import {
  type CurrentFile,
  type CurrentState,
  describeChosen,
  type DescribedPatch,
  describePatch,
  type FileChange,
  type FileState,
  type PatchMember,
  type PlannedPatch,
} from "./patch-answer.ts";
import { MAX_SHOWN_RETRY, withRetries } from "./retry.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { DEFAULT_FUZZ } from "./shared.ts";
import { encodeUtf8 } from "./text.ts";
import { type Call, type PathEffect, type Plan, type Proposal, locationError } from "./tool.ts";

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
    const real = await call.fs.realpath(at.path);
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
export async function planPatch(args: PatchRequest, call: Call): Promise<Plan<ApplyPatchData>> {
  const yielder = new Yielder({ signal: call.signal });
  const { members, same } = await readMembers(args, call, yielder);
  const patched = await applyToMembers(args, members, same, call);
  const changes = await fileChangesOf(patched, members, call, yielder);
  const facts = {
    applied: !args.dry_run,
    warnings: args.warnings.length > 0 ? args.warnings : undefined,
  };
  const planned = { changes, patched, members };
  const described = await describePatch(facts, planned, call);
  const warnings = await acceptedOmissions(changes, args, call, yielder);
  if (args.dry_run) return { kind: "settled", answer: { ...described, warnings } };
  const base: { path: string; version: string | null }[] = [];
  await forEachYielding(members.values(), yielder, ({ at, found }) =>
    base.push({ path: at.path, version: found?.version ?? null }),
  );
  return proposePatch({ planned, described, warnings, base }, args, call);
}

/** A planned patch with its answer. */
interface DescribedPlan {
  readonly planned: PlannedPatch;
  readonly described: DescribedPatch;
  readonly warnings: readonly string[];
  readonly base: readonly BaseVersion[];
}

function proposePatch(
  { planned, described, warnings, base }: DescribedPlan,
  args: PatchRequest,
  call: Call,
): Proposal<ApplyPatchData> {
  const places = new Map(planned.changes.map(({ path }, index) => [path, index]));
  const placeOf = ({ path }: Change): number => places.get(path) ?? 0;
  // Removals come last, so that the content of a moved file is on the disk twice for a moment, and never missing.
  const changes = planned.changes.toSorted((a, b) => Number(a.do === "remove") - Number(b.do === "remove"));
  let last = { changes: changes as readonly Change[], described };
  const describe = async (list: readonly Change[]): Promise<DescribedPatch> => {
    if (last.changes !== list)
      last = { changes: list, described: await describeChosen(described, planned, list, call) };
    return last.described;
  };
  return {
    kind: "changes",
    of: "contents",
    changes,
    base,
    reading: {
      order: (list) => list.toSorted((a, b) => placeOf(a) - placeOf(b)),
      async diff(list) {
        const { data, shownDiff } = await describe(list);
        return data.truncated === true ? undefined : shownDiff;
      },
    },
    by: "call",
    about: ({ changes: shown }) => headingOf(args, shown, call),
    async answer(outcomes, made) {
      const yielder = new Yielder({});
      const written = new Map(made.changes.map(({ path }, index) => [path, outcomes[index]!.written]));
      const notes: string[] = [];
      await forEachYielding(written, yielder, ([path, result]) =>
        notes.push(...writeWarnings(result, call.reader.display(path))),
      );
      return { ...(await describe(made.changes)), warnings: [...warnings, ...notes] };
    },
  };
}

/** Returns the title of a patch for a reviewer. */
function headingOf({ names }: PatchRequest, shown: readonly PreviewChange[], { locations }: Call): Heading {
  const location = Math.max(
    locations.findIndex((at) => at.path === shown[0]?.path),
    0,
  );
  const more = shown.length - 1;
  const removes = shown.some(({ kind }) => kind === "delete" || kind === "move");
  return {
    title: `Patch ${names[location]}${more > 0 ? ` and ${more} more` : ""}`,
    location,
    risk: removes ? "medium" : "low",
  };
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

/**
 * Returns true for the patch format that models write (`*** Begin Patch`). Other patches are made by
 * programs, so they are not checked for omissions.
 */
function isModelPatch(patch: string): boolean {
  return /^\s*\*\*\* Begin Patch/u.test(patch);
}

/** Finds added lines, such as `// ... rest of the file`, that stand for lines which the patch removes. */
async function omissionsOfChange(
  change: FileChange,
  { reader: { display }, signal }: Call,
): Promise<readonly Omission[]> {
  const bytes = change.was?.bytes ?? null;
  if (bytes === null || change.do !== "put") return [];
  const form = await textFormOf(bytes, display(change.path), signal);
  if (form === undefined) return [];
  return findOmissionsOfFile({ bytes, encoding: form.encoding }, change.now.bytes, signal);
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
    stat,
    mode: stat.mode === undefined ? undefined : octalOf(stat.mode),
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

/** A file of a patch with its state after it; null where it is removed. */
interface ChangedMember {
  readonly member: PatchMember;
  readonly after: FileState | null;
}

/**
 * Combines the entries of a patch to one change per path: several entries may concern the same file. Paths
 * that end up unchanged are left out.
 */
async function fileChangesOf(
  patched: readonly PatchedFile[],
  members: ReadonlyMap<string, PatchMember>,
  call: Call,
  yielder: Yielder,
): Promise<readonly FileChange[]> {
  const changed = await changedMembers(patched, members, yielder);
  const sources = await movedMembers(changed, patched, members, yielder);
  const moved = new Set(sources.values());
  let isQuoted = true;
  await forEachYielding(patched, yielder, ({ hunks }) => {
    isQuoted &&= hunks.every(({ how }) => how === "exact");
  });
  const changes: FileChange[] = [];
  await forEachYielding(changed, yielder, ({ member, after }) => {
    const { at, found } = member;
    const of = { path: at.path, name: call.reader.display(at.path) };
    if (after === null) {
      const was = beforeOf(found as CurrentFile);
      changes.push({ ...of, do: "remove", type: "file", tree: false, was, isMoved: moved.has(member) });
      return;
    }
    const source = sources.get(member);
    changes.push({
      ...of,
      do: "put",
      target: at.path,
      was: found && beforeOf(found),
      // Without the signal: a plan that is not made leaves the hash alone, and its error.
      now: { ...after, hash: hashNowOrLater(after.bytes, undefined), diff: undefined },
      from: source === undefined ? null : { ...beforeOf(source.found as CurrentFile), path: source.at.path },
      parents: found === null,
      mayReplace: true,
      needs: isQuoted ? "quoted" : "lines",
    });
  });
  return changes;
}

function beforeOf({ bytes, version, mode, stat }: CurrentFile): CurrentState {
  return { bytes, version, mode, stat };
}

/** Returns the files that a patch changes, in its order. */
async function changedMembers(
  patched: readonly PatchedFile[],
  members: ReadonlyMap<string, PatchMember>,
  yielder: Yielder,
): Promise<readonly ChangedMember[]> {
  const states = new Map<string, FileState | null>();
  const now = (name: string): FileState | null =>
    states.has(name) ? (states.get(name) ?? null) : (members.get(name)?.found ?? null);
  await forEachYielding(patched, yielder, ({ path, from, operation, bytes, mode }) => {
    // A copy gets the mode of its source before the patch, like its bytes; the patch may change the source,
    // too.
    const copied = operation === "copy" && from !== null ? members.get(from)?.found : undefined;
    const source = copied ?? now(from ?? path);
    if (operation === "rename" && from !== null) states.set(from, null);
    states.set(path, bytes === null ? null : { bytes, mode: modeAfterPatch(source?.mode, mode) });
  });
  const changed: ChangedMember[] = [];
  for (const [name, after] of states) {
    await yielder.yieldIfDue();
    const member = members.get(name) as PatchMember;
    const { found } = member;
    const isSame = after !== null && found !== null && equalBytes(after.bytes, found.bytes);
    if ((after === null && found === null) || (isSame && after.mode === found.mode)) continue;
    changed.push({ member, after });
  }
  return changed;
}

/** Returns the files that a patch moves, each by the one that it becomes. */
async function movedMembers(
  changed: readonly ChangedMember[],
  patched: readonly PatchedFile[],
  members: ReadonlyMap<string, PatchMember>,
  yielder: Yielder,
): Promise<ReadonlyMap<PatchMember, PatchMember>> {
  const written = new Set<PatchMember>();
  const removed = new Set<PatchMember>();
  await forEachYielding(changed, yielder, ({ member, after }) =>
    (after === null ? removed : written).add(member),
  );
  const sources = new Map<PatchMember, PatchMember>();
  await forEachYielding(patched, yielder, ({ operation, path, from }) => {
    const [to, source] = [members.get(path), from === null ? undefined : members.get(from)];
    if (operation !== "rename" || to === undefined || source === undefined) return;
    if (written.has(to) && removed.has(source)) sources.set(to, source);
  });
  return sources;
}

/** Returns permission bits in octal. */
function octalOf(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/**
 * Returns the permission bits of a file after the patch. Git knows only executable or not; `wanted` is its
 * mode, null when the patch does not set it.
 */
function modeAfterPatch(before: string | undefined, wanted: number | null): string | undefined {
  if (wanted === null) return before;
  const executable = (wanted & 0o111) !== 0;
  if (before === undefined) return executable ? "0755" : undefined;
  const has = Number.parseInt(before, 8);
  return octalOf(executable ? has | ((has & 0o444) >> 2) : has & ~0o111);
}
