/** Test cases for the changes of a commit. */
import type { Op } from "../../storage/storage.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";
import { casesOf, put, remove, type StorageCase } from "./case.ts";

/** The cases about changes. */
export const commitCases: readonly StorageCase[] = [
  ...casesOf([], {
    "commit: put creates a file with its parents, and replaces it as a whole": async (context) => {
      const { storage, text, entry, write, paths } = context;
      const first = await write({ "/a/b/f": "a longer first content" });
      const shown = first.entries.map(({ path, type }) => `${type} ${path}`);
      assertEqual(shown, ["dir /a", "dir /a/b", "file /a/b/f"], "the answer");
      assertEqual(first.entries[2], await entry("/a/b/f"), "the entry that is read");
      const second = await write({ "/a/b/f": "two" });
      assertEqual([await text("/a/b/f"), ...(await paths())], ["two", "/a", "/a/b", "/a/b/f"], "the files");
      assertTrue(second.version !== first.version, "a new version of the workspace");
      assertTrue(second.entries[0]?.version !== first.entries[2]?.version, "a new version of the file");
      assertEqual((await storage.readMany([])).version, second.version, "the present version");
    },
    "commit: every byte and an empty file come back": async ({ storage }) => {
      const bodies = [Uint8Array.from({ length: 70_000 }, (_, i) => i % 256), new Uint8Array(0)];
      await storage.commit(bodies.map((body, i) => ({ op: "put", path: `/${i}`, body })));
      const { results } = await storage.readMany(["/0", "/1"]);
      const read = results.map((one) => (one && !(one instanceof Error) ? one.body : undefined));
      assertEqual(read, bodies, "the contents");
    },
    "commit: what cannot be put is refused and changes nothing": async ({ write, refuse, texts }) => {
      await write({ "/d/f": "1" });
      const wrong = { op: "put", path: "/n", body: new Uint8Array([1]), hash: `sha256:${"0".repeat(64)}` };
      await refuse("IS_DIRECTORY", [put("/d", "x")]);
      await refuse("NOT_DIRECTORY", [put("/d/f/x", "x")]);
      for (const op of [wrong, { op: "nonsense", path: "/n" }]) await refuse("INVALID_ARGUMENT", [op as Op]);
      assertEqual(await texts("/d/f", "/n"), ["1", null], "the files");
    },
    "commit: paths are absolute, normalised and not too long": async ({ refuse, write }) => {
      for (const path of ["a", "", "/a/", "/a//b", "/a/../b", "/./a", "/a\0b", "/a\ud800"])
        await refuse("INVALID_ARGUMENT", [put(path, "x")]);
      for (const path of [`/${"n".repeat(256)}`, `/${"d/".repeat(2100)}f`])
        await refuse("NAME_TOO_LONG", [put(path, "x")]);
      await refuse("PROTECTED_PATH", [remove("/", true)]);
      await write({ [`/${"é".repeat(127)}x`]: "x" });
    },
    "commit: names of any characters are those that are read and listed, each another one": async (
      context,
    ) => {
      const { write, text, paths } = context;
      const names = [..."é 日本 \u{1f600} back\\slash %2e%2e ~ -rf a:b e\u0301 a A".split(" "), "a b'c\"d"];
      const named = Object.fromEntries(names.map((name) => [`/${name}`, name]));
      await write(named);
      for (const [path, name] of Object.entries(named)) assertEqual(await text(path), name, path);
      assertEqual([...(await paths())].sort(), Object.keys(named).sort(), "the listing");
    },
    "commit: link copies content that the storage has": async ({ storage, write, text, entry, refuse }) => {
      await write({ "/a": "content" });
      const { hash = "", size = 0 } = (await entry("/a")) ?? {};
      await storage.commit([{ op: "link", path: "/d/copy", hash, size }]);
      assertEqual(await text("/d/copy"), "content", "the copy");
      await write({ "/a": "changed" });
      assertEqual(await text("/d/copy"), "content", "the copy after a change of the original");
      await refuse("NOT_FOUND", [{ op: "link", path: "/n", hash: `sha256:${"1".repeat(64)}`, size: 3 }]);
      assertEqual(await text("/n"), null, "nothing was made");
    },
    "commit: remove of a file, an empty directory and a tree": async (context) => {
      const { storage, write, paths, entry, refuse } = context;
      await write({ "/d/f": "1", "/d/e/g": "2", "/h": "3" });
      await refuse("NOT_EMPTY", [remove("/d")]);
      await refuse("NOT_FOUND", [remove("/gone")]);
      const { entries } = await storage.commit([remove("/h")]);
      assertEqual([entries[0]?.path, entries[0]?.type], ["/h", "gone"], "the answer");
      await storage.commit([remove("/d", true)]);
      assertEqual([await paths(), await entry("/d/e/g")], [[], null], "what is left");
    },
    "commit: move of a file and of a tree, which replaces nothing": async (context) => {
      const { storage, write, texts, entry, refuse } = context;
      await write({ "/f": "1", "/d/a": "2", "/d/e/b": "3", "/there": "4" });
      const move = (from: string, to: string): Op => ({ op: "move", from, to });
      await storage.commit([move("/f", "/new/f")]);
      await storage.commit([move("/d", "/moved")]);
      assertEqual(await texts("/new/f", "/moved/a", "/moved/e/b"), ["1", "2", "3"], "the files");
      for (const path of ["/d", "/d/e/b", "/f"]) assertEqual(await entry(path), null, path);
      await refuse("ALREADY_EXISTS", [move("/new/f", "/there")]);
      await refuse("NOT_FOUND", [move("/gone", "/x")]);
      await refuse("INVALID_ARGUMENT", [move("/moved", "/moved/in")]);
      assertEqual(await texts("/moved/e/b", "/there"), ["3", "4"], "the files after refusals");
    },
    "close: later calls are UNSUPPORTED_OPERATION": async ({ storage, write, refuse }) => {
      await write({ "/a": "1" });
      await storage.close();
      await assertFails(() => storage.readMany(["/a"]), "UNSUPPORTED_OPERATION", "readMany");
      await refuse("UNSUPPORTED_OPERATION", [put("/a", "2")]);
    },
  }),
  ...casesOf(["empty_dirs"], {
    "commit: mkdir makes a directory with its parents and accepts one that exists": async (context) => {
      const { storage, write, entry, refuse } = context;
      const made: Op = { op: "mkdir", path: "/a/b" };
      await storage.commit([made]);
      const before = await entry("/a/b");
      assertEqual([(await entry("/a"))?.type, before?.type], ["dir", "dir"], "the directories");
      await storage.commit([made]);
      assertEqual(await entry("/a/b"), before, "the existing directory");
      await write({ "/f": "1" });
      await refuse("ALREADY_EXISTS", [{ op: "mkdir", path: "/f" }]);
    },
  }),
  ...casesOf(["links"], {
    "commit: symlink is an entry with a target, and no path goes through it": async (context) => {
      const { storage, write, entry, text, texts, refuse } = context;
      await write({ "/d/f": "1" });
      const link: Op = { op: "symlink", path: "/l", target: "d" };
      await storage.commit([link]);
      const found = await entry("/l");
      assertEqual([found?.type, found?.target], ["symlink", "d"], "the link");
      assertEqual(await text("/l/f"), null, "a path through the link");
      await refuse("NOT_DIRECTORY", [put("/l/f", "x")]);
      await refuse("ALREADY_EXISTS", [link]);
      await write({ "/l": "a file now" });
      assertEqual(await texts("/l", "/d/f"), ["a file now", "1"], "put replaces the link itself");
    },
  }),
  ...casesOf(["modes"], {
    "commit: modes are kept by a put that names none, and changed by chmod": async (context) => {
      const { storage, write, entry, refuse } = context;
      await storage.commit([{ op: "put", path: "/f", body: new Uint8Array(0), mode: 0o640 }]);
      await write({ "/f": "2" });
      const before = await entry("/f");
      assertEqual(before?.mode, 0o640, "after a put");
      await storage.commit([{ op: "chmod", path: "/f", mode: 0o755 }]);
      const after = await entry("/f");
      assertEqual([after?.mode, after?.hash], [0o755, before?.hash], "after chmod");
      assertTrue(after?.version !== before?.version, "a new version");
      await refuse("NOT_FOUND", [{ op: "chmod", path: "/gone", mode: 0o644 }]);
    },
  }),
  ...casesOf(["atomic"], {
    "commit: each change sees those before it": async ({ storage, texts, write }) => {
      await write({ "/a": "1", "/d/x": "2" });
      await storage.commit([
        ...[put("/b", "3"), { op: "move", from: "/b", to: "/c" } as const],
        ...[remove("/a"), put("/a/now/a/directory", "4")],
        ...[remove("/d", true), put("/d", "a file")],
      ]);
      const found = await texts("/b", "/c", "/a/now/a/directory", "/d");
      assertEqual(found, [null, "3", "4", "a file"], "the files");
    },
    "commit: all or nothing": async ({ storage, texts, write, entry, refuse }) => {
      await write({ "/a": "1", "/d/f": "1" });
      const { version } = await storage.readMany([]);
      await refuse("NOT_FOUND", [put("/a", "2"), put("/new/file", "2"), remove("/d", true), remove("/gone")]);
      assertEqual([await texts("/a", "/d/f"), await entry("/new")], [["1", "1"], null], "the files");
      assertEqual((await storage.readMany([])).version, version, "the version");
    },
    "commit: no reader sees half of it": async ({ second, write }) => {
      const paths = ["/a", "/b/c", "/d"];
      const state = (n: number) => Object.fromEntries(paths.map((path) => [path, `content ${n}`]));
      // A timer lets a writer in that shares this process with the readers.
      const pause = () => new Promise((resolve) => setTimeout(resolve, 0));
      await write(state(0));
      let writing = true;
      const torn: string[] = [];
      const reader = async (): Promise<void> => {
        for (; writing; await pause()) {
          const { results } = await second.readMany(paths);
          const hashes = results.map((one) => (one && !(one instanceof Error) ? one.entry.hash : "none"));
          const listed = (await second.list({ limit: 100 })).entries.filter(({ type }) => type === "file");
          for (const seen of [hashes, listed.map(({ hash }) => hash)])
            if (new Set(seen).size !== 1 || seen.length !== paths.length) torn.push(seen.join());
        }
      };
      const readers = [reader(), reader()];
      try {
        for (let n = 1; n <= 50; n++, await pause()) await write(state(n));
      } finally {
        writing = false;
        await Promise.all(readers);
      }
      assertEqual(torn, [], "views with parts of two commits");
    },
  }),
];
