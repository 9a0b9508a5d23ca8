/** Test cases for symbolic links: symlink, readLink, lstat, realpath. */
import { writeVia } from "../backends/fallback/fallback.ts";
import { copyFileVia, renameVia } from "../backends/fallback/fallback-tree.ts";
import { assertEqual, assertFails, type ContractCase } from "./case.ts";

/** The cases about links. They are skipped on a backend without links. */
export const linkCases: readonly ContractCase[] = [
  {
    name: "links: followed by reads and by stat, shown by lstat and readLink",
    needs: ["symlink", "lstat", "readLink"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "12345" });
      await backend.symlink?.("d/f", at("l"));
      assertEqual(await backend.readText(at("l")), "12345", "the content behind a link");
      const followed = await backend.stat(at("l"));
      assertEqual([followed.path, followed.type, followed.size], [at("l"), "file", 5], "stat");
      const itself = await backend.lstat?.(at("l"));
      assertEqual([itself?.type, itself?.isFile, itself?.target], ["symlink", false, "d/f"], "lstat");
      assertEqual(await backend.readLink?.(at("l")), "d/f", "readLink");
      await assertFails(() => backend.readLink?.(at("d/f")), "INVALID_ARGUMENT", "readLink of a file");
      await assertFails(() => backend.readLink?.(at("gone")), "NOT_FOUND", "readLink of nothing");
    },
  },
  {
    name: "links: to directories, absolute ones and chains lead where they say",
    needs: ["symlink"],
    run: async ({ backend, at, seed }) => {
      await seed({ "a/b/f": "deep", "a/f": "mid", f: "top" });
      await backend.symlink?.("a/b", at("rel"));
      await backend.symlink?.(at("a"), at("abs"));
      await backend.symlink?.("rel", at("chain"));
      await backend.symlink?.("rel/../f", at("up"));
      assertEqual(await backend.readText(at("rel/f")), "deep", "a relative link");
      assertEqual(await backend.readText(at("abs/b/f")), "deep", "an absolute link");
      assertEqual(await backend.readText(at("chain/f")), "deep", "a link to a link");
      assertEqual(await backend.readText(at("up")), "mid", "`..` in a target is the real parent");
      assertEqual(
        (await backend.listDir(at("rel"))).map((entry) => entry.path),
        [at("rel/f")],
        "a listing through a link",
      );
    },
  },
  {
    name: "links: dangling ones exist only for lstat",
    needs: ["symlink", "lstat"],
    run: async ({ backend, at }) => {
      await backend.symlink?.("gone", at("l"));
      assertEqual(await backend.exists(at("l")), false, "exists");
      assertEqual((await backend.lstat?.(at("l")))?.type, "symlink", "lstat");
      await assertFails(() => backend.stat(at("l")), "NOT_FOUND", "stat");
      await assertFails(() => backend.readText(at("l")), "NOT_FOUND", "readText");
    },
  },
  {
    name: "links: a dangling one is written through to a new file, and is no place for a directory",
    needs: ["symlink"],
    run: async ({ backend, at }) => {
      await backend.symlink?.("new", at("l"));
      await assertFails(() => backend.mkdir(at("l")), "ALREADY_EXISTS", "mkdir onto the link");
      assertEqual(await backend.exists(at("new")), false, "nothing was made behind it");
      await backend.writeText(at("l"), "made");
      assertEqual(await backend.readText(at("new")), "made", "the new file");
      await backend.symlink?.("no/such", at("deep"));
      await assertFails(() => backend.writeText(at("deep"), "x"), "NOT_FOUND", "no parent behind the link");
    },
  },
  {
    name: "links: a circle is LOOP, thirty in a row are followed",
    needs: ["symlink"],
    run: async ({ backend, at, seed }) => {
      await backend.symlink?.("b", at("a"));
      await backend.symlink?.("a", at("b"));
      await assertFails(() => backend.readText(at("a")), "LOOP", "a circle");
      assertEqual(await backend.exists(at("a")), false, "exists");
      await seed({ l0: "end" });
      for (let i = 1; i <= 45; i++) await backend.symlink?.(`l${i - 1}`, at(`l${i}`));
      assertEqual(await backend.readText(at("l30")), "end", "thirty");
      await assertFails(() => backend.readText(at("l45")), "LOOP", "forty-five");
    },
  },
  {
    name: "links: a write goes through, the link stays",
    needs: ["symlink", "lstat"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "old" });
      await backend.symlink?.("d/f", at("l"));
      await backend.writeText(at("l"), "new");
      assertEqual(await backend.readText(at("d/f")), "new", "the target's content");
      assertEqual((await backend.lstat?.(at("l")))?.type, "symlink", "the link");
    },
  },
  {
    name: "links: delete takes the link and leaves the target",
    needs: ["symlink"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "kept" });
      await backend.symlink?.("d", at("l"));
      await backend.delete(at("l"));
      assertEqual(await backend.readText(at("d/f")), "kept", "the target");
      assertEqual(await backend.exists(at("l")), false, "the link");
    },
  },
  {
    name: "links: listed as links, neither entered nor given by walks",
    needs: ["symlink"],
    run: async ({ backend, at, seed, root }) => {
      await seed({ "d/f": "1" });
      await backend.symlink?.("d", at("dl"));
      await backend.symlink?.("d/f", at("fl"));
      await backend.symlink?.(".", at("d/self"));
      assertEqual(
        (await backend.listDir(root)).map((entry) => [entry.name, entry.type, entry.target ?? ""]),
        [
          ["d", "dir", ""],
          ["dl", "symlink", "d"],
          ["fl", "symlink", "d/f"],
        ],
        "the listing",
      );
      const files: string[] = [];
      for await (const file of backend.iterFiles(root)) files.push(file);
      assertEqual(files, [at("d/f")], "iterFiles");
    },
  },
  {
    name: "glob: gives no links and nothing behind them",
    needs: ["symlink"],
    run: async ({ backend, at, seed, root }) => {
      await seed({ "d/f": "1" });
      await backend.symlink?.("d", at("dl"));
      await backend.symlink?.("d/f", at("fl"));
      assertEqual(await backend.glob("**", { root }), [at("d/f")], "glob");
    },
  },
  {
    name: "links: an occupied name is ALREADY_EXISTS, for ifAbsent a dangling link counts",
    needs: ["symlink", "read"],
    run: async ({ backend, at, seed }) => {
      await seed({ f: "1" });
      await assertFails(() => backend.symlink?.("x", at("f")), "ALREADY_EXISTS", "onto a file");
      await backend.symlink?.("gone", at("l"));
      await assertFails(
        () => backend.writeText(at("l"), "x", { ifAbsent: true }),
        "ALREADY_EXISTS",
        "onto a dangling link",
      );
      assertEqual(await backend.exists(at("gone")), false, "nothing was made behind the link");
    },
  },
  {
    name: "realpath: without links, missing last names kept",
    needs: ["symlink", "realpath"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1" });
      await backend.symlink?.("d", at("l"));
      assertEqual(await backend.realpath?.(at("l/f")), at("d/f"), "through a link");
      assertEqual(await backend.realpath?.(at("l/new/er")), at("d/new/er"), "a path that is not there yet");
      assertEqual(await backend.realpath?.(at("d/f")), at("d/f"), "without links");
    },
  },
  {
    name: "realpath: a missing end is kept before a slash, not before a dot",
    needs: ["symlink", "realpath"],
    run: async ({ backend, at }) => {
      await backend.symlink?.("gone/", at("slash"));
      await backend.symlink?.("gone/.", at("dot"));
      assertEqual(await backend.realpath?.(at("slash")), at("gone"), "a link to what may become a directory");
      await assertFails(
        () => backend.realpath?.(at("dot")),
        "NOT_FOUND",
        "a link to what must be a directory",
      );
    },
  },
  {
    name: "symlink: a target that no link can hold is refused",
    needs: ["symlink", "lstat"],
    run: async ({ backend, at }) => {
      await backend.symlink?.("x".repeat(4_095), at("longest"));
      await assertFails(
        () => backend.symlink?.("x".repeat(4_096), at("longer")),
        "NAME_TOO_LONG",
        "4,096 bytes",
      );
      await assertFails(() => backend.symlink?.("", at("empty")), "INVALID_ARGUMENT", "an empty target");
      assertEqual(
        (await backend.listDir(at(""))).map(({ name }) => name),
        ["longest"],
        "the links",
      );
    },
  },
  {
    name: "mkdir: a link that leads nowhere or in a circle is there",
    needs: ["symlink", "readLink"],
    run: async ({ backend, at }) => {
      for (const target of ["gone", "gone/..", "l"]) {
        await backend.symlink?.(target, at("l"));
        await assertFails(() => backend.mkdir(at("l")), "ALREADY_EXISTS", `a link to ${target}`);
        assertEqual(await backend.readLink?.(at("l")), target, "the link");
        await backend.delete(at("l"));
      }
    },
  },
  {
    name: "write: missing parents are made where a link leads to them",
    needs: ["symlink", "realpath"],
    run: async ({ backend, at }) => {
      await backend.symlink?.("gone/deep", at("l"));
      await writeVia(backend, at("l/f"), new TextEncoder().encode("1"), { createDirs: true });
      assertEqual(await backend.readText(at("gone/deep/f")), "1", "the file");
      assertEqual((await backend.lstat?.(at("l")))?.type, "symlink", "the link");
    },
  },
  {
    name: "rename: a link in the way is replaced, and what it leads to stays",
    needs: ["symlink", "lstat"],
    run: async ({ backend, at, seed }) => {
      await seed({ a: "new", b: "kept", "d/c": "kept" });
      for (const target of ["b", "d", "gone", "l"]) {
        await backend.writeText(at("a"), "new");
        await backend.symlink?.(target, at("l"));
        await renameVia(backend, at("a"), at("l"), { overwrite: true });
        assertEqual((await backend.lstat?.(at("l")))?.type, "file", `what was a link to ${target}`);
        assertEqual(await backend.readText(at("l")), "new", `the content in place of a link to ${target}`);
        await backend.delete(at("l"));
      }
      assertEqual(await backend.readText(at("b")), "kept", "the file that the link led to");
      assertEqual(
        (await backend.listDir(at("d"))).map(({ name }) => name),
        ["c"],
        "the directory",
      );
      assertEqual(await backend.exists(at("gone")), false, "what was not there");
    },
  },
  {
    name: "rename and copyFile: through a link onto itself SAME_FILE",
    needs: ["symlink", "realpath"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1" });
      await backend.symlink?.("d", at("e"));
      await backend.symlink?.("d/f", at("l"));
      for (const [from, to] of [
        ["d/f", "e/f"],
        ["d", "d"],
        ["l", "l"],
      ] as const)
        await assertFails(
          () => renameVia(backend, at(from), at(to), { overwrite: true }),
          "SAME_FILE",
          `${from} onto ${to}`,
        );
      for (const to of ["l", "e/f"])
        await assertFails(
          () => copyFileVia(backend, at("d/f"), at(to), { overwrite: true }),
          "SAME_FILE",
          `a copy onto ${to}`,
        );
      assertEqual(await backend.readText(at("l")), "1", "the file");
    },
  },
  {
    name: "rename and delete of a link: the link itself",
    needs: ["symlink", "rename", "readLink"],
    run: async ({ backend, at, seed }) => {
      await seed({ "d/f": "1" });
      await backend.symlink?.("d", at("l"));
      await backend.rename?.(at("l"), at("m"));
      assertEqual(await backend.readLink?.(at("m")), "d", "the moved link");
      assertEqual(await backend.exists(at("l")), false, "the old name");
      assertEqual(await backend.readText(at("d/f")), "1", "the target");
    },
  },
];
