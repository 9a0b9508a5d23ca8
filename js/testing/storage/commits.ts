/** Test cases for the changes of a commit. */
import type { Op } from "../../storage/storage.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { put, type StorageCase } from "./case.ts";

/** The cases about changes. */
export const commitCases: readonly StorageCase[] = [
  {
    name: "commit: put creates a file with its parents, and replaces it",
    run: async ({ storage, text, entry, write }) => {
      const first = await write({ "/a/b/f": "one" });
      assertEqual(
        first.entries.map(({ path, type }) => [path, type]),
        [
          ["/a", "dir"],
          ["/a/b", "dir"],
          ["/a/b/f", "file"],
        ],
        "the answer",
      );
      assertEqual(first.entries[2], await entry("/a/b/f"), "the entry that is read");
      const second = await write({ "/a/b/f": "two" });
      assertEqual(await text("/a/b/f"), "two", "the content");
      assertTrue(second.version !== first.version, "a new version of the workspace");
      assertTrue(second.entries[0]?.version !== first.entries[2]?.version, "a new version of the file");
      assertEqual((await storage.readMany([])).version, second.version, "the present version");
    },
  },
  {
    name: "commit: every byte and an empty file come back",
    run: async ({ storage }) => {
      const body = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256);
      await storage.commit([
        { op: "put", path: "/bytes", body },
        { op: "put", path: "/empty", body: new Uint8Array(0) },
      ]);
      const { results } = await storage.readMany(["/bytes", "/empty"]);
      const bodies = results.map((one) => (one && !(one instanceof Error) ? one.body : undefined));
      assertEqual(bodies, [body, new Uint8Array(0)], "the contents");
    },
  },
  {
    name: "commit: what cannot be put is refused and changes nothing",
    run: async ({ storage, write, text }) => {
      await write({ "/d/f": "1" });
      const body = new Uint8Array([1]);
      const wrong = `sha256:${"0".repeat(64)}`;
      await assertFails(() => storage.commit([put("/d", "x")]), "IS_DIRECTORY", "onto a directory");
      await assertFails(() => storage.commit([put("/d/f/x", "x")]), "NOT_DIRECTORY", "below a file");
      await assertFails(
        () => storage.commit([{ op: "put", path: "/n", body, hash: wrong }]),
        "INVALID_ARGUMENT",
        "a wrong hash",
      );
      await assertFails(
        () => storage.commit([{ op: "nonsense", path: "/n" } as unknown as Op]),
        "INVALID_ARGUMENT",
        "an unknown change",
      );
      assertEqual([await text("/d/f"), await text("/n")], ["1", null], "the files");
    },
  },
  {
    name: "commit: paths are absolute, normalised and not too long",
    run: async ({ storage }) => {
      for (const path of ["a", "", "/a/", "/a//b", "/a/../b", "/./a", "/a\0b", "/a\ud800"])
        await assertFails(() => storage.commit([put(path, "x")]), "INVALID_ARGUMENT", JSON.stringify(path));
      const long = `/${"n".repeat(256)}`;
      await assertFails(() => storage.commit([put(long, "x")]), "NAME_TOO_LONG", "a name of 256 bytes");
      const deep = `/${"d/".repeat(2100)}f`;
      await assertFails(() => storage.commit([put(deep, "x")]), "NAME_TOO_LONG", "4202 bytes");
      await assertFails(
        () => storage.commit([{ op: "remove", path: "/", tree: true }]),
        "PROTECTED_PATH",
        "the root",
      );
      await storage.commit([put(`/${"é".repeat(127)}x`, "x")]);
    },
  },
  {
    name: "commit: names of any characters are those that are read and listed, each another one",
    run: async ({ storage, write, text }) => {
      const paths = [..."é 日本 \u{1f600} back\\slash %2e%2e ~ -rf a:b e\u0301 a A".split(" "), "a b'c\"d"];
      const named = Object.fromEntries(paths.map((name) => [`/${name}`, name]));
      await write(named);
      for (const [path, name] of Object.entries(named)) assertEqual(await text(path), name, path);
      const { entries } = await storage.list({ limit: 100 });
      assertEqual(entries.map(({ path }) => path).sort(), Object.keys(named).sort(), "the listing");
    },
  },
  {
    name: "commit: link copies content that the storage has",
    run: async ({ storage, write, text, entry }) => {
      await write({ "/a": "content" });
      const { hash = "", size = 0 } = (await entry("/a")) ?? {};
      await storage.commit([{ op: "link", path: "/d/copy", hash, size }]);
      assertEqual(await text("/d/copy"), "content", "the copy");
      await storage.commit([put("/a", "changed")]);
      assertEqual(await text("/d/copy"), "content", "the copy after a change of the original");
      const unknown = `sha256:${"1".repeat(64)}`;
      await assertFails(
        () => storage.commit([{ op: "link", path: "/n", hash: unknown, size: 3 }]),
        "NOT_FOUND",
        "unknown content",
      );
      assertEqual(await text("/n"), null, "nothing was made");
    },
  },
  {
    name: "commit: mkdir makes a directory with its parents and accepts one that exists",
    facts: ["empty_dirs"],
    run: async ({ storage, write, entry }) => {
      await storage.commit([{ op: "mkdir", path: "/a/b" }]);
      assertEqual(
        [(await entry("/a"))?.type, (await entry("/a/b"))?.type],
        ["dir", "dir"],
        "the directories",
      );
      const before = await entry("/a/b");
      await storage.commit([{ op: "mkdir", path: "/a/b" }]);
      assertEqual(await entry("/a/b"), before, "the existing directory");
      await write({ "/f": "1" });
      await assertFails(() => storage.commit([{ op: "mkdir", path: "/f" }]), "ALREADY_EXISTS", "onto a file");
    },
  },
  {
    name: "commit: symlink is an entry with a target, and no path goes through it",
    facts: ["links"],
    run: async ({ storage, write, entry, text }) => {
      await write({ "/d/f": "1" });
      await storage.commit([{ op: "symlink", path: "/l", target: "d" }]);
      const link = await entry("/l");
      assertEqual([link?.type, link?.target], ["symlink", "d"], "the link");
      assertEqual(await text("/l/f"), null, "a path through the link");
      await assertFails(
        () => storage.commit([put("/l/f", "x")]),
        "NOT_DIRECTORY",
        "a change through the link",
      );
      await assertFails(
        () => storage.commit([{ op: "symlink", path: "/l", target: "x" }]),
        "ALREADY_EXISTS",
        "onto a link",
      );
      await storage.commit([put("/l", "a file now")]);
      assertEqual(
        [await text("/l"), await text("/d/f")],
        ["a file now", "1"],
        "put replaces the link itself",
      );
    },
  },
  {
    name: "commit: modes are kept by a put that names none, and changed by chmod",
    facts: ["modes"],
    run: async ({ storage, write, entry }) => {
      await storage.commit([{ op: "put", path: "/f", body: new Uint8Array(0), mode: 0o640 }]);
      await write({ "/f": "2" });
      assertEqual((await entry("/f"))?.mode, 0o640, "after a put");
      const before = await entry("/f");
      await storage.commit([{ op: "chmod", path: "/f", mode: 0o755 }]);
      const after = await entry("/f");
      assertEqual([after?.mode, after?.hash], [0o755, before?.hash], "after chmod");
      assertTrue(after?.version !== before?.version, "a new version");
      await assertFails(
        () => storage.commit([{ op: "chmod", path: "/gone", mode: 0o644 }]),
        "NOT_FOUND",
        "of nothing",
      );
    },
  },
  {
    name: "commit: remove of a file, an empty directory and a tree",
    run: async ({ storage, write, entry }) => {
      await write({ "/d/f": "1", "/d/e/g": "2", "/h": "3" });
      const remove = (path: string, tree?: true) =>
        storage.commit([{ op: "remove", path, ...(tree ? { tree } : {}) }]);
      await assertFails(() => remove("/d"), "NOT_EMPTY", "a full directory");
      await assertFails(() => remove("/gone"), "NOT_FOUND", "nothing");
      const { entries } = await remove("/h");
      assertEqual([entries[0]?.path, entries[0]?.type], ["/h", "gone"], "the answer");
      await remove("/d", true);
      const left = await storage.list({ limit: 10 });
      assertEqual(left.entries, [], "nothing is left");
      assertEqual(await entry("/d/e/g"), null, "what was below");
    },
  },
  {
    name: "commit: move of a file and of a tree, which replaces nothing",
    run: async ({ storage, write, text, entry }) => {
      await write({ "/f": "1", "/d/a": "2", "/d/e/b": "3", "/there": "4" });
      const move = (from: string, to: string) => storage.commit([{ op: "move", from, to }]);
      await move("/f", "/new/f");
      await move("/d", "/moved");
      assertEqual(
        [await text("/new/f"), await text("/moved/a"), await text("/moved/e/b")],
        ["1", "2", "3"],
        "the files",
      );
      assertEqual(
        [await entry("/d"), await entry("/d/e/b"), await entry("/f")],
        [null, null, null],
        "the old paths",
      );
      await assertFails(() => move("/new/f", "/there"), "ALREADY_EXISTS", "onto a file");
      await assertFails(() => move("/gone", "/x"), "NOT_FOUND", "nothing to move");
      await assertFails(() => move("/moved", "/moved/in"), "INVALID_ARGUMENT", "into itself");
      assertEqual(await text("/moved/e/b"), "3", "the tree is as it was");
    },
  },
  {
    name: "commit: each change sees those before it",
    facts: ["atomic"],
    run: async ({ storage, text, write }) => {
      await write({ "/a": "1", "/d/x": "2" });
      await storage.commit([
        put("/b", "3"),
        { op: "move", from: "/b", to: "/c" },
        { op: "remove", path: "/a" },
        put("/a/now/a/directory", "4"),
        { op: "remove", path: "/d", tree: true },
        put("/d", "a file"),
      ]);
      const paths = ["/b", "/c", "/a/now/a/directory", "/d"];
      const texts: (string | null)[] = [];
      for (const path of paths) texts.push(await text(path));
      assertEqual(texts, [null, "3", "4", "a file"], "the files");
    },
  },
  {
    name: "commit: all or nothing",
    facts: ["atomic"],
    run: async ({ storage, text, write, entry }) => {
      await write({ "/a": "1", "/d/f": "1" });
      const { version } = await storage.readMany([]);
      await assertFails(
        () =>
          storage.commit([
            put("/a", "2"),
            put("/new/file", "2"),
            { op: "remove", path: "/d", tree: true },
            { op: "remove", path: "/gone" },
          ]),
        "NOT_FOUND",
        "a commit whose last change fails",
      );
      assertEqual([await text("/a"), await entry("/new"), await text("/d/f")], ["1", null, "1"], "the files");
      assertEqual((await storage.readMany([])).version, version, "the version");
    },
  },
  {
    name: "commit: no reader sees half of it",
    facts: ["atomic"],
    run: async ({ second, write }) => {
      const paths = ["/a", "/b/c", "/d"];
      const state = (n: number) => Object.fromEntries(paths.map((path) => [path, `content ${n}`]));
      await write(state(0));
      let writing = true;
      const torn: string[] = [];
      const reader = async (): Promise<void> => {
        while (writing) {
          const { results } = await second.readMany(paths);
          const hashes = results.map((one) => (one && !(one instanceof Error) ? one.entry.hash : "none"));
          const listed = (await second.list({ limit: 100 })).entries.filter(({ type }) => type === "file");
          for (const seen of [hashes, listed.map(({ hash }) => hash)])
            if (new Set(seen).size !== 1 || seen.length !== paths.length) torn.push(seen.join());
          // A timer lets a writer in that shares this process with the readers.
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
      };
      const readers = [reader(), reader()];
      try {
        for (let n = 1; n <= 50; n++) {
          await write(state(n));
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
      } finally {
        writing = false;
        await Promise.all(readers);
      }
      assertEqual(torn, [], "views with parts of two commits");
    },
  },
  {
    name: "close: later calls are UNSUPPORTED_OPERATION",
    run: async ({ storage, write }) => {
      await write({ "/a": "1" });
      await storage.close();
      await assertFails(() => storage.readMany(["/a"]), "UNSUPPORTED_OPERATION", "readMany");
      await assertFails(() => storage.commit([put("/a", "2")]), "UNSUPPORTED_OPERATION", "commit");
    },
  },
];
