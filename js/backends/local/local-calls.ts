/** Helpers around the native calls of a local backend: error paths, flags, results. */
import { withPathsOf } from "../windows-paths.ts";
import { asEngineCall } from "../../engine/threads.ts";
import { FilewrightError, fromEngine, makeError } from "../../engine/errors.ts";
import {
  CHANGE_FLAGS,
  DURABILITY_WORDS,
  decodeEntryStat,
  decodeMadeList,
  decodeTreeCounts,
  decodeWrittenFile,
  type ListedStep,
} from "../../engine/generated/records.ts";
import type * as addon from "../../engine/generated/binding.ts";
import type { CancelToken, NativeRoots } from "../../engine/generated/binding.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { type Packed, Unpacker } from "../../engine/wire/unpack.ts";
import type { DeleteOptions, FsEntry, TreeCounts, VersionedBytes, WriteResult } from "../backend.ts";
import { backendError, checkMode, checkSignal } from "../failure.ts";
import type {
  KernelEnforcement,
  LocalCapabilities,
  LocalOptions,
  LocalTransferOptions,
  LocalWriteOptions,
} from "./local-options.ts";
import { decodeListing, fileIdOf, toFsStat } from "./local-unpack.ts";
import { checkPath, nameOf, normalise } from "../paths.ts";
import type { CommitRecorded, ListedChange } from "../transaction/recorded-list.ts";

/** Returns true when a text can be a path. */
export function isPath(path: string): boolean {
  try {
    checkPath(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns an error of the engine with the path that the caller gave. */
export function errorAt(path: string, thrown: unknown): FilewrightError {
  const { code, message, hint, details, cause } = fromEngine(thrown);
  return makeError(code, message, { path, hint, details, cause });
}

/** Awaits a native call. Its error names the path that the caller gave. */
export function withPathInRejection<T>(path: string, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    throw errorAt(path, error);
  });
}

/** Error codes of a move or copy that are about the target. */
const TARGET_ERROR_CODES: ReadonlySet<string> = new Set(["ALREADY_EXISTS", "NOT_EMPTY", "NO_SPACE"]);

/** Awaits a move or copy; its error names the target where the target is the cause. */
function withTargetInError<T>(to: string, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    throw error instanceof FilewrightError && TARGET_ERROR_CODES.has(error.code) ? errorAt(to, error) : error;
  });
}

/** Decodes the result of a write. */
export function decodeWriteResult(packed: Packed): WriteResult {
  return writtenFile(decodeWrittenFile(new Unpacker(packed)));
}

/** Returns the result of a write from the facts of the engine: empty for a step that leaves no file. */
function writtenFile({ version, otherNames, inPlace }: ListedStep): WriteResult {
  if (version === null) return {};
  const made = writeResultOf(version);
  if (otherNames === 0 && !inPlace) return made;
  return Object.freeze({
    ...made,
    ...(inPlace ? { inPlace } : {}),
    ...(otherNames > 0 ? { otherNames } : {}),
  });
}

/** The content of a file as the addon gives it. */
type NativeContent = Packed & { readonly bytes?: Uint8Array | null | undefined };

/** Decodes the result of a read; null where the file still has the version that the caller knows. */
export function decodeRead(content: NativeContent, path: string): VersionedBytes | null {
  return content.bytes === undefined || content.bytes === null ? null : decodeContent(content, path);
}

/** Decodes the content of a file. */
export function decodeContent(content: NativeContent, path: string): VersionedBytes {
  const stat = toFsStat(decodeEntryStat(new Unpacker(content)), path);
  return Object.freeze({ bytes: content.bytes as Uint8Array, version: stat.version as string, stat });
}

/** Returns the result of a write, copy or move for the version of its file. */
export function writeResultOf(version: string): WriteResult {
  return Object.freeze({ version, fileId: fileIdOf(version) });
}

/** Encodes the flags of a move or copy. */
function transferFlags(options: LocalTransferOptions, backend: LocalOptions): number {
  return (
    (options.overwrite === true ? CHANGE_FLAGS.overwrite : 0) |
    (options.createDirs === true ? CHANGE_FLAGS.createDirs : 0) |
    (backend.preserve === "strict" ? CHANGE_FLAGS.strict : 0)
  );
}

