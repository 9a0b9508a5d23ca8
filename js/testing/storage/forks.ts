/** Test cases for forks, merges and the history. */
import type { PathConflict } from "../../storage/merged.ts";
import type { Op, PlannedMerge, Storage } from "../../storage/storage.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { casesOf, pathsOf, put, remove, type StorageCase, type StorageContext } from "./case.ts";

async function forkOf(storage: Storage, name: string, at?: string): Promise<Storage> {
  const fork = await storage.fork?.(name, at === undefined ? {} : { at });
  if (fork === undefined) throw new Error("no fork");
  return fork;
}

async function mergeInto({ storage }: StorageContext, fork: Storage, options: object = {}) {
  const merged = await storage.merge?.(fork, options);
  if (merged === undefined) throw new Error("no merge");
  return merged;
}

const kindsOf = (conflicts: readonly PathConflict[]): readonly string[] =>
  conflicts.map(({ path, kind }) => `${kind} ${path}`);

const textOf = (bytes: Uint8Array | null): string | null => bytes && new TextDecoder().decode(bytes);

const TEN_LINES = Array.from({ length: 10 }, (_, i) => `line ${i}\n`);
const textWith = (changes: Readonly<Record<number, string>>): string =>
  TEN_LINES.map((line, i) => changes[i] ?? line).join("");

