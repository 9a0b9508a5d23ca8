/**
 * Writes content atomically.
 *
 * Two methods, by the platform: a temporary file that is moved into place (the origin private file
 * system; in a worker written through a synchronous handle), or the browser's own swap file, which
 * replaces the old file when it is closed. With the second a new file exists empty for a moment.
 */
import { checkSignal } from "../failure.ts";
import { withExclusiveLock, tryLock, withRetry } from "./locks.ts";
import { freshTempName } from "./platform.ts";

/** One write: content, target and conditions. */
export interface ContentWrite {
  readonly parent: FileSystemDirectoryHandle;
  /** The name of the file, as handles take it. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True when the file exists already. */
  readonly exists: boolean;
  /** True for a storage in which a file can be moved by its handle; {@link canMove} tells whether the browser can. */
  readonly moves: boolean;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  /** The last check before the content is exchanged. It throws to prevent the write. */
  check(): Promise<void>;
}

/** A synchronous handle, which dedicated workers have. */
interface SyncAccessHandle {
  write(bytes: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

interface WritableFileHandle extends FileSystemFileHandle {
  move?(name: string): Promise<void>;
  move?(parent: FileSystemDirectoryHandle, name: string): Promise<void>;
  createSyncAccessHandle?(): Promise<SyncAccessHandle>;
}

/**
 * The number of bytes that are written between two checks of the signal. Larger writes are divided, because
 * Chromium reports one in five that exceeds the quota as aborted.
 */
const BYTES_PER_WRITE = 256 << 10;

/** Returns true when file handles have a method; synchronous ones exist only in dedicated workers. */
function hasHandleMethod(what: "move" | "createSyncAccessHandle"): boolean {
  return typeof FileSystemFileHandle !== "undefined" && what in FileSystemFileHandle.prototype;
}

/** Returns true when files can be moved by their handles. */
export function canMove(): boolean {
  return hasHandleMethod("move");
}

/**
 * Moves a file to `parent` as `name`, replacing a file there. Only where {@link canMove} is true; otherwise nothing
 * happens.
 */
export async function moveFile(
  handle: FileSystemFileHandle,
  parent: FileSystemDirectoryHandle,
  name: string,
  path: string,
): Promise<void> {
  await withRetry(undefined, path, async () => (handle as WritableFileHandle).move?.(parent, name));
}

/** The lock that the maker of a temporary file holds while it lives. */
const lockNameOf = (temp: string): string => `filewright/temp/${temp}`;

/** Writes content to its target. */
export async function writeContent(what: ContentWrite): Promise<void> {
  const { parent, name, moves, exists, path, signal } = what;
  const sync = hasHandleMethod("createSyncAccessHandle");
  // For an existing target, the browser's swap does the same with one step less.
  if (moves && canMove() && (sync || !exists)) {
    const temp = freshTempName();
    return withExclusiveLock([lockNameOf(temp)], path, signal, async () => {
      const handle = await parent.getFileHandle(temp, { create: true });
      try {
        await (sync ? writeSync(handle, what) : writeBySwapFile(handle, what, async () => {}));
        await what.check();
        await moveFile(handle, parent, name, path);
      } catch (error) {
        await parent.removeEntry(temp).catch(() => undefined);
        throw error;
      }
    });
  }
  const handle = await parent.getFileHandle(name, { create: !exists });
  try {
    await writeBySwapFile(handle, what, what.check);
  } catch (error) {
    // The empty file was created for this write.
    if (!exists) await parent.removeEntry(name).catch(() => undefined);
    throw error;
  }
}

/** Writes through a swap file. While it is open, no other writer of this package can open one. */
async function writeBySwapFile(
  handle: FileSystemFileHandle,
  what: ContentWrite,
  check: () => Promise<void>,
): Promise<void> {
  const { bytes, path, signal } = what;
  // Browsers that do not know `mode` ignore it.
  const options = { keepExistingData: false, mode: "exclusive" } as FileSystemCreateWritableOptions;
  const stream = await withRetry(signal, path, () => handle.createWritable(options));
  try {
    await check();
    for (let at = 0; at < bytes.length; at += BYTES_PER_WRITE) {
      checkSignal(signal, path);
      await stream.write(bytes.subarray(at, at + BYTES_PER_WRITE));
    }
    checkSignal(signal, path);
    await stream.close();
  } catch (error) {
    await stream.abort().catch(() => undefined);
    throw error;
  }
}

async function writeSync(handle: WritableFileHandle, { bytes, path, signal }: ContentWrite): Promise<void> {
  const sync = await (handle.createSyncAccessHandle as () => Promise<SyncAccessHandle>)();
  try {
    sync.truncate(0);
    for (let at = 0; at < bytes.length; ) {
      checkSignal(signal, path);
      const wrote = sync.write(bytes.subarray(at, at + BYTES_PER_WRITE), { at });
      if (wrote === 0) throw new DOMException("nothing was written", "QuotaExceededError");
      at += wrote;
    }
    sync.flush();
  } finally {
    sync.close();
  }
}

/** Removes a temporary file whose maker no longer exists. */
export async function removeOrphan(parent: FileSystemDirectoryHandle, temp: string): Promise<void> {
  await tryLock(lockNameOf(temp), () => parent.removeEntry(temp).catch(() => undefined));
}
