/**
 * Putting content in place, whole or not at all.
 *
 * Two ways, as far as the platform goes: a temporary file that is moved into
 * place (the origin's private files; in a worker written through a synchronous
 * handle), or the browser's own swap file, which takes the place of the old one
 * when it is closed. With the second a new file is there, and empty, a moment
 * before its content is.
 */
import { checkSignal } from "../failure.ts";
import { exclusively, ifFree, patiently } from "./locks.ts";
import { freshTempName } from "./names.ts";

/** What is put where. */
export interface Put {
  readonly parent: FileSystemDirectoryHandle;
  /** As the handle takes it. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether a file is there already. */
  readonly exists: boolean;
  /** Whether files here can be moved by their handle. */
  readonly moves: boolean;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  /** The last look before the content takes its place; throws where it may not. */
  check(): Promise<void>;
}

/** A synchronous handle, which dedicated workers have. */
interface SyncHandle {
  write(bytes: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

interface Handle extends FileSystemFileHandle {
  move?(name: string): Promise<void>;
  move?(parent: FileSystemDirectoryHandle, name: string): Promise<void>;
  createSyncAccessHandle?(): Promise<SyncHandle>;
}

/**
 * How much is written between two looks at the signal, in bytes. Of larger pieces
 * Chromium says, once in five times, that writing was aborted where the quota was used up.
 */
const CHUNK = 256 << 10;

/** What handles can do here: synchronous ones are for dedicated workers alone. */
function can(what: "move" | "createSyncAccessHandle"): boolean {
  return typeof FileSystemFileHandle !== "undefined" && what in FileSystemFileHandle.prototype;
}

/** Whether the handle of a file can move it. */
export function canMove(): boolean {
  return can("move");
}

/** Moves a file, replacing what is there. */
export async function moveFile(
  handle: FileSystemFileHandle,
  parent: FileSystemDirectoryHandle,
  name: string,
  path: string,
): Promise<void> {
  await patiently(undefined, path, async () => (handle as Handle).move?.(parent, name));
}

/** The name under which the living maker of a temporary file is known. */
const lockOf = (temp: string): string => `filewright/temp/${temp}`;

/** Puts content in place. */
export async function put(what: Put): Promise<void> {
  const { parent, name, moves, exists, path, signal } = what;
  const sync = can("createSyncAccessHandle");
  // Where something is there already, the browser's swap does as much in one step less.
  if (moves && canMove() && (sync || !exists)) {
    const temp = freshTempName();
    return exclusively([lockOf(temp)], path, signal, async () => {
      const handle = await parent.getFileHandle(temp, { create: true });
      try {
        await (sync ? writeSync(handle, what) : write(handle, what, async () => {}));
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
    await write(handle, what, what.check);
  } catch (error) {
    // The empty file was made for this.
    if (!exists) await parent.removeEntry(name).catch(() => undefined);
    throw error;
  }
}

/** Writes through a swap file. While it is open no other writer that asks as we do can have one. */
async function write(handle: FileSystemFileHandle, what: Put, check: () => Promise<void>): Promise<void> {
  const { bytes, path, signal } = what;
  // Browsers that know no `mode` pass over it.
  const options = { keepExistingData: false, mode: "exclusive" } as FileSystemCreateWritableOptions;
  const stream = await patiently(signal, path, () => handle.createWritable(options));
  try {
    await check();
    for (let at = 0; at < bytes.length; at += CHUNK) {
      checkSignal(signal, path);
      await stream.write(bytes.subarray(at, at + CHUNK));
    }
    checkSignal(signal, path);
    await stream.close();
  } catch (error) {
    await stream.abort().catch(() => undefined);
    throw error;
  }
}

async function writeSync(handle: Handle, { bytes, path, signal }: Put): Promise<void> {
  const sync = await (handle.createSyncAccessHandle as () => Promise<SyncHandle>)();
  try {
    sync.truncate(0);
    for (let at = 0; at < bytes.length; ) {
      checkSignal(signal, path);
      const wrote = sync.write(bytes.subarray(at, at + CHUNK), { at });
      if (wrote === 0) throw new DOMException("nothing was written", "QuotaExceededError");
      at += wrote;
    }
    sync.flush();
  } finally {
    sync.close();
  }
}

/** Removes a temporary file whose maker is gone. */
export async function removeOrphan(parent: FileSystemDirectoryHandle, temp: string): Promise<void> {
  await ifFree(lockOf(temp), () => parent.removeEntry(temp).catch(() => undefined));
}