/** The cases about forks, merges and the history. */
export const forkCases: readonly StorageCase[] = [
  ...casesOf(["fork"], {
    "fork: begins as its parent is, and neither sees the other's changes": async (context) => {
      const { storage, write, text, texts, paths } = context;
      await write({ "/a": "1", "/d/b": "1", "/gone": "1" });
      const fork = await forkOf(storage, "one");
      assertEqual(await paths(fork), ["/a", "/d", "/d/b", "/gone"], "the beginning");
      await fork.commit([put("/a", "fork"), put("/d/new", "fork"), remove("/gone")]);
      await write({ "/d/b": "parent", "/later": "1" });
      assertEqual(await texts("/a", "/d/new", "/gone"), ["1", null, "1"], "the parent");
      assertEqual([await text("/a", fork), await text("/d/b", fork)], ["fork", "1"], "the fork");
      assertEqual(await paths(fork), ["/a", "/d", "/d/b", "/d/new"], "the listing of the fork");
      await assertFails(() => storage.fork?.("one"), "ALREADY_EXISTS", "the same name");
      await fork.close();
    },
    "fork: versions, changes and keys are its own": async ({ storage, write, text, entry }) => {
      await write({ "/a": "1" }, { key: "k" });
      const fork = await forkOf(storage, "own");
      const { head } = await fork.changes(null, { limit: 0 });
      const version = (await entry("/a", fork))?.version ?? null;
      await fork.commit([put("/a", "2")], { key: "k", expect: [{ path: "/a", version }] });
      assertEqual([await text("/a", fork), await text("/a")], ["2", "1"], "the key of the fork");
      assertEqual(pathsOf((await fork.changes(head, { limit: 10 })).entries), ["/a"], "the changes");
    },
    "fork: forkedAt, where it is given, is a version that both sides know": async ({ storage, write }) => {
      await write({ "/a": "1", "/b": "1" });
      const fork = await forkOf(storage, "since");
      const { forkedAt } = fork;
      if (forkedAt === undefined) return;
      await write({ "/c": "parent" });
      await fork.commit([remove("/a"), put("/d", "fork")]);
      const changedIn = async (side: Storage, since = side.forkedAt ?? null): Promise<readonly unknown[]> => {
        const { entries, gap } = await side.changes(since, { limit: 10 });
        return [gap, ...pathsOf(entries)].sort();
      };
      assertEqual(await changedIn(storage, forkedAt), ["/c", undefined], "changes of the parent");
      assertEqual(await changedIn(fork), ["/a", "/d", undefined], "changes of the fork");
      assertEqual(await changedIn(await forkOf(fork, "inner")), [undefined], "changes of a fork of a fork");
    },
  }),
  ...casesOf(["fork", "snapshot"], {
    "fork: of a fork, and of a past state": async ({ storage, write, text, paths }) => {
      await write({ "/a": "1", "/b": "1" });
      const kept = await storage.snapshot?.();
      await write({ "/a": "2" });
      const past = await forkOf(storage, "past", kept?.at);
      assertEqual(await text("/a", past), "1", "the past state");
      const one = await forkOf(storage, "first");
      await one.commit([remove("/b")]);
      const two = await forkOf(one, "second");
      await two.commit([put("/c", "1")]);
      assertEqual([await paths(one), await paths(two)], [["/a"], ["/a", "/c"]], "a fork of a fork");
      assertEqual(await text("/b"), "1", "the first storage");
      await kept?.release();
    },
  }),
  ...casesOf(["fork", "drop"], {
    "drop: frees the name, and what a fork reads stays": async ({ storage, write, text }) => {
      await write({ "/a": "1" });
      const fork = await forkOf(storage, "dropped");
      await fork.commit([put("/a", "fork")]);
      const below = await forkOf(fork, "below");
      await fork.drop?.();
      await assertFails(() => fork.readMany(["/a"]), "UNSUPPORTED_OPERATION", "a dropped storage");
      assertEqual(await text("/a", below), "fork", "a fork of the dropped one");
      const again = await forkOf(storage, "dropped");
      assertEqual(await text("/a", again), "1", "a fork of the same name");
      await again.drop?.();
      assertEqual(await text("/a"), "1", "the parent");
    },
  }),
  ...casesOf(["fork", "merge"], {
    "merge: brings in what only the fork changed, as one commit": async (context) => {
      const { storage, write, texts, paths } = context;
      await write({ "/a": "1", "/b": "1", "/d/gone": "1", "/kind": "file" });
      const fork = await forkOf(storage, "m");
      const changes = [put("/a", "fork"), put("/new/file", "fork"), remove("/d", true), remove("/kind")];
      await fork.commit([...changes, put("/kind/now/dir", "fork")]);
      await write({ "/b": "parent" });
      const before = (await storage.readMany([])).version;
      const { conflicts, version } = await mergeInto(context, fork);
      assertEqual(conflicts, [], "the conflicts");
      const expected = ["/a", "/b", "/kind", "/kind/now", "/kind/now/dir", "/new", "/new/file"];
      assertEqual([await paths(), await texts("/a", "/b")], [expected, ["fork", "parent"]], "the files");
      const { entries } = await storage.changes(before, { limit: 100 });
      assertEqual([...new Set(entries.map((one) => one.version))], [version], "one commit");
    },
    "merge: texts changed at different places are merged, and again later": async (context) => {
      const { storage, write, text } = context;
      await write({ "/t": textWith({}) });
      const fork = await forkOf(storage, "t");
      await fork.commit([put("/t", textWith({ 1: "fork\n" }))]);
      await write({ "/t": textWith({ 8: "parent\n" }) });
      assertEqual((await mergeInto(context, fork)).conflicts, [], "the first merge");
      assertEqual(await text("/t"), textWith({ 1: "fork\n", 8: "parent\n" }), "the merged text");
      await fork.commit([put("/t", textWith({ 1: "fork\n", 4: "again\n" }))]);
      assertEqual((await mergeInto(context, fork)).conflicts, [], "the second merge");
      assertEqual(await text("/t"), textWith({ 1: "fork\n", 4: "again\n", 8: "parent\n" }), "both changes");
    },
    "merge: conflicts are data and change nothing; a side can be favoured": async (context) => {
      const { storage, write, texts } = context;
      await write({ "/t": textWith({}), "/r": "1", "/clean": "1" });
      const fork = await forkOf(storage, "c");
      await fork.commit([put("/t", textWith({ 3: "fork\n" })), remove("/r"), put("/clean", "2")]);
      await write({ "/t": textWith({ 3: "parent\n" }), "/r": "2" });
      const { conflicts, entries } = await mergeInto(context, fork);
      assertEqual(kindsOf(conflicts), ["removed /r", "content /t"], "the conflicts");
      assertTrue(conflicts[1]?.text?.includes("<<<<<<<") === true, "the text with markers");
      assertEqual([conflicts[1]?.base?.type, conflicts[0]?.theirs], ["file", null], "the three states");
      assertEqual([entries, await texts("/clean", "/r")], [[], ["1", "2"]], "nothing was changed");
      assertEqual((await mergeInto(context, fork, { favour: "theirs" })).conflicts, [], "favour: theirs");
      assertEqual(await texts("/t", "/r"), [textWith({ 3: "fork\n" }), null], "the fork's side");
    },
    "merge: favours this storage, and a key makes it happen once": async (context) => {
      const { storage, write, texts } = context;
      await write({ "/t": "base\n" });
      const fork = await forkOf(storage, "o");
      await fork.commit([put("/t", "fork\n"), put("/other", "fork")]);
      await write({ "/t": "parent\n" });
      const first = await mergeInto(context, fork, { favour: "ours", key: "k" });
      assertEqual(await texts("/t", "/other"), ["parent\n", "fork"], "the contents");
      const again = await mergeInto(context, fork, { favour: "ours", key: "k" });
      assertEqual([again.repeated, again.version], [true, first.version], "the repeated merge");
    },
    "merge: what needs a directory that is a file by now is a conflict": async (context) => {
      const { storage, write, texts } = context;
      await write({ "/d/a": "1", "/e/a": "1" });
      const fork = await forkOf(storage, "d");
      await fork.commit([put("/d/new", "fork"), remove("/e", true)]);
      await storage.commit([remove("/d", true), put("/d", "a file"), put("/e/mine", "1")]);
      assertEqual(kindsOf((await mergeInto(context, fork)).conflicts), ["tree /d/new"], "the conflicts");
      await storage.commit([remove("/d")]);
      assertEqual((await mergeInto(context, fork)).conflicts, [], "without the file");
      const found = await texts("/d/new", "/e/a", "/e/mine");
      assertEqual(found, ["fork", null, "1"], "the files; a directory with more in it stays");
    },
    "merge: a review sees what would be done, and nothing is done unless it accepts": async (context) => {
      const { storage, write, texts } = context;
      await write({ "/t": TEN_LINES.join(""), "/gone": "1", "/both": "1" });
      const fork = await forkOf(storage, "review");
      const changes = [put("/t", textWith({ 1: "fork\n" })), put("/new", "fork"), put("/both", "fork")];
      await fork.commit([...changes, remove("/gone")]);
      await write({ "/t": textWith({ 8: "parent\n" }), "/both": "parent" });
      const { version } = await storage.readMany([]);
      let planned: PlannedMerge | undefined;
      const bodies: (string | null)[] = [];
      const review = async (found: PlannedMerge): Promise<boolean> => {
        planned = found;
        for (const side of ["base", "ours", "theirs"] as const)
          for (const body of await found.bodies(side, ["/both", "/new"])) bodies.push(textOf(body));
        return false;
      };
      const refused = await mergeInto(context, fork, { review, favour: "theirs" });
      assertEqual([refused.entries, refused.version], [[], version], "the refused merge");
      assertEqual((await storage.readMany([])).version, version, "the version after it");
      assertEqual(pathsOf(planned?.states ?? []), ["/both", "/gone", "/new", "/t"], "the reviewed paths");
      assertEqual(planned?.ops.map(({ op }) => op).sort(), ["link", "link", "put", "remove"], "the changes");
      assertEqual(bodies, ["1", "", "parent", "", "fork", "fork"], "the contents of the review");
      let asked = 0;
      const accept = async (): Promise<boolean> => {
        asked++;
        return true;
      };
      const { conflicts } = await mergeInto(context, fork, { review: accept });
      assertEqual([pathsOf(conflicts), asked], [["/both"], 1], "accepted, with a conflict");
      await mergeInto(context, fork, { review: accept, favour: "theirs" });
      assertEqual([...(await texts("/both", "/new")), asked], ["fork", "fork", 2], "accepted");
    },
  }),
  ...casesOf(["merge"], {
    "merge: of a storage that is no relative is INVALID_ARGUMENT": async ({ storage }) => {
      await assertFails(() => storage.merge?.({} as Storage), "INVALID_ARGUMENT", "an unrelated object");
    },
  }),
  ...casesOf(["history"], {
    "history: commits newest first, with their changes where one is named": async ({ storage, write }) => {
      const a = await write({ "/a": "1" }, { actor: { agent: "one", tool: "write_file", callId: "c1" } });
      const b = await write({ "/a": "2", "/b": "1" }, { key: "kb", actor: { agent: "two" } });
      const c = await storage.commit([remove("/b")], { actor: { agent: "one" } });
      const versions = async (request: object) =>
        (await storage.history?.({ limit: 10, ...request }))?.map(({ version }) => version);
      assertEqual(await versions({}), [c.version, b.version, a.version], "all");
      assertEqual(await versions({ limit: 1 }), [c.version], "a limit");
      assertEqual(await versions({ before: b.version }), [a.version], "before a version");
      assertEqual(await versions({ agent: "one" }), [c.version, a.version], "of an agent");
      const [past] = (await storage.history?.({ key: "kb", limit: 10 })) ?? [];
      assertEqual([past?.version, past?.key, past?.count], [b.version, "kb", 2], "the commit with a key");
      const changes = past?.changes?.map(({ path, before, after }) => [
        path,
        before?.version,
        after?.version,
      ]);
      const expected = [
        ["/a", a.entries[0]?.version, b.entries[0]?.version],
        ["/b", undefined, b.entries[1]?.version],
      ];
      assertEqual(changes, expected, "its changes");
      const [first] = (await storage.history?.({ version: a.version, limit: 10 })) ?? [];
      assertEqual(first?.actor, { agent: "one", tool: "write_file", callId: "c1" }, "the origin");
    },
    "history: link restores what a commit replaced and removed": async (context) => {
      const { storage, write, texts, refuse } = context;
      await write({ "/a": "old", "/b": "old" });
      const { version } = await storage.commit([put("/a", "new"), remove("/b"), put("/c", "new")]);
      const [{ changes = [] } = {}] = (await storage.history?.({ version, limit: 1 })) ?? [];
      const ops = changes.map(
        ({ path, before }): Op =>
          before === null
            ? remove(path)
            : { op: "link", path, hash: before.hash ?? "", size: before.size ?? 0 },
      );
      const expect = changes.map(({ path, after }) => ({ path, version: after?.version ?? null }));
      await storage.commit(ops, { expect, actor: { undoOf: version } });
      assertEqual(await texts("/a", "/b", "/c"), ["old", "old", null], "the files");
      await refuse("CONFLICT", ops, { expect });
    },
  }),
  ...casesOf(["history", "readContents"], {
    "readContents: what commits replaced and removed, by the hashes of the history": async (context) => {
      const { storage, second, write } = context;
      await write({ "/a": "old\r\n", "/b": "", "/kept": "kept" });
      const { version } = await storage.commit([put("/a", "new"), remove("/b")]);
      const [past] = (await storage.history?.({ version, limit: 1 })) ?? [];
      const names = (past?.changes ?? []).flatMap(({ before }) =>
        before?.hash === undefined ? [] : [{ hash: before.hash, size: before.size ?? 0 }],
      );
      const unknown = { hash: `sha256:${"0".repeat(64)}`, size: 3 };
      for (const through of [storage, second]) {
        const found = await through.readContents?.([unknown, ...names]);
        assertEqual(found?.map(textOf), [null, "old\r\n", ""], "the contents");
      }
      assertEqual(await storage.readContents?.([]), [], "no names");
    },
  }),
];
