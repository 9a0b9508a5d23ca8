/** The chain of past commits: what changed since a version, which keys are used, and the history. */
import {
  changePage,
  type ChangePage,
  type LastChange,
  type Past,
  type PastRequest,
  type Version,
} from "filewright/files";
import { withoutUndefined } from "../values.ts";
import { mapParallel } from "./blobs.ts";
import { randomId, sha256, toJsonBytes } from "./codec.ts";
import { damageError } from "./failure.ts";
import type { Keys } from "./keys.ts";
import type { NewObject, Objects } from "./objects.ts";
import { type CommitHead, type CommitLog, FIRST_VERSION, type PastPage, type Root, toLog } from "./root.ts";

/** The number of commits that the root has itself at most, and of those that are moved to a page beyond it. */
const MAX_HEADS = 128;
const MOVED_HEADS = 64;
/** The number of commits since a version beyond which the caller lists again. */
const MAX_LOGS = 1000;
/** The time for which a key is known at least. */
const KEY_MS = 25 * 60 * 60 * 1000;

/** A version that `changes` takes: a commit, and in a page that ended within it the last path. */
const SINCE_FORM = /^([\da-f]{1,40})(?: (\/.*))?$/su;

/** The commits of one workspace. */
export class Commits {
  readonly #keys: Keys;
  readonly #objects: Objects;

  constructor(keys: Keys, objects: Objects) {
    this.#keys = keys;
    this.#objects = objects;
  }

