/**
 * The running calls of a workspace. When it closes, reads are cancelled, writes finish, and it waits
 * for both.
 */

/**
 * The maximum time that `close()` waits for calls that do not end, such as on a hanging file system, in
 * milliseconds.
 */
const MAX_CLOSE_WAIT_MS = 10_000;

/** The running calls of a workspace, including those of its agents. */
export class RunningCalls {
  /** The ids of successful changing calls, by which a caller without a name recognizes its own. */
  readonly changes: Set<string> = new Set<string>();
  readonly #parent: RunningCalls | undefined;
  readonly #cancels = new Set<() => void>();
  #idle: (() => void) | undefined;
  #closed = false;

  /** @param parent for an agent: the calls of its workspace, which also waits for those of the agent */
  constructor(parent?: RunningCalls) {
    this.#parent = parent;
  }

  /** True when no further call may begin. */
  get closed(): boolean {
    return this.#closed || this.#parent?.closed === true;
  }

  /**
   * Records the beginning of a call. `cancel` is called when the workspace closes. Returns the function
   * that records the end.
   */
  begin(cancel: () => void): () => void {
    const endAbove = this.#parent?.begin(cancel);
    // A separate function for each call, because several calls may share one `cancel`.
    const own = (): void => cancel();
    this.#cancels.add(own);
    return () => {
      this.#cancels.delete(own);
      if (this.#cancels.size === 0) this.#idle?.();
      endAbove?.();
    };
  }

  /** Refuses further calls, cancels the running ones and waits until they have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of [...this.#cancels]) cancel();
    if (this.#cancels.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MAX_CLOSE_WAIT_MS);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
