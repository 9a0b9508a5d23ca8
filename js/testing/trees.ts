/**
 * Test cases for moving, copying and removing. They use the fallback functions, which shows that a backend
 * without these capabilities can serve the tools, too.
 */
import { lstatOrNull, listPageVia, readVersioned, writeVia } from "../backends/fallback/fallback.ts";
import { copyFileVia, copyTreeVia, removeTreeVia, renameVia } from "../backends/fallback/fallback-tree.ts";
import { assertEqual, assertFails, type Context, type ContractCase } from "./case.ts";

const utf8Bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function fileTextsBelowRoot({ backend, root }: Context): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const file of backend.iterFiles(root))
    found[file.slice(root.length + 1)] = await backend.readText(file);
  return found;
}

/** The cases about whole trees and the fallbacks. */
export const treeCases: readonly ContractCase[] = [
  {
    name: "rename: files and directories with what is in them",
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ f: "1", "d/a": "2", "d/e/b": "3" });
      await renameVia(backend, at("f"), at("g"));
      await renameVia(backend, at("d"), at("moved"));
      assertEqual(
        await fileTextsBelowRoot(context),
        { g: "1", "moved/a": "2", "moved/e/b": "3" },
        "the files",
      );
      assertEqual(await backend.exists(at("d")), false, "the old directory");
    },
  },
  {
    name: "rename: replaces only with overwrite",
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ f: "new", g: "old" });
      await assertFails(() => renameVia(backend, at("f"), at("g")), "ALREADY_EXISTS", "without overwrite");
      assertEqual(await fileTextsBelowRoot(context), { f: "new", g: "old" }, "nothing has moved");
      await renameVia(backend, at("f"), at("g"), { overwrite: true });
      assertEqual(await fileTextsBelowRoot(context), { g: "new" }, "replaced");
    },
  },
  {
    name: "rename: what cannot be is refused and changes nothing",
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ f: "1", "d/a": "2", "e/b": "3" });
      const overwrite = { overwrite: true };
      await assertFails(() => renameVia(backend, at("gone"), at("x")), "NOT_FOUND", "nothing to move");
      await assertFails(() => renameVia(backend, at("f"), at("no/x")), "NOT_FOUND", "no parent");
      await assertFails(() => renameVia(backend, at("d"), at("d/in")), "INVALID_ARGUMENT", "into itself");
      await assertFails(
        () => renameVia(backend, at("f"), at("d"), overwrite),
        "IS_DIRECTORY",
        "a file onto a directory",
      );
      await assertFails(
        () => renameVia(backend, at("d"), at("f"), overwrite),
        "NOT_DIRECTORY",
        "a directory onto a file",
      );
      await assertFails(
        () => renameVia(backend, at("d"), at("e"), overwrite),
        "NOT_EMPTY",
        "onto a full directory",
      );
      await assertFails(
        () => renameVia(backend, at("f"), at(`${"n".repeat(256)}`)),
        "NAME_TOO_LONG",
        "a long name",
      );
      assertEqual(await fileTextsBelowRoot(context), { f: "1", "d/a": "2", "e/b": "3" }, "the files");
    },
  },
  {
    name: "copyFile: content and mode, and the original stays",
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ f: "content" });
      await backend.chmod?.(at("f"), 0o750);
      await copyFileVia(backend, at("f"), at("g"));
      assertEqual(await fileTextsBelowRoot(context), { f: "content", g: "content" }, "the files");
      if (backend.chmod !== undefined) assertEqual((await backend.stat(at("g"))).mode, 0o750, "the mode");
      await assertFails(() => copyFileVia(backend, at("f"), at("g")), "ALREADY_EXISTS", "without overwrite");
      await backend.writeText(at("f"), "second");
      await copyFileVia(backend, at("f"), at("g"), { overwrite: true });
      assertEqual(await backend.readText(at("g")), "second", "with overwrite");
    },
  },
  {
    name: "copyFile: what cannot be is refused",
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1", g: "2" });
      await assertFails(() => copyFileVia(backend, at("gone"), at("x")), "NOT_FOUND", "nothing to copy");
      await assertFails(() => copyFileVia(backend, at("d"), at("x")), "IS_DIRECTORY", "a directory");
      await assertFails(() => copyFileVia(backend, at("g"), at("no/x")), "NOT_FOUND", "no parent");
      await assertFails(
        () => copyFileVia(backend, at("g"), at("d"), { overwrite: true }),
        "IS_DIRECTORY",
        "onto a directory",
      );
      await assertFails(
        () => copyFileVia(backend, at("g"), at("g"), { overwrite: true }),
        "SAME_FILE",
        "onto itself",
      );
    },
  },
  {
    name: "rename and copyFile: of two faults a missing source is told",
    run: async ({ backend, at }) => {
      for (const run of [renameVia, copyFileVia])
        for (const overwrite of [false, true])
          await assertFails(() => run(backend, at("gone"), at("gone"), { overwrite }), "NOT_FOUND", run.name);
    },
  },
  {
    name: "chmod: a directory has the bits it was given",
    needs: ["chmod"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1" });
      await backend.chmod?.(at("d"), 0o700);
      assertEqual((await backend.stat(at("d"))).mode, 0o700, "the directory");
      assertEqual(await backend.readText(at("d/f")), "1", "what is in it");
    },
  },
  {
    name: "rename: no write-protected file is replaced",
    needs: ["chmod"],
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ a: "new", b: "old" });
      await backend.chmod?.(at("b"), 0o444);
      const moving = () => renameVia(backend, at("a"), at("b"), { overwrite: true });
      await assertFails(moving, "PERMISSION_DENIED", "onto a file without write permission");
      assertEqual(await fileTextsBelowRoot(context), { a: "new", b: "old" }, "the files");
    },
  },
  {
    name: "copyTree: everything, counted; merged with overwrite",
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ "s/a": "11", "s/e/b": "222", "t/a": "old", "t/c": "kept" });
      await backend.mkdir(at("s/empty"));
      assertEqual(
        await copyTreeVia(backend, at("s"), at("n")),
        { files: 2, directories: 3, bytes: 5 },
        "the counts",
      );
      assertEqual((await backend.stat(at("n/empty"))).isDir, true, "an empty directory");
      await assertFails(() => copyTreeVia(backend, at("s"), at("t")), "ALREADY_EXISTS", "without overwrite");
      await copyTreeVia(backend, at("s"), at("t"), { overwrite: true });
      const files = await fileTextsBelowRoot(context);
      assertEqual([files["t/a"], files["t/c"], files["t/e/b"]], ["11", "kept", "222"], "the merged tree");
      assertEqual([files["n/a"], files["n/e/b"]], ["11", "222"], "the new tree");
    },
  },
  {
    name: "copyTree: into itself INVALID_ARGUMENT, and nothing is left behind",
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ "s/a": "1" });
      await assertFails(() => copyTreeVia(backend, at("s"), at("s/in")), "INVALID_ARGUMENT", "into itself");
      await assertFails(() => copyTreeVia(backend, at("gone"), at("x")), "NOT_FOUND", "nothing to copy");
      assertEqual(await fileTextsBelowRoot(context), { "s/a": "1" }, "the files");
    },
  },
  {
    name: "copyTree: links stay links",
    needs: ["symlink", "readLink"],
    run: async ({ backend, at, seed }) => {
      await seed({ "s/a": "1" });
      await backend.symlink?.("a", at("s/l"));
      await copyTreeVia(backend, at("s"), at("n"));
      assertEqual(await backend.readLink?.(at("n/l")), "a", "the copied link");
    },
  },
  {
    name: "copyTree: what stands in the way is told before anything is changed",
    run: async (context) => {
      const { backend, at, seed } = context;
      const before = {
        "s/a": "new",
        "s/b": "1",
        "s/e/f": "2",
        "t/a": "old",
        "t/b/x": "in the way",
        "u/e": "too",
      };
      await seed(before);
      const onto = (to: string) => () => copyTreeVia(backend, at("s"), at(to), { overwrite: true });
      await assertFails(onto("t"), "IS_DIRECTORY", "a file onto a directory");
      await assertFails(onto("u"), "NOT_DIRECTORY", "a directory onto a file");
      await assertFails(onto("u/e"), "NOT_DIRECTORY", "the tree itself onto a file");
      assertEqual(await fileTextsBelowRoot(context), before, "the files");
    },
  },
  {
    name: "copyTree: no write-protected file is replaced",
    needs: ["chmod"],
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ "s/a": "new", "s/b": "new", "t/a": "old", "t/b": "old" });
      await backend.chmod?.(at("t/b"), 0o444);
      const copying = () => copyTreeVia(backend, at("s"), at("t"), { overwrite: true });
      await assertFails(copying, "PERMISSION_DENIED", "onto a file without write permission");
      const files = await fileTextsBelowRoot(context);
      assertEqual([files["t/a"], files["t/b"]], ["old", "old"], "the files");
    },
  },
  {
    name: "copyTree: a link in the way is replaced by a file and refuses a directory, and is never followed",
    needs: ["symlink", "lstat"],
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ "s/a": "1", "t/kept": "kept", "d/x": "x" });
      await backend.symlink?.("kept", at("t/a"));
      await backend.symlink?.("s", at("itself"));
      await backend.symlink?.("circle", at("circle"));
      for (const to of ["itself", "circle"]) {
        const copying = () => copyTreeVia(backend, at("s"), at(to), { overwrite: true });
        await assertFails(copying, "NOT_DIRECTORY", `a directory onto the link ${to}`);
      }
      await copyTreeVia(backend, at("s"), at("t"), { overwrite: true });
      const files = await fileTextsBelowRoot(context);
      assertEqual([files["t/a"], files["t/kept"], files["s/a"]], ["1", "kept", "1"], "the files");
      assertEqual((await backend.lstat?.(at("t/a")))?.type, "file", "the link");
    },
  },
  {
    name: "copyTree: into itself through a link INVALID_ARGUMENT",
    needs: ["symlink", "realpath"],
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ "s/a": "1" });
      await backend.symlink?.("s", at("l"));
      await assertFails(() => copyTreeVia(backend, at("s"), at("l/in")), "INVALID_ARGUMENT", "into itself");
      assertEqual(await fileTextsBelowRoot(context), { "s/a": "1" }, "the files");
    },
  },
  {
    name: "removeTree: everything below, counted; links are not followed",
    run: async (context) => {
      const { backend, at, seed } = context;
      await seed({ "d/a": "11", "d/e/b": "222", kept: "x" });
      await backend.symlink?.("../kept", at("d/l"));
      const linked = backend.symlink === undefined ? 0 : 1;
      assertEqual(
        await removeTreeVia(backend, at("d")),
        { files: 2 + linked, directories: 2, bytes: 5 },
        "the counts",
      );
      assertEqual(await fileTextsBelowRoot(context), { kept: "x" }, "the files");
      await assertFails(() => removeTreeVia(backend, at("d")), "NOT_FOUND", "once more");
      assertEqual((await removeTreeVia(backend, at("kept"))).files, 1, "a single file");
    },
  },
  {
    name: "listPage: every entry once, whatever the size of the pages",
    run: async ({ backend, at, seed, root }) => {
      await seed({ "d/x": "", "c/x": "", a: "", b: "", e: "" });
      for (const limit of [1, 2, 5, 100]) {
        const names: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await listPageVia(backend, root, { cursor, limit });
          names.push(...page.entries.map((entry) => entry.name));
          cursor = page.next;
        } while (cursor !== undefined);
        assertEqual(names, ["c", "d", "a", "b", "e"], `pages of ${limit}`);
      }
      await assertFails(() => listPageVia(backend, root, { limit: 0 }), "INVALID_ARGUMENT", "an empty page");
      await assertFails(
        () => listPageVia(backend, at("gone"), { limit: 1 }),
        "NOT_FOUND",
        "a missing directory",
      );
    },
  },
  {
    name: "fall-backs: versions and conditions hold on any backend",
    run: async ({ backend, at, root }) => {
      const path = at("new/f");
      await assertFails(() => writeVia(backend, path, utf8Bytes("x")), "NOT_FOUND", "no parent");
      await assertFails(
        () => writeVia(backend, path, utf8Bytes("x"), { createDirs: true, ifVersion: "none" }),
        ["CONFLICT", "NOT_FOUND"],
        "a version of nothing",
      );
      assertEqual(await backend.listDir(root), [], "nothing was made");
      await writeVia(backend, path, utf8Bytes("one"), { createDirs: true, ifAbsent: true });
      await assertFails(
        () => writeVia(backend, path, utf8Bytes("x"), { ifAbsent: true }),
        "ALREADY_EXISTS",
        "ifAbsent",
      );
      const first = await readVersioned(backend, path);
      assertEqual(new TextDecoder().decode(first?.bytes), "one", "the content");
      const { version } = await writeVia(backend, path, utf8Bytes("two"), { ifVersion: first?.version });
      await assertFails(
        () => writeVia(backend, path, utf8Bytes("x"), { ifVersion: first?.version }),
        "CONFLICT",
        "an old version",
      );
      assertEqual(
        await readVersioned(backend, path, { ifNoneMatch: version }),
        null,
        "the version of the write",
      );
      await assertFails(() => readVersioned(backend, path, { maxBytes: 2 }), "TOO_LARGE", "maxBytes");
      assertEqual(await lstatOrNull(backend, at("gone")), null, "facts of nothing");
    },
  },
];
