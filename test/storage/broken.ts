/** Storages with one fault each, over the storage in memory, which the contract and the probe must find. */
import type { Committed, CommitOptions, Entry, Op, ReadMany, Storage } from "../../js/storage/index.ts";
import { FilewrightError } from "../../js/engine/errors.ts";

/** A fault, and what must find it. */
interface Broken {
  readonly fault: string;
  readonly broken: (inner: Storage) => Storage;
  /** `details.failed` of the probe; undefined for a fault that the probe does not look for. */
  readonly probe?: string;
  /** The cases of the contract that must fail. */
  readonly cases: readonly string[];
}

type Commit = (ops: readonly Op[], options?: CommitOptions) => Promise<Committed>;

/** Returns a storage whose given methods are others. */
function replacing(inner: Storage, methods: Partial<Storage>): Storage {
  return new Proxy(inner, {
    get(target, name) {
      const value = (methods as Record<PropertyKey, unknown>)[name] ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function withCommit(commit: (inner: Storage) => Commit): Broken["broken"] {
  return (inner) => replacing(inner, { commit: commit(inner) });
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

/** Compares conditions before the commit instead of within it. */
const comparesFirst = withCommit((inner) => async (ops, options = {}) => {
  const { expect = [], ...others } = options;
  // The reference compares, and changes nothing, so the other writer can still come between.
  await inner.commit([], { expect });
  await pause();
  return inner.commit(ops, others);
});

/** Makes the changes of a commit one by one. */
const oneByOne = withCommit((inner) => async (ops, { expect, ...options } = {}) => {
  if (ops.length < 2) return inner.commit(ops, { expect, ...options });
  let answer = await inner.commit([], { expect });
  const entries = new Map<string, Entry>();
  for (const op of ops) {
    answer = await inner.commit([op]);
    for (const entry of answer.entries) entries.set(entry.path, entry);
    await pause();
  }
  return { ...answer, entries: [...entries.values()] };
});

export const BROKEN: readonly Broken[] = [
  {
    fault: "ignores conditions",
    broken: withCommit(
      (inner) =>
        (ops, { expect: _, ...options } = {}) =>
          inner.commit(ops, options),
    ),
    probe: "create",
    cases: [
      "conditions: version, absence and type",
      "races: one of twenty writers on one version wins, and one of twenty creators",
      "races: no increment of a shared number is lost",
    ],
  },
  {
    fault: "loses a condition when two writers race",
    broken: comparesFirst,
    probe: "race",
    cases: [
      "races: one of twenty writers on one version wins, and one of twenty creators",
      "races: of a delete and a write on one version one wins",
      "races: no increment of a shared number is lost",
      "races: of commits that share one of several paths one wins, as a whole",
    ],
  },
  {
    fault: "ignores the condition of a delete",
    broken: withCommit((inner) => (ops, options = {}) => {
      const { expect, ...others } = options;
      return inner.commit(ops, ops.every(({ op }) => op === "remove") ? others : { expect, ...others });
    }),
    probe: "delete",
    cases: ["conditions: a delete and a move with a version of the past change nothing"],
  },
  {
    fault: "tears commits",
    broken: oneByOne,
    probe: "atomic",
    cases: ["commit: no reader sees half of it", "commit: all or nothing"],
  },
  {
    fault: "tears reads",
    broken: (inner) =>
      replacing(inner, {
        async readMany(paths, options): Promise<ReadMany> {
          const results: ReadMany["results"][number][] = [];
          let { version } = await inner.readMany([], options);
          for (const path of paths) {
            const one = await inner.readMany([path], options);
            version = one.version;
            results.push(...one.results);
            await pause();
          }
          return { version, results };
        },
      }),
    cases: ["commit: no reader sees half of it"],
  },
  {
    fault: "repeats a commit with the same key",
    broken: withCommit(
      (inner) =>
        (ops, { key: _, ...options } = {}) =>
          inner.commit(ops, options),
    ),
    cases: [
      "keys: the same key gives the first answer and changes nothing",
      "keys: of ten commits at once with one key one happens",
    ],
  },
  {
    fault: "uses the key of a failed commit up",
    broken: withCommit((inner) => {
      const used = new Set<string>();
      return (ops, options = {}) => {
        const { key } = options;
        if (key !== undefined && used.has(key) && key === "k")
          throw new FilewrightError("ALREADY_EXISTS", "the key was used");
        if (key !== undefined) used.add(key);
        return inner.commit(ops, options);
      };
    }),
    cases: ["keys: a commit that failed does not use its key up"],
  },
  {
    fault: "lets a fenced holder write",
    broken: withCommit(
      (inner) =>
        (ops, { token: _, ...options } = {}) =>
          inner.commit(ops, options),
    ),
    cases: ["fencing: a holder whose time was over cannot write once another has the lock"],
  },
  {
    fault: "leaves the records out of a commit",
    broken: withCommit(
      (inner) =>
        (ops, { records: _, ...options } = {}) =>
          inner.commit(ops, options),
    ),
    cases: ["records: change in the same moment as the files of a commit, or not at all"],
  },
  {
    fault: "gives every content one version",
    broken: (inner) => {
      const same = (entry: Entry): Entry => ({
        ...entry,
        version: entry.type === "file" ? "v" : entry.version,
      });
      return replacing(inner, {
        async commit(ops, { expect = [], ...options } = {}) {
          const { results } = await inner.readMany(expect.map(({ path }) => path));
          const own = expect.map((one, i) => {
            const found = results[i];
            if (!("version" in one) || one.version !== "v" || !found || found instanceof Error) return one;
            return { ...one, version: found.entry.version };
          });
          const answer = await inner.commit(ops, { expect: own, ...options });
          return { ...answer, entries: answer.entries.map(same) };
        },
        async readMany(paths, options) {
          const { version, results } = await inner.readMany(paths, options);
          const shown = results.map((one) =>
            one === null || one instanceof Error ? one : { ...one, entry: same(one.entry) },
          );
          return { version, results: shown };
        },
      });
    },
    probe: "stale",
    cases: ["conditions: version, absence and type"],
  },
  {
    fault: "shares a fork with its parent",
    broken: (inner) => replacing(inner, { fork: async () => inner }),
    cases: ["fork: begins as its parent is, and neither sees the other's changes"],
  },
  {
    fault: "skips an entry at the end of each page",
    broken: (inner) =>
      replacing(inner, {
        async list(request) {
          const page = await inner.list(request);
          if (page.next === undefined) return page;
          const [first] = (await inner.list({ ...request, after: page.next, limit: 1 })).entries;
          return first === undefined ? page : { ...page, next: first.path };
        },
      }),
    cases: ["list: everything below, by the code points of the whole path, in pages"],
  },
];