  /** Returns the heads with another one, and the page that has to be stored first when older ones are moved to it. */
  async add(
    root: Root,
    head: CommitHead,
  ): Promise<{ readonly part: Pick<Root, "commits" | "past">; readonly page?: NewObject }> {
    const commits = [...root.commits, head];
    if (commits.length <= MAX_HEADS) return { part: { commits, past: root.past } };
    const moved: PastPage & { id: string } = {
      id: randomId(),
      commits: commits.slice(0, MOVED_HEADS),
      before: root.past,
    };
    const body = toJsonBytes(moved);
    const hex = await sha256(body);
    const page = { key: this.#keys.page(hex), body, hex };
    return { part: { commits: commits.slice(MOVED_HEADS), past: hex }, page };
  }

  /** Yields the heads of past commits, the newest first. */
  async *heads(root: Root, signal: AbortSignal | undefined): AsyncGenerator<CommitHead> {
    yield* root.commits.toReversed();
    for (let hex = root.past; hex !== null; ) {
      const page = (await this.#objects.json(this.#keys.page(hex), hex, signal)) as PastPage | undefined;
      // What a sweep removed is the end of the history.
      if (page === undefined) return;
      yield* page.commits.toReversed();
      hex = page.before;
    }
  }

  /** Returns what a commit changed; undefined when a sweep has removed it. */
  async log(id: string, signal: AbortSignal | undefined): Promise<CommitLog | undefined> {
    return toLog(await this.#objects.json(this.#keys.log(id), undefined, signal));
  }

  /** Returns the commit of this workspace with a key, and the version of the workspace after it. */
  async withKey(
    root: Root,
    key: string,
    now: number,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly log: CommitLog; readonly version: Version } | undefined> {
    let found: CommitHead | undefined;
    for await (const head of this.heads(root, signal)) {
      // A fork does not know the keys of the commits before it.
      if (found === undefined && (head.id === root.origin?.version || head.at < now - KEY_MS))
        return undefined;
      if (found === undefined && head.key !== key) continue;
      found ??= head;
      if (head.count > 0 || head.id === root.origin?.version) return this.#answer(found, head.id, signal);
    }
    return found && this.#answer(found, root.origin?.version ?? FIRST_VERSION, signal);
  }

  async #answer(
    { id }: CommitHead,
    version: Version,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly log: CommitLog; readonly version: Version }> {
    const log = await this.log(id, signal);
    if (log === undefined) throw damageError(this.#keys.log(id), "is missing");
    return { log, version };
  }

  /** Returns the commits after a version, the oldest first; undefined when it is unknown or too long ago. */
  async #since(
    root: Root,
    since: Version,
    signal: AbortSignal | undefined,
  ): Promise<readonly CommitHead[] | undefined> {
    const found: CommitHead[] = [];
    if (since === root.version) return found;
    for await (const head of this.heads(root, signal)) {
      if (head.id === since) return found.reverse();
      if (head.count === 0) continue;
      if (found.length === MAX_LOGS) return undefined;
      found.push(head);
    }
    return since === FIRST_VERSION ? found.reverse() : undefined;
  }

  /** Returns the logs of the commits after a version, the oldest first; undefined when one is not kept any more. */
  async #logsSince(
    root: Root,
    since: Version,
    signal: AbortSignal | undefined,
  ): Promise<readonly (CommitLog & { readonly at: number })[] | undefined> {
    const heads = await this.#since(root, since, signal);
    if (heads === undefined) return undefined;
    const logs = await mapParallel(heads, async ({ id, at }) => {
      const log = await this.log(id, signal);
      return log && { ...log, at };
    });
    return logs.includes(undefined) ? undefined : (logs as (CommitLog & { readonly at: number })[]);
  }

  /** Returns the version of the last commit after `since` that changed such a path; the head for an unknown one. */
  async lastChange(
    root: Root,
    since: Version,
    matches: (path: string) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<Version | undefined> {
    const logs = await this.#logsSince(root, since, signal);
    if (logs === undefined) return root.version;
    return logs.findLast(({ changes }) => changes.some(({ path }) => matches(path)))?.id;
  }

  /** Returns the paths that changed after a version; undefined when that is not known any more. */
  async pathsSince(
    root: Root,
    since: Version,
    signal: AbortSignal | undefined,
  ): Promise<readonly string[] | undefined> {
    const logs = await this.#logsSince(root, since, signal);
    return logs && [...new Set(logs.flatMap(({ changes }) => changes.map(({ path }) => path)))];
  }

  /** Returns a page of what changed after a version. */
  async changes(
    root: Root,
    since: Version | null,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<ChangePage> {
    const head = root.version;
    const [, from, after] = SINCE_FORM.exec(since ?? FIRST_VERSION) ?? [];
    const gap = { head, entries: [], gap: true } as const;
    if (from === undefined) return gap;
    if (limit === 0)
      return (await this.#since(root, from, signal)) === undefined ? gap : { head, entries: [] };
    // A page that ended within a commit goes on in it.
    const partly = after === undefined ? undefined : await this.log(from, signal);
    const logs = await this.#logsSince(root, from, signal);
    if (logs === undefined || (after !== undefined && partly === undefined)) return gap;
    const last = new Map<string, LastChange>();
    const all = partly === undefined ? logs : [{ ...partly, at: 0 }, ...logs];
    for (const [order, { id: version, at, changes }] of all.entries())
      for (const { path, after: now } of changes)
        last.set(path, { order, version, entry: () => now ?? { path, type: "gone", version, mtime: at } });
    return changePage(head, last, limit, after === undefined ? undefined : { order: 0, after });
  }

  /** Returns past commits, the newest first. */
  async history(root: Root, request: PastRequest): Promise<readonly Past[]> {
    const { version, key, agent, before, limit, signal } = request;
    const isNamed = version !== undefined || key !== undefined;
    const detailed: CommitHead[] = [];
    const found: Past[] = [];
    let isBefore = before === undefined;
    for await (const head of this.heads(root, signal)) {
      if (found.length === limit) break;
      const begins = isBefore;
      if (head.id === before) isBefore = true;
      if (!begins || head.count === 0) continue;
      if (version !== undefined && head.id !== version) continue;
      if (key !== undefined && head.key !== key) continue;
      if (agent !== undefined && head.actor?.agent !== agent) continue;
      if (request.changes === true && !isNamed) {
        detailed.push(head);
        if (detailed.length === limit) break;
        continue;
      }
      const log = isNamed ? await this.log(head.id, signal) : undefined;
      // Without what it changed, a commit that was asked for is not there any more.
      if (isNamed && log === undefined) break;
      found.push(toPast(head, log));
      if (isNamed) break;
    }
    // The logs are read at once: one round trip after that of the heads.
    const logs = await mapParallel(detailed, (head) => this.log(head.id, signal));
    for (const [index, head] of detailed.entries())
      if (logs[index] !== undefined) found.push(toPast(head, logs[index]));
    return found;
  }
}

function toPast({ id, at, count, key, actor }: CommitHead, log: CommitLog | undefined): Past {
  return Object.freeze(withoutUndefined({ version: id, at, key, actor, count, changes: log?.changes }));
}
