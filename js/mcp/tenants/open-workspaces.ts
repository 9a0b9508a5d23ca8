/**
 * The open workspaces of a server, by their names: each is opened at its first request, at most a fixed number is open,
 * and the one that was idle for longest is closed for a new one. A workspace with a running request is never closed,
 * and one without requests is closed after a while.
 */
import { FilewrightError } from "../../engine/errors.ts";

/** The resources that are open for a workspace. */
export interface Closable {
  close(): Promise<void>;
}

/** A workspace that stays open until it is released. */
export interface Lease<T> {
  readonly opened: T;
  /** A second call does nothing. */
  release(): void;
}

/** The reasons for which a workspace cannot be had now. */
export type LeaseRefusal = "too many workspaces" | "too many requests";

interface Entry<T> {
  readonly opening: Promise<T>;
  users: number;
  /** Closes the workspace when it fires; undefined while there are users. */
  idle?: NodeJS.Timeout | undefined;
}

/** The limits of {@link OpenWorkspaces}. */
export interface OpenWorkspaceLimits {
  /** The maximum number of open workspaces. */
  readonly workspaces: number;
  /** The maximum number of requests at once in one workspace. */
  readonly requests: number;
  /** The maximum time in milliseconds to wait until a workspace is open. */
  readonly openMs: number;
  /** The time in milliseconds after which a workspace without requests is closed; `Infinity` for never. */
  readonly idleMs: number;
}

/** Opens a workspace. The signal is aborted when no request waits for it any more. */
export type OpenWorkspace<T> = (signal: AbortSignal) => Promise<T>;

/** Opens workspaces and closes those that are not used. */
export class OpenWorkspaces<T extends Closable> {
  readonly #limits: OpenWorkspaceLimits;
  /** In the order of their last use, because a map keeps the order in which keys are set. */
  readonly #entries = new Map<string, Entry<T>>();
  readonly #closing = new Set<Promise<void>>();

  constructor(limits: OpenWorkspaceLimits) {
    this.#limits = limits;
  }

  /**
   * Returns the workspace with this key, which `open` opens where it is not open. Rejects as `open` does, and with
   * TIMEOUT where it takes too long; the next request opens the workspace again.
   */
  async lease(key: string, open: OpenWorkspace<T>): Promise<Lease<T> | LeaseRefusal> {
    const entry = this.#entries.get(key) ?? this.#begin(open);
    if (entry === undefined) return "too many workspaces";
    if (entry.users >= this.#limits.requests) return "too many requests";
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    clearTimeout(entry.idle);
    entry.users += 1;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      entry.users -= 1;
      if (entry.users === 0) this.#closeLater(key, entry);
    };
    try {
      return { opened: await entry.opening, release };
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      release();
      throw error;
    }
  }

  /** Runs a function for every open workspace. */
  async each(run: (opened: T) => unknown): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ opening }) => opening.then(run, () => undefined)));
  }

  /** Closes all workspaces, and waits for those that are being closed. */
  async close(): Promise<void> {
    for (const [key, entry] of this.#entries) this.#closeEntry(key, entry);
    await Promise.all(this.#closing);
  }

  #begin(open: OpenWorkspace<T>): Entry<T> | undefined {
    if (this.#entries.size >= this.#limits.workspaces && !this.#closeIdle()) return undefined;
    return { opening: this.#openInTime(open), users: 0 };
  }

  async #openInTime(open: OpenWorkspace<T>): Promise<T> {
    const ending = new AbortController();
    const opening = (async () => open(ending.signal))();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        ending.abort();
        // A workspace that is opened after all has no users.
        opening.then((opened) => opened.close()).catch(() => undefined);
        reject(new FilewrightError("TIMEOUT", "the workspace was not opened in time"));
      }, this.#limits.openMs);
    });
    try {
      return await Promise.race([opening, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the workspace that was idle for longest. Returns false when there is none. */
  #closeIdle(): boolean {
    for (const [key, entry] of this.#entries) {
      if (entry.users > 0) continue;
      this.#closeEntry(key, entry);
      return true;
    }
    return false;
  }

  #closeLater(key: string, entry: Entry<T>): void {
    const { idleMs } = this.#limits;
    if (this.#entries.get(key) !== entry || !Number.isFinite(idleMs)) return;
    entry.idle = setTimeout(() => this.#closeEntry(key, entry), idleMs).unref();
  }

  #closeEntry(key: string, { opening, idle }: Entry<T>): void {
    clearTimeout(idle);
    this.#entries.delete(key);
    const closing: Promise<void> = opening
      .then((opened) => opened.close())
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
