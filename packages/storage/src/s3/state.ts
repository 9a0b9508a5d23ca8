/**
 * Reads and replaces the root of a workspace: the one object that says which state is the present one. It is not the
 * directory `/`.
 *
 * Changes use optimistic concurrency. A change is planned on the root that this process has cached, and the store
 * replaces the root only if its entity tag is still the same. If another process has replaced it, the change is planned
 * again on the present root. A plan that fails on a cached root is also repeated on the present one, because only an
 * error on the present root says that the change cannot be made.
 */
import { FilewrightError } from "filewright/files";
import { randomId, sha256, toJsonBytes } from "./codec.ts";
import { isUnknown } from "./failure.ts";
import type { Keys } from "./keys.ts";
import { MAX_META_BYTES, type Objects, parseJson } from "./objects.ts";
import { checkRoot, EMPTY_ROOT, type Root } from "./root.ts";

/** The root with the entity tag that the store gave it; null for one that does not exist. */
export interface HeldRoot {
  readonly root: Root;
  readonly etag: string | null;
}

/** A planned change. */
export interface Plan<T> {
  readonly answer: T;
  /** The root after the change. Absent when nothing has to be written. */
  readonly root?: Root;
  /** Stores the objects to which the new root refers. Called before the root is replaced. */
  store?(): Promise<unknown>;
}

/** The number of plans after which a change fails, because another process replaced the root each time. */
const MAX_PLANS = 40;
/** The number of marks in a root. A writer can recognise its own write until this many others have followed. */
const MAX_MARKS = 64;

/** The root of one workspace. */
export class RootState {
  readonly #key: string;
  readonly #objects: Objects;
  /** The cached root, as this process last read or wrote it. */
  #held: HeldRoot | undefined;
  /** Settles when the last queued change of this process has ended. Changes run one after the other. */
  #queueTail: Promise<unknown> = Promise.resolve();

  constructor(keys: Keys, objects: Objects) {
    this.#key = keys.root;
    this.#objects = objects;
  }

  /** Returns the present root. The store sends it only if it is not the cached one. */
  async current(signal?: AbortSignal): Promise<HeldRoot> {
    const held = this.#held;
    const etag = held?.etag;
    const reply = await this.#objects.client.send({
      method: "GET",
      key: this.#key,
      maxBytes: MAX_META_BYTES,
      accept: [304, 404],
      signal,
      ...(typeof etag === "string" ? { headers: { "if-none-match": etag } } : {}),
    });
    if (reply.status === 304 && held !== undefined) return held;
    if (reply.status === 404) return this.#hold({ root: EMPTY_ROOT, etag: null });
    const root = checkRoot(this.#key, parseJson(this.#key, reply.body));
    return this.#hold({ root, etag: reply.headers.get("etag") });
  }

  #hold(held: HeldRoot): HeldRoot {
    this.#held = held;
    return held;
  }

  /**
   * Makes a change after all earlier changes of this process. `plan` is called first with the cached root, and again
   * with the present root until the change is made or has failed on the present root.
   */
  change<T>(plan: (root: Root) => Promise<Plan<T>>, signal: AbortSignal | undefined): Promise<T> {
    const result = this.#queueTail.then(() => this.#change(plan, signal));
    this.#queueTail = result.catch(() => {});
    return result;
  }

  async #change<T>(plan: (root: Root) => Promise<Plan<T>>, signal: AbortSignal | undefined): Promise<T> {
    // All attempts write the same mark. A root that contains it has this change, even if the answer was lost.
    const mark = randomId();
    let isFresh = this.#held === undefined;
    let held = this.#held ?? (await this.current(signal));
    /** The error of the last write whose answer was lost. */
    let lostAnswer: unknown;
    for (let attempt = 1; ; attempt += 1) {
      let planned: Plan<T>;
      try {
        planned = await plan(held.root);
        if (planned.root === undefined && isFresh) return planned.answer;
        if (planned.root !== undefined) await planned.store?.();
      } catch (error) {
        if (isFresh || !(error instanceof FilewrightError)) throw error;
        const present = await this.current(signal);
        if (present.etag === held.etag) throw error;
        held = present;
        isFresh = true;
        continue;
      }
      if (planned.root !== undefined) {
        const result = await this.#replace(planned.root, mark, held.etag, signal);
        if (result === true) return planned.answer;
        if (result !== false) lostAnswer = result;
      }
      try {
        held = await this.current(signal);
      } catch (error) {
        throw lostAnswer ?? error;
      }
      isFresh = true;
      if (held.root.marks.includes(mark)) return planned.answer;
      if (attempt >= MAX_PLANS) throw lostAnswer ?? contentionError();
      if (attempt > 1) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
    }
  }

  /**
   * Replaces the root if it still has this entity tag; with null, if it does not exist. Returns true if it was
   * replaced, false if the condition did not hold, and the error if the answer was lost: then both are possible.
   */
  async #replace(
    next: Root,
    mark: string,
    etag: string | null,
    signal: AbortSignal | undefined,
  ): Promise<boolean | FilewrightError> {
    const root: Root = { ...next, marks: [...next.marks.slice(1 - MAX_MARKS), mark] };
    const body = toJsonBytes(root);
    try {
      const { status, headers } = await this.#objects.client.send({
        method: "PUT",
        key: this.#key,
        body,
        sha256: await sha256(body),
        headers: etag === null ? { "if-none-match": "*" } : { "if-match": etag },
        accept: [404, 409, 412],
        signal,
      });
      // 412 is the answer to a condition that does not hold, and 409 to a concurrent write. Some stores answer 404 to
      // `if-match` when the object does not exist.
      if (status === 404 || status === 409 || status === 412) return false;
      const given = headers.get("etag");
      this.#held = given === null ? undefined : { root, etag: given };
      return true;
    } catch (error) {
      this.#held = undefined;
      // A cancelled call fails at once, without a read that finds out whether its write was made.
      if (isUnknown(error) && (error as FilewrightError).code !== "CANCELLED")
        return error as FilewrightError;
      throw error;
    }
  }

  /** Creates the root of a workspace that does not exist. Returns false when it exists. */
  async create(root: Root, signal: AbortSignal | undefined): Promise<boolean> {
    const mark = randomId();
    const result = await this.#replace(root, mark, null, signal);
    if (result === true) return true;
    const present = await this.current(signal);
    if (present.root.marks.includes(mark)) return true;
    if (result !== false && present.etag === null) throw result;
    return false;
  }
}

/** The error of a change whose root another process has replaced {@link MAX_PLANS} times. */
const contentionError = (): FilewrightError =>
  new FilewrightError("LOCK_TIMEOUT", "other writers of this workspace were always faster", {
    hint: "try again; a workspace in one object is made for few writers",
    details: { outcome: "none" },
  });