/** Decodes the counts of an operation on a tree. */
export function decodeTreeResult(packed: Packed): TreeCounts {
  return Object.freeze(decodeTreeCounts(new Unpacker(packed)));
}

/** Returns the native number of a durability. */
export function nativeDurability(call: Pick<LocalOptions, "durability">, backend: LocalOptions): number {
  return DURABILITY_WORDS.indexOf(call.durability ?? backend.durability ?? "atomic");
}

/** The options of a write in the form the binding takes. */
export interface NativeWriteOptions {
  readonly ifVersion: string | undefined;
  readonly flags: number;
  readonly mode: number;
  readonly durability: number;
}

/** Converts the options of a write for the binding. @throws INVALID_ARGUMENT for an invalid mode */
export function nativeWriteOptions(
  path: string,
  options: LocalWriteOptions,
  backend: LocalOptions,
): NativeWriteOptions {
  const { ifVersion, ifAbsent, createDirs, append, mode } = options;
  if (mode !== undefined) checkMode(path, mode);
  const flags =
    (ifAbsent === true ? CHANGE_FLAGS.ifAbsent : 0) |
    (createDirs === true ? CHANGE_FLAGS.createDirs : 0) |
    (append === true ? CHANGE_FLAGS.append : 0) |
    (backend.preserve === "strict" ? CHANGE_FLAGS.strict : 0);
  return { ifVersion, flags, mode: mode ?? -1, durability: nativeDurability(options, backend) };
}

