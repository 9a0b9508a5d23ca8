/**
 * The calls under way on a workspace, so that closing it can cancel those that
 * only read, let those that write finish, and wait for both.
 */

/** How long `close()` waits for calls that do not end, such as on a file system that hangs (milliseconds). */
const MAX_CLOSE_WAIT_MS = 10_000;

/** The calls under way on a workspace, those of its agents included. */
export class RunningCalls {
  /** The ids of the changing calls that ended well: by these a caller without a name knows its own. */
  readonly changes: Set<string> = new Set<string>();
  readonly #parent: RunningCalls | undefined;
  readonly #cancels = new Set<() => void>();
  #idle: (() => void) | undefined;
  #closed = false;

  /** @param parent of an agent: the calls of its workspace, which waits for those of the agent too */
  constructor(parent?: RunningCalls) {
    this.#parent = parent;
  }

  /** Whether no further call may begin. */
  get closed(): boolean {
    return this.#closed || this.#parent?.closed === true;
  }

  /** Notes that a call begins. `cancel` is called when the workspace closes; the result notes the end. */
  begin(cancel: () => void): () => void {
    const endAbove = this.#parent?.begin(cancel);
    // A function of its own, as the same `cancel` may serve several calls.
    const own = (): void => cancel();
    this.#cancels.add(own);
    return () => {
      this.#cancels.delete(own);
      if (this.#cancels.size === 0) this.#idle?.();
      endAbove?.();
    };
  }

  /** Lets no further call begin, cancels those under way and waits until they have ended. */
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
