/**
 * The lock by which other processes see that the writer of a record is alive.
 *
 * It is held while a record is open, and a little longer, so that a series of changes takes it once. A process can have
 * hundreds of state directories and each held lock has descriptors, so only a few are held without an open record.
 *
 * Each time the lock is taken the writer gets a new name: another process may just then hold the lock of the former one,
 * to see whether it has left a record.
 */
import { randomBytes } from "node:crypto";

/**
 * Takes a lock between processes, which is released when its holder ends. Returns null when another process holds
 * it.
 */
export type TryLock = (name: string) => { release(): void } | null;

/** The time for which a lock is held after its last record was closed, in milliseconds. */
const IDLE_MS = 250;
/** The maximum number of locks of a process that are held without an open record. */
const MAX_IDLE_LOCKS = 8;

/** The held locks without an open record, the one that was used last at the end. */
const idleLocks = new Set<WriterLock>();
let isReleasePlanned = false;

/** Releases the locks that are without an open record. */
function releaseIdle(): void {
  isReleasePlanned = false;
  for (const lock of [...idleLocks]) lock.release();
}

/** Returns the name of the lock of a writer. */
export const lockNameOfWriter = (writer: string): string => `journal:${writer}`;

/** The lock of the one writer of a journal. */
export class WriterLock {
  readonly #tryLock: TryLock;
  readonly #beforeRelease: () => void;
  #held: { readonly writer: string; release(): void } | undefined;
  #records = 0;

  /** `beforeRelease` is called while the lock is still held. */
  constructor(tryLock: TryLock, beforeRelease: () => void) {
    this.#tryLock = tryLock;
    this.#beforeRelease = beforeRelease;
  }

  /** The name of the writer; undefined while the lock is free. */
  get writer(): string | undefined {
    return this.#held?.writer;
  }

  /** True while a record is open. */
  get isInUse(): boolean {
    return this.#records > 0;
  }

  /** Counts a record. Takes the lock if it is free, and returns the name of the writer; undefined if it cannot be taken. */
  begin(): string | undefined {
    this.#held ??= this.#take();
    if (this.#held === undefined) return undefined;
    idleLocks.delete(this);
    this.#records += 1;
    return this.#held.writer;
  }

  #take(): { readonly writer: string; release(): void } | undefined {
    const writer = randomBytes(8).toString("hex");
    const lock = this.#tryLock(lockNameOfWriter(writer));
    return lock === null ? undefined : { writer, release: () => lock.release() };
  }

  /** Counts a record as closed. */
  end(): void {
    this.#records -= 1;
    if (this.#records > 0) return;
    idleLocks.add(this);
    if (!isReleasePlanned) setTimeout(releaseIdle, IDLE_MS).unref();
    isReleasePlanned = true;
    for (const oldest of idleLocks) {
      if (idleLocks.size <= MAX_IDLE_LOCKS) break;
      oldest.release();
    }
  }

  /** Releases the lock unless a record is open. */
  release(): void {
    if (this.isInUse) return;
    idleLocks.delete(this);
    const held = this.#held;
    if (held === undefined) return;
    this.#beforeRelease();
    this.#held = undefined;
    try {
      held.release();
    } catch {
      // The lock ends with this process, and no later writer has its name.
    }
  }
}
