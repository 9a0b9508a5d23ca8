/** Test cases for reading a storage: readMany, list, changes, snapshots. */
import { FilewrightError } from "../../engine/errors.ts";
import { compareCodePoints } from "../../backends/paths.ts";
import type { ReadEntry, ReadMany, Version } from "../../storage/storage.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { casesOf, pathsOf, put, remove, type StorageCase, type StorageContext } from "./case.ts";

async function allPages({ storage }: StorageContext, limit: number, prefix = "/"): Promise<unknown> {
  const found: string[] = [];
  for (let after = ""; ; ) {
    const page = await storage.list({ prefix, limit, ...(after === "" ? {} : { after }) });
    assertTrue(page.entries.length <= limit, "a page has at most as many entries as asked");
    found.push(...pathsOf(page.entries));
    if (page.next === undefined) return found;
    after = page.next;
  }
}

/** Returns the answer for the first path without an error. */
function firstOf({ results: [first] }: ReadMany): ReadEntry {
  if (!first || first instanceof Error) throw new Error("no entry");
  return first;
}

/** Returns the answers of a read: null, the code of an error, or what `show` makes of an entry. */
function shown({ results }: ReadMany, show: (found: ReadEntry) => string): readonly (string | null)[] {
  return results.map((one) => (one instanceof FilewrightError ? one.code : one && show(one)));
}

