/**
 * The open workspaces of a server, by their names: each is opened at its first request, at most a fixed number is open,
 * and the one that was idle for longest is closed for a new one. A workspace with a running request is never closed.
 */

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
}

/** The limits of {@link OpenWorkspaces}. */
export interface OpenWorkspaceLimits {
  /** The maximum number of open workspaces. */
  readonly workspaces: number;
  /** The maximum number of requests at once in one workspace. */
  readonly requests: number;
}

/** Opens workspaces and closes those that are not used. */
export class OpenWorkspaces<T extends Closable> {
  readonly #limits: OpenWorkspaceLimits;
  /** In the order of their last use, because a map keeps the order in which keys are set. */
  readonly #entries = new Map<string, Entry<T>>();
  readonly #closing = new Set<Promise<void>>();

  constructor(limits: OpenWorkspaceLimits) {
    this.#limits = limits;
  }

  /** Returns the workspace with this key, which `open` opens where it is not open. Rejects as `open` does. */
  async lease(key: string, open: () => Promise<T>): Promise<Lease<T> | LeaseRefusal> {
    const entry = this.#entries.get(key) ?? this.#begin(open);
    if (entry === undefined) return "too many workspaces";
    if (entry.users >= this.#limits.requests) return "too many requests";
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) entry.users -= 1;
      isHeld = false;
    };
    try {
      return { opened: await entry.opening, release };
    } catch (error) {
      release();
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  /** Runs a function for every open workspace. */
  async each(run: (opened: T) => unknown): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ opening }) => opening.then(run, () => undefined)));
  }

  /** Closes all workspaces, and waits for those that are being closed. */
  async close(): Promise<void> {
    for (const { opening } of this.#entries.values()) this.#close(opening);
    this.#entries.clear();
    await Promise.all(this.#closing);
  }

  #begin(open: () => Promise<T>): Entry<T> | undefined {
    if (this.#entries.size >= this.#limits.workspaces && !this.#closeIdle()) return undefined;
    return { opening: open(), users: 0 };
  }

  /** Closes the workspace that was idle for longest. Returns false when there is none. */
  #closeIdle(): boolean {
    for (const [key, { users, opening }] of this.#entries) {
      if (users > 0) continue;
      this.#entries.delete(key);
      this.#close(opening);
      return true;
    }
    return false;
  }

  #close(opening: Promise<T>): void {
    const closing: Promise<void> = opening
      .then((opened) => opened.close())
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
