/**
 * Reads and replaces the root of a workspace.
 *
 * A change is planned on the root as this process last saw it, and the store compares: if somebody was faster, it is
 * planned again on the root that is there now. The plan that fails on an old root is tried on the present one before
 * its error counts.
 */
import { FilewrightError } from "../../engine/errors.ts";
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
  /** Stores what the new root names. */
  store?(): Promise<unknown>;
}

/** The number of plans after which a change gives up when others are always faster. */
const MAX_PLANS = 40;
const MAX_MARKS = 64;

/** The root of one workspace. */
export class RootState {
  readonly #key: string;
  readonly #objects: Objects;
  #held: HeldRoot | undefined;
  /** The end of the line of changes of this process, which do not race with each other. */
  #line: Promise<unknown> = Promise.resolve();

  constructor(keys: Keys, objects: Objects) {
    this.#key = keys.root;
    this.#objects = objects;
  }

  /** Returns the present root. */
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

  /** Makes a change, planned on the present root, in its turn. */
  change<T>(plan: (root: Root) => Promise<Plan<T>>, signal: AbortSignal | undefined): Promise<T> {
    const turn = this.#line.then(() => this.#change(plan, signal));
    this.#line = turn.catch(() => {});
    return turn;
  }

  async #change<T>(plan: (root: Root) => Promise<Plan<T>>, signal: AbortSignal | undefined): Promise<T> {
    // One name for all attempts: whichever of them arrived, it is this change.
    const mark = randomId();
    let isFresh = this.#held === undefined;
    let held = this.#held ?? (await this.current(signal));
    let lost: unknown;
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
        lost = result || lost;
      }
      try {
        held = await this.current(signal);
      } catch (error) {
        throw lost ?? error;
      }
      isFresh = true;
      if (held.root.marks.includes(mark)) return planned.answer;
      if (attempt >= MAX_PLANS) throw lost ?? contentionError();
      if (attempt > 1) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
    }
  }

  /** Replaces the root. Returns true, false when the condition did not hold, or the error of a lost answer. */
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
      // An absent object is a condition that does not hold, on some stores with another status.
      if (status === 404 || status === 409 || status === 412) return false;
      const given = headers.get("etag");
      this.#held = given === null ? undefined : { root, etag: given };
      return true;
    } catch (error) {
      this.#held = undefined;
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

/** The error of a change that others were always faster than. */
const contentionError = (): FilewrightError =>
  new FilewrightError("LOCK_TIMEOUT", "other writers of this workspace were always faster", {
    hint: "try again; a workspace in one object is made for few writers",
    details: { outcome: "none" },
  });