/** The cases about reading. */
export const readingCases: readonly StorageCase[] = [
  ...casesOf([], {
    "readMany: answers in the order asked, null for what is absent, an error in its place": async (
      context,
    ) => {
      const { storage, write } = context;
      await write({ "/d/a": "A", "/b": "B" });
      const found = await storage.readMany(["/b", "/gone", "/d/a", "/d", "/b/below", "not absolute", "/b"]);
      assertTrue(found.version !== "", "the version of the workspace");
      const answers = shown(found, ({ entry, body }) => `${entry.path} ${new TextDecoder().decode(body)}`);
      assertEqual(answers, ["/b B", null, "/d/a A", "/d ", null, "INVALID_ARGUMENT", "/b B"], "the results");
    },
    "readMany: entries have hash, size and version; without bodies only these": async (context) => {
      const { storage, write } = context;
      await write({ "/a": "héllo" });
      const whole = firstOf(await storage.readMany(["/a"]));
      const bare = firstOf(await storage.readMany(["/a"], { bodies: false }));
      assertEqual(bare.entry, whole.entry, "the same entry");
      assertEqual([bare.body, whole.body?.length], [undefined, 6], "the contents");
      const hash = "sha256:3c48591d8d098a4538f5e013dfcf406e948eac4d3277b10bf614e295d6068179";
      assertEqual([whole.entry.hash, whole.entry.size], [hash, 6], "the facts");
    },
    "readMany: what exceeds maxBytes is left, and everything after it": async ({ storage, write }) => {
      await write({ "/a": "1234", "/b": "12345678", "/c": "1" });
      const found = await storage.readMany(["/a", "/b", "/c"], { maxBytes: 6 });
      const answers = shown(found, ({ entry, body, left }) => `${entry.path} ${body?.length} ${left}`);
      assertEqual(answers, ["/a 4 undefined", "/b undefined true", "/c undefined true"], "the results");
    },
    "readMany and commit: bytes handed out and taken in are copies": async ({ storage, text }) => {
      const body = new TextEncoder().encode("abc");
      await storage.commit([{ op: "put", path: "/a", body }]);
      body[0] = 0x7a;
      firstOf(await storage.readMany(["/a"])).body?.fill(0x7a);
      assertEqual(await text("/a"), "abc", "the content");
    },
    "list: everything below, by the code points of the whole path, in pages": async (context) => {
      const { storage, write } = context;
      const files = ["/a/x", "/a-b", "/a.b/c", "/a/y/z", "/b", "/\uffee", "/\u{1f600}/f", "/a0"];
      await write(Object.fromEntries(files.map((path) => [path, path])));
      const expected = [...files, "/a", "/a.b", "/a/y", "/\u{1f600}"].sort(compareCodePoints);
      const page = await storage.list({ limit: 1000 });
      assertEqual(pathsOf(page.entries), expected, "one page");
      assertEqual([page.top?.path, page.top?.type, page.next], ["/", "dir", undefined], "the root");
      for (const limit of [1, 2, 5])
        assertEqual(await allPages(context, limit), expected, `pages of ${limit}`);
      assertEqual(await allPages(context, 1, "/a"), ["/a/x", "/a/y", "/a/y/z"], "below a directory");
    },
    "list: depth, a file, nothing, a wrong limit": async ({ storage, write }) => {
      await write({ "/a/x": "1", "/a/y/z": "2", "/b": "3" });
      const list = async (prefix: string, depth?: number) => {
        const page = await storage.list({ prefix, limit: 10, ...(depth === undefined ? {} : { depth }) });
        return [page.top?.type ?? null, ...pathsOf(page.entries)];
      };
      assertEqual(await list("/", 1), ["dir", "/a", "/b"], "one level");
      assertEqual(await list("/", 2), ["dir", "/a", "/a/x", "/a/y", "/b"], "two levels");
      assertEqual(await list("/b"), ["file"], "a file");
      assertEqual(await list("/gone"), [null], "nothing");
      await assertFails(() => storage.list({ limit: 0 }), "INVALID_ARGUMENT", "a limit of 0");
    },
    "changes: an unknown version is a gap": async ({ storage }) => {
      const answer = await storage.changes("no such version", { limit: 10 });
      assertEqual([answer.gap, answer.entries], [true, []], "the answer");
    },
    "storage calls: a cancelled signal is CANCELLED and changes nothing": async ({ storage, text }) => {
      const signal = AbortSignal.abort();
      await assertFails(() => storage.readMany(["/a"], { signal }), "CANCELLED", "readMany");
      await assertFails(() => storage.list({ limit: 1, signal }), "CANCELLED", "list");
      await assertFails(() => storage.changes(null, { limit: 1, signal }), "CANCELLED", "changes");
      await assertFails(() => storage.commit([put("/a", "1")], { signal }), "CANCELLED", "commit");
      assertEqual(await text("/a"), null, "nothing was written");
    },
  }),
  ...casesOf(["statMany"], {
    "statMany: the entries of readMany": async ({ storage, write, entry }) => {
      await write({ "/a": "1" });
      const stats = await storage.statMany?.(["/gone", "/a"]);
      assertEqual(stats, [null, await entry("/a")], "the entries");
    },
  }),
  ...casesOf(["changes"], {
    "changes: each changed path once, with its last state": async ({ storage, write, entry }) => {
      await write({ "/kept": "0", "/a": "1" });
      const { head } = await storage.changes(null, { limit: 0 });
      assertEqual((await storage.changes(head, { limit: 10 })).entries, [], "nothing since the head");
      await write({ "/a": "2", "/b": "1", "/c": "1" });
      await storage.commit([remove("/b"), put("/a", "3")]);
      const changes = await storage.changes(head, { limit: 10 });
      const byPath = new Map(changes.entries.map((one) => [one.path, one]));
      assertEqual([...byPath.keys()].sort(), ["/a", "/b", "/c"], "the changed paths");
      assertEqual(changes.entries.length, 3, "each once");
      assertEqual(byPath.get("/a"), await entry("/a"), "the last state");
      assertEqual(byPath.get("/b")?.type, "gone", "what was removed");
      assertEqual(changes.next, undefined, "the last page");
      assertTrue(changes.head !== head, "the head moved");
      const all = await storage.changes(null, { limit: 100 });
      assertTrue(pathsOf(all.entries).includes("/kept"), "since the beginning");
    },
    "changes: pages go on within a commit, and lose nothing": async ({ storage, write }) => {
      const { head } = await storage.changes(null, { limit: 0 });
      const files = Array.from({ length: 7 }, (_, i) => `/f${i}`);
      await write(Object.fromEntries(files.map((path) => [path, "1"])));
      const found: string[] = [];
      for (let since: Version | undefined = head, pages = 0; since !== undefined; pages++) {
        const page = await storage.changes(since, { limit: 3 });
        found.push(...pathsOf(page.entries));
        // A change between two pages shows on a later one.
        if (pages === 0) await write({ "/f0": "2", "/late": "1" });
        assertTrue(pages < 10, "the pages end");
        since = page.next;
      }
      const last = new Set(found);
      assertEqual([...last].sort(), [...files, "/late"].sort(), "the paths");
      assertEqual(found.slice(-2).sort(), ["/f0", "/late"], "the latest changes come last");
    },
  }),
  ...casesOf(["snapshot"], {
    "snapshot: keeps a state that reads and listings show until it is released": async (context) => {
      const { storage, write, text } = context;
      await write({ "/a": "old", "/b": "1" });
      const kept = await storage.snapshot?.();
      if (kept === undefined) throw new Error("no snapshot");
      await storage.commit([put("/a", "new"), remove("/b"), put("/c", "1")]);
      const { at } = kept;
      const { body } = firstOf(await storage.readMany(["/a"], { at }));
      assertEqual(new TextDecoder().decode(body), "old", "the old content");
      assertEqual(pathsOf((await storage.list({ limit: 10, at })).entries), ["/a", "/b"], "the old listing");
      assertEqual(await text("/a"), "new", "the present");
      await kept.release();
      await kept.release();
      await assertFails(
        () => storage.list({ limit: 10, at: "no such version" }),
        ["INVALID_ARGUMENT", "UNSUPPORTED_OPERATION"],
        "an unknown state",
      );
    },
  }),
];
