/** Test cases for directories: mkdir, listDir, iterFiles, glob. */
import { compareCodePoints } from "../backends/paths.ts";
import { assertEqual, assertFails, assertFrozen, type Context, type ContractCase } from "./case.ts";

const collectPaths = async (files: AsyncIterable<string> | Iterable<string>): Promise<string[]> => {
  const all: string[] = [];
  for await (const file of files) all.push(file);
  return all;
};

const globbedPaths = async (
  { backend, root }: Context,
  pattern: string,
  below = root,
): Promise<readonly string[]> =>
  (await backend.glob(pattern, { root: below })).map((path) => path.slice(root.length + 1));

/** The cases about directories and walks. */
export const directoryCases: readonly ContractCase[] = [
  {
    name: "mkdir: makes parents and does not mind what exists",
    run: async ({ backend, at }) => {
      await backend.mkdir(at("a/b/c"));
      await backend.mkdir(at("a/b"));
      assertEqual((await backend.stat(at("a/b/c"))).isDir, true, "the innermost directory");
    },
  },
  {
    name: "mkdir: parents false is NOT_FOUND, existOk false is ALREADY_EXISTS",
    run: async ({ backend, at }) => {
      await assertFails(() => backend.mkdir(at("a/b"), { parents: false }), "NOT_FOUND", "no parent");
      assertEqual(await backend.exists(at("a")), false, "no parent was made");
      await backend.mkdir(at("a"), { parents: false });
      await assertFails(
        () => backend.mkdir(at("a"), { existOk: false }),
        "ALREADY_EXISTS",
        "an existing directory",
      );
    },
  },
  {
    name: "mkdir: where a file is ALREADY_EXISTS, below one NOT_DIRECTORY",
    run: async ({ backend, at, seed }) => {
      await seed({ f: "1" });
      await assertFails(() => backend.mkdir(at("f")), "ALREADY_EXISTS", "onto a file");
      await assertFails(() => backend.mkdir(at("f/d/e")), "NOT_DIRECTORY", "below a file");
      assertEqual(await backend.readText(at("f")), "1", "the file is as it was");
    },
  },
  {
    name: "listDir: directories first, then by code point; complete, frozen entries",
    reads: true,
    run: async ({ backend, at, seed, root }) => {
      await seed({
        b: "22",
        a: "",
        Z: "",
        "z/x": "",
        "B/x": "",
        "\uffee": "",
        "\u{1f600}": "",
        "a-b": "",
        "a.b": "",
      });
      const entries = await backend.listDir(root);
      assertEqual(
        entries.map((entry) => entry.name),
        ["B", "z", "Z", "a", "a-b", "a.b", "b", "\uffee", "\u{1f600}"],
        "the order",
      );
      for (const entry of entries) {
        assertEqual(entry.path, at(entry.name), "the path of an entry");
        assertEqual(
          [entry.isDir, entry.isFile],
          [entry.type === "dir", entry.type === "file"],
          `the type of ${entry.name}`,
        );
        assertFrozen(entry, "an entry");
      }
      const file = entries.find((entry) => entry.name === "b");
      assertEqual(file?.size ?? 2, 2, "the size, where it is given");
    },
  },
  {
    name: "listDir: of nothing NOT_FOUND, of a file NOT_DIRECTORY, of an empty directory nothing",
    run: async ({ backend, at, seed }) => {
      await seed({ f: "" });
      await backend.mkdir(at("d"));
      await assertFails(() => backend.listDir(at("gone")), "NOT_FOUND", "a missing directory");
      await assertFails(() => backend.listDir(at("f")), "NOT_DIRECTORY", "a file");
      assertEqual(await backend.listDir(at("d")), [], "an empty directory");
    },
  },
  {
    name: "listDir: a thousand entries, each once",
    run: async ({ backend, at, root }) => {
      const names = Array.from({ length: 1000 }, (_, i) => `f${String(i).padStart(4, "0")}`);
      // Files are created concurrently, because a thousand round trips one after the other would be slow on
      // remote storage.
      const left = [...names].reverse();
      while (left.length > 0) {
        await Promise.all(left.splice(0, 20).map((name) => backend.writeText(at(name), "")));
      }
      assertEqual(
        (await backend.listDir(root)).map((entry) => entry.name),
        names,
        "the names",
      );
    },
  },
  {
    name: "iterFiles: every file below, as absolute paths in code-point order",
    run: async ({ backend, at, seed, root }) => {
      const files = ["a/x", "a-b", "a.b/c", "a/y/z", "b", ".hidden/f", "\u{1f600}/f", "\uffee"];
      await seed(Object.fromEntries(files.map((file) => [file, ""])));
      await backend.mkdir(at("empty"));
      assertEqual(
        await collectPaths(backend.iterFiles(root)),
        files.sort(compareCodePoints).map(at),
        "the files",
      );
      assertEqual(
        await collectPaths(backend.iterFiles(at("a"))),
        [at("a/x"), at("a/y/z")],
        "the files below a",
      );
      assertEqual(await collectPaths(backend.iterFiles(at("empty"))), [], "an empty directory");
    },
  },
  {
    name: "iterFiles: of nothing NOT_FOUND, of a file NOT_DIRECTORY, when it is iterated",
    reads: true,
    run: async ({ backend, at, seed }) => {
      await seed({ f: "" });
      await assertFails(
        () => collectPaths(backend.iterFiles(at("gone"))),
        "NOT_FOUND",
        "a missing directory",
      );
      await assertFails(() => collectPaths(backend.iterFiles(at("f"))), "NOT_DIRECTORY", "a file");
    },
  },
  {
    name: "iterFiles: can be left early",
    reads: true,
    run: async ({ backend, at, seed, root }) => {
      await seed({ a: "", b: "", c: "" });
      let first = "";
      for await (const file of backend.iterFiles(root)) {
        first = file;
        break;
      }
      assertEqual(first, at("a"), "the first file");
    },
  },
  {
    name: "glob: one rule for all: no slash means any depth",
    reads: true,
    run: async (context) => {
      const { seed } = context;
      await seed({ "a.ts": "", "src/b.ts": "", "src/deep/c.ts": "", "src/d.js": "", ".h/e.ts": "" });
      const table: readonly (readonly [string, readonly string[]])[] = [
        ["*.ts", [".h/e.ts", "a.ts", "src/b.ts", "src/deep/c.ts"]],
        ["**/*.ts", [".h/e.ts", "a.ts", "src/b.ts", "src/deep/c.ts"]],
        ["src/*.ts", ["src/b.ts"]],
        ["src/**", ["src/b.ts", "src/d.js", "src/deep/c.ts"]],
        ["src/*.{ts,js}", ["src/b.ts", "src/d.js"]],
        ["[ab].ts", ["a.ts", "src/b.ts"]],
        ["?.js", ["src/d.js"]],
        ["*.rs", []],
      ];
      for (const [pattern, expected] of table)
        assertEqual(await globbedPaths(context, pattern), expected, pattern);
      assertEqual(
        await globbedPaths(context, "*.ts", context.at("src")),
        ["src/b.ts", "src/deep/c.ts"],
        "below src",
      );
    },
  },
  {
    name: "glob: directories are no files; a broken pattern is INVALID_GLOB",
    reads: true,
    run: async (context) => {
      await context.seed({ "d.ts/f": "" });
      assertEqual(await globbedPaths(context, "*.ts"), [], "a directory of that name");
      await assertFails(
        () => context.backend.glob("[", { root: context.root }),
        "INVALID_GLOB",
        "an open class",
      );
    },
  },
];