/** Runs native work that a signal cancels, with `path` in its errors. */
export async function cancellable<T>(
  native: Pick<typeof addon, "CancelToken">,
  path: string,
  signal: AbortSignal | undefined,
  run: (cancel: CancelToken | undefined) => Promise<T>,
): Promise<T> {
  if (signal === undefined) return withPathInRejection(path, run(undefined));
  checkSignal(signal, path);
  const token = new native.CancelToken();
  const cancel = (): void => token.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await withPathInRejection(path, run(token));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/**
 * Returns the name to which a call renames the entry it removes, in the same directory, links
 * followed.
 */
export function asideNameOf({ aside }: Pick<DeleteOptions, "aside">): string | undefined {
  return aside === undefined ? undefined : nameOf(aside);
}

const UNRESTRICTED_POLICY = { cwd: "/", read: null, write: null };

/** Opens the native roots of the options for a disk. @throws FilewrightError of an invalid policy */
export function openRoots(disk: object, native: typeof addon, options: LocalOptions): NativeRoots {
  const given = options.policy === undefined ? UNRESTRICTED_POLICY : withPathsOf(disk, options.policy);
  const kernel = options.policy === undefined ? "off" : (options.kernel ?? "prefer");
  const policy = JSON.stringify({
    ...given,
    resolver: options.resolver ?? "auto",
    kernel,
  });
  return asEngineCall(() => new native.NativeRoots(policy));
}

/**
 * Lists a page of a directory's entries, directories first.
 *
 * @throws FilewrightError INVALID_ARGUMENT for a limit below 1 and for a cursor that no page ended with
 */
export async function listPage(
  roots: NativeRoots,
  path: string,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<{ readonly entries: readonly FsEntry[]; readonly next?: string; readonly total: number }> {
  checkPath(path);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw backendError("INVALID_ARGUMENT", path, "limit must be at least 1");
  if (cursor !== undefined && !/^[df]./su.test(cursor))
    throw backendError("INVALID_ARGUMENT", path, "cursor is not one that was given out");
  const packed = await withPathInRejection(
    path,
    roots.listDir(path, true, limit, cursor?.slice(1), cursor?.startsWith("d") ?? false, undefined),
  );
  const { entries, total, more } = decodeListing(packed, normalise(path).path);
  const last = entries.at(-1);
  const next = more && last !== undefined ? { next: `${last.isDir ? "d" : "f"}${last.name}` } : {};
  return Object.freeze({ entries, total, ...next });
}

/** Returns how the files below native roots are protected. */
export function capabilitiesOf(roots: NativeRoots): LocalCapabilities {
  const [files, landlock, reason] = roots.enforcement().split("\n");
  return Object.freeze({
    ...(JSON.parse(roots.capabilities()) as LocalCapabilities),
    kernel: Object.freeze({
      files: files as KernelEnforcement["files"],
      landlock: Number(landlock),
      ...(reason === "" || reason === undefined ? {} : { reason }),
    }),
  });
}

/** The native call of a move or copy. */
export type NativeTransfer<T> = (
  flags: number,
  durability: number,
  cancel: CancelToken | undefined,
) => Promise<T>;

/** Runs a move or copy; `run` gets its flags, its durability and its cancel token. */
export function runNativeTransfer<T>(
  native: Pick<typeof addon, "CancelToken">,
  [from, to]: readonly [from: string, to: string],
  options: LocalTransferOptions,
  ofBackend: LocalOptions,
  run: NativeTransfer<T>,
): Promise<T> {
  checkPath(from);
  checkPath(to);
  const flags = transferFlags(options, ofBackend);
  const durability = nativeDurability(options, ofBackend);
  const moving = cancellable(native, from, options.signal, (cancel) => run(flags, durability, cancel));
  return withTargetInError(to, moving);
}

/** Returns the function that makes lists of changes on a disk. */
export function recordedListsOf(
  native: Pick<typeof addon, "CancelToken">,
  roots: NativeRoots,
  ofBackend: LocalOptions,
): CommitRecorded {
  return async (list, options, { place, asides, lines, durable, last }) => {
    const [first] = list;
    const path = first?.path ?? "/";
    // A rejection would leave open whether the list was made.
    if (options.signal?.aborted === true)
      return { steps: [], end: { at: 0, error: backendError("CANCELLED", path) } };
    const flags = ofBackend.preserve === "strict" ? CHANGE_FLAGS.strict : 0;
    const contents: Uint8Array[] = [];
    const changes: object[] = [];
    for (const [at, change] of list.entries()) changes.push(nativeChange(change, asides[at], contents));
    const packed = await cancellable(native, path, options.signal, (cancel) =>
      roots.commit(
        ...([JSON.stringify(changes), contents, flags, nativeDurability(options, ofBackend)] as const),
        ...([place.files, place.number, lines.join("\n"), last, durable, cancel] as const),
      ),
    );
    const { moment, steps, missing, error, at } = decodeMadeList(new Unpacker(packed));
    return {
      steps: steps.map(writtenFile),
      end:
        moment !== null
          ? { moment }
          : error === null
            ? { missing }
            : { at, error: errorOfChange(list[at] ?? first, new Error(error)) },
    };
  };
}

/** Returns the error of a change of a list with the path that its own call names. */
function errorOfChange(change: ListedChange | undefined, thrown: unknown): FilewrightError {
  const error = errorAt(change?.path ?? "/", thrown);
  const isTransfer = change?.do === "move" || change?.do === "copy";
  return isTransfer && !TARGET_ERROR_CODES.has(error.code) ? errorAt(change.from, error) : error;
}

/** Returns a change as the binding reads it, and adds the contents of a put to the list of contents. */
function nativeChange(change: ListedChange, aside: string | undefined, contents: Uint8Array[]): object {
  const { do: kind, path } = change;
  checkPath(path);
  const name = aside === undefined ? undefined : nameOf(aside);
  if (kind === "move" || kind === "copy") {
    const { from, version, overwrite, parents } = change;
    checkPath(from);
    return { do: kind, path, from, ifVersion: version, overwrite, parents, aside: name };
  }
  if (kind === "mkdir") return { do: kind, path, parents: change.parents };
  if (kind === "remove") return { do: kind, path, ifVersion: change.version, aside: name };
  const { bytes, was, mode, parents } = change;
  if (mode !== undefined) checkMode(path, mode);
  contents.push(bytes, was?.bytes ?? EMPTY_BYTES);
  return { do: kind, path, ifVersion: was?.version, ifAbsent: was === null, parents, mode, aside: name };
}
