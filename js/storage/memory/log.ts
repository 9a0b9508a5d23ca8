/** The past commits of a storage in memory: what changed since a version, and the history. */
import type { Changed } from "../../backends/entry.ts";
import { entriesOf } from "../draft.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { Actor, StoredDir, StoredNode, Version } from "../entry.ts";
import { changePage, type LastChange } from "../past.ts";
import type { Past, PastRequest } from "../shared.ts";
import type { ChangePage } from "../storage.ts";
import { nodeAt } from "../../backends/tree/nodes.ts";

interface LoggedCommit {
  readonly number: number;
  readonly at: number;
  readonly key: string | undefined;
  readonly actor: Actor | undefined;
  readonly changes: readonly Changed<StoredNode>[];
}

/** A version that `changes` takes: a commit, and in a page that ended within it the last path. */
const SINCE_FORM = /^(\d{1,15})(?: (\/.*))?$/su;

/** The commits of one storage, numbered without gaps. A fork reads those before it from its origin's log. */
export class CommitLog {
  readonly #keep: number;
  readonly #origin: CommitLog | undefined;
  /** The number of the last commit that the origin holds. */
  readonly #base: number;
  #own: LoggedCommit[] = [];
  #last: number;

  constructor(keep: number, origin?: CommitLog, base = 0) {
    this.#keep = keep;
    this.#origin = origin;
    this.#base = base;
    this.#last = base;
  }

  get head(): Version {
    return String(this.#last);
  }

  get nextVersion(): Version {
    return String(this.#last + 1);
  }

  /** Returns the log of a fork that begins at a version. Nothing is copied. */
  forkedAt(version: Version): CommitLog {
    return new CommitLog(this.#keep, this, Number(version));
  }

  add(commit: Omit<LoggedCommit, "number">): void {
    this.#last++;
    this.#own.push({ ...commit, number: this.#last });
    if (this.#own.length >= 2 * this.#keep) this.#own = this.#own.slice(-this.#keep);
  }

  /** Returns the number before the first commit that is kept without a gap up to the last one. */
  #floor(): number {
    const first = this.#own[0]?.number ?? this.#base + 1;
    if (first > this.#base + 1 || this.#origin === undefined) return first - 1;
    return Math.min(this.#base, this.#origin.#floor());
  }

  /** Yields the commits after a number, up to another one, the oldest first. */
  *#between(after: number, upTo: number): Generator<LoggedCommit> {
    if (after < this.#base && this.#origin !== undefined)
      yield* this.#origin.#between(after, Math.min(upTo, this.#base));
    for (const commit of this.#own) if (commit.number > after && commit.number <= upTo) yield commit;
  }

  changes(since: Version | null, limit: number, root: StoredDir): ChangePage {
    const { head } = this;
    const [, number = "", after] = SINCE_FORM.exec(since ?? "0") ?? [];
    const from = number === "" ? Number.NaN : Number(number);
    const isKnown = from <= this.#last && (after === undefined ? from : from - 1) >= this.#floor();
    if (!isKnown) return { head, entries: [], gap: true };
    if (limit === 0) return { head, entries: [] };
    const last = new Map<string, LastChange>();
    for (const { number: order, at, changes } of this.#between(
      after === undefined ? from : from - 1,
      this.#last,
    ))
      for (const { path } of changes) {
        const version = String(order);
        const gone = { path, type: "gone", version, mtime: at } as const;
        last.set(path, { order, version, entry: () => nodeAt(root, path)?.entry ?? gone });
      }
    return changePage(head, last, limit, after === undefined ? undefined : { order: from, after });
  }

  /** Returns the version of the last commit after `since` that changed such a path; the head for an unknown one. */
  lastChange(since: Version, matches: (path: string) => boolean): Version | undefined {
    const from = /^\d{1,15}$/u.test(since) ? Number(since) : Number.NaN;
    if (!(from <= this.#last && from >= this.#floor())) return this.head;
    let found: number | undefined;
    for (const { number, changes } of this.#between(from, this.#last))
      if (changes.some(({ path }) => matches(path))) found = number;
    return found === undefined ? undefined : String(found);
  }

  /** Returns the paths that commits after `since` changed; undefined where not all of these are kept. */
  pathsSince(since: Version): ReadonlySet<string> | undefined {
    const from = Number(since);
    if (from < this.#floor()) return undefined;
    const found = new Set<string>();
    if (from === this.#last) return found;
    for (const { changes } of this.#between(from, this.#last))
      for (const { path } of changes) found.add(path);
    return found;
  }

  history({ version, key, agent, before, changes, limit }: PastRequest): readonly Past[] {
    const upTo = before === undefined ? this.#last : Number(before) - 1;
    const found: Past[] = [];
    for (const commit of [...this.#between(this.#floor(), upTo)].reverse()) {
      if (found.length === limit) break;
      if (version !== undefined && String(commit.number) !== version) continue;
      if (key !== undefined && commit.key !== key) continue;
      if (agent !== undefined && commit.actor?.agent !== agent) continue;
      found.push(toPast(commit, changes === true || version !== undefined || key !== undefined));
    }
    return found;
  }
}

function toPast({ number, at, key, actor, changes }: LoggedCommit, detailed: boolean): Past {
  const told = { key, actor, count: changes.length, changes: detailed ? entriesOf(changes) : undefined };
  return Object.freeze(withoutUndefined({ version: String(number), at, ...told }));
}
