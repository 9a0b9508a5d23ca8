/**
 * Test cases for links, and for moving, copying and removing. They call the fallback functions, which shows that a backend
 * without these methods can serve the tools, too.
 */
import { type ContractCase, DONE, refused, steps } from "./case.ts";

const OVERWRITE = { overwrite: true };
const CHAIN = Object.fromEntries(Array.from({ length: 45 }, (_, i) => [`l${i + 1}`, `-> l${i}`]));
const LINKED = { "a/b/f": "deep", "a/f": "mid", "d/f": "12345", "a/rel": "-> b" };

/** The cases about links. They are skipped on a backend without links. */
const linkCases: readonly ContractCase[] = [
  {
    name: "links: each path through them leads where the kernel's would",
    needs: ["links"],
    files: {
      ...{ ...LINKED, rel: "-> a/b", chain: "-> rel", up: "-> rel/../f", l: "-> d/f", l0: "end", ...CHAIN },
      ...{ gone: "-> none", one: "-> other", other: "-> one", deep: "-> no/such", "d/self": "-> ." },
      ...{ dot: "-> none/..", itself: "-> d", abs: "-> /a" },
    },
    ...steps([
      ["readText", "rel/f chain/f abs/b/f", "deep"],
      ["readText", "up", "mid"],
      ["readText", "l", "12345"],
      ["readText", "l30", "end"],
      ["stat", "l", 5],
      ["lstat", "l gone", "symlink"],
      ["readLink", "l", "d/f"],
      ["readLink", "d/f", refused("INVALID_ARGUMENT")],
      ["readLink", "none", refused("NOT_FOUND")],
      ["listDir", "rel", ["rel/f"]],
      ["listDir", "a", ["a/b", "a/f", "a/rel"]],
      ["iterFiles glob", "a", ["a/b/f", "a/f"], "**"],
      ["iterFiles", "d", ["d/f"]],
      ["exists", "gone one", false],
      ["stat readBytes", "gone", refused("NOT_FOUND")],
      ["readText", "one l45", refused("LOOP")],
      ["mkdir", "gone one dot", refused("ALREADY_EXISTS")],
      ["writeText", "deep", refused("NOT_FOUND"), "x"],
      ["writeBytes", "gone", refused("ALREADY_EXISTS"), "x", { ifAbsent: true }],
      ["symlink", "d/f", refused("ALREADY_EXISTS"), "x"],
      ["symlink", "new", refused("NAME_TOO_LONG"), "x".repeat(4_096)],
      ["symlink", "new", refused("INVALID_ARGUMENT"), ""],
      ["copyFile", "d/f", refused("SAME_FILE"), "l", OVERWRITE],
      ["copyFile rename", "rel/f", refused("SAME_FILE"), "a/b/f", OVERWRITE],
      ["rename", "l", refused("SAME_FILE"), "l", OVERWRITE],
      ["copyTree", "a", refused("INVALID_ARGUMENT"), "rel/in"],
      ["copyTree", "d", refused("NOT_DIRECTORY"), "itself", OVERWRITE],
      ["copyTree", "d", refused("NOT_DIRECTORY"), "one", OVERWRITE],
    ]),
  },
  {
    name: "realpath: without links, missing last names kept",
    needs: ["links"],
    files: { "d/f": "1", l: "-> d", slash: "-> gone/", dot: "-> gone/." },
    ...steps([
      ["realpath", "l/f", "d/f"],
      ["realpath", "l/new/er", "d/new/er"],
      ["realpath", "d/f", "d/f"],
      ["realpath", "slash", "gone"],
      ["realpath", "dot", refused("NOT_FOUND")],
    ]),
  },
  {
    name: "links: are written through, and moved, copied, replaced and removed themselves",
    needs: ["links"],
    files: {
      "d/f": "old",
      b: "kept",
      l: "-> d/f",
      gone: "-> new",
      dl: "-> d",
      to: "-> far/off",
      "s/l": "-> ../b",
    },
    ...steps(
      [
        ["symlink", "longest", DONE, "x".repeat(4_095)],
        ["delete", "longest", DONE],
        ["writeText", "l", DONE, "through"],
        ["writeText", "gone", DONE, "made"],
        ["writeBytes", "to/f", DONE, "1", { createDirs: true }],
        ["rename", "dl", DONE, "moved"],
        ["delete", "moved", DONE],
        ["copyTree", "s", DONE, "n"],
        ...["b", "d", "none", "over"].flatMap((target) => [
          ["symlink", "over", DONE, target] as const,
          ["writeText", "a", DONE, target] as const,
          ["rename", "a", DONE, "over", OVERWRITE] as const,
          ["lstat", "over", "file"] as const,
          ["readText", "over", target] as const,
          ["delete", "over", DONE] as const,
        ]),
        ["symlink", "n/f", DONE, "../b"],
        ["copyTree", "d", DONE, "n", OVERWRITE],
        ["removeTree", "s", { files: 1, directories: 1, bytes: 0 }],
      ],
      {
        ...{ "d/f": "through", b: "kept", l: "-> d/f", gone: "-> new", new: "made", to: "-> far/off" },
        ...{ "far/off/f": "1", "n/l": "-> ../b", "n/f": "through" },
      },
    ),
  },
];

/** The cases about trees. */
const changingCases: readonly ContractCase[] = [
  {
    name: "trees: what cannot be moved, copied or removed has its code, and nothing is changed",
    files: { f: "1", g: "2", "d/a": "2", "d/e/x": "3", "t/a/x": "in the way", "u/e": "too", v: "(empty)" },
    ...steps([
      ["rename copyFile copyTree", "gone", refused("NOT_FOUND"), "x"],
      ["rename copyFile", "gone", refused("NOT_FOUND"), "gone"],
      ["rename copyFile", "gone", refused("NOT_FOUND"), "gone", OVERWRITE],
      ["rename copyFile", "f", refused("NOT_FOUND"), "no/x"],
      ["rename copyFile", "f", refused("ALREADY_EXISTS"), "g"],
      ["rename copyFile", "f", refused("IS_DIRECTORY"), "d", OVERWRITE],
      ["rename copyTree", "d", refused("INVALID_ARGUMENT"), "d/in"],
      ["rename", "d", refused("SAME_FILE"), "d", OVERWRITE],
      ["rename", "d", refused("NOT_DIRECTORY"), "f", OVERWRITE],
      ["rename", "d", refused("NOT_EMPTY"), "t", OVERWRITE],
      ["rename", "f", refused("NAME_TOO_LONG"), "n".repeat(256)],
      ["copyFile", "d", refused("IS_DIRECTORY"), "x"],
      ["copyFile", "f", refused("SAME_FILE"), "f", OVERWRITE],
      ["copyTree", "d", refused("ALREADY_EXISTS"), "t"],
      ["copyTree", "d", refused("IS_DIRECTORY"), "t", OVERWRITE],
      ["copyTree", "d", refused("NOT_DIRECTORY"), "u", OVERWRITE],
      ["copyTree", "d", refused("NOT_DIRECTORY"), "u/e", OVERWRITE],
      ["removeTree", "gone", refused("NOT_FOUND")],
    ]),
  },
  {
    name: "trees: files and directories are moved, copied and removed with what is in them",
    files: {
      f: "1",
      g: "old",
      "d/a": "22",
      "d/e/b": "333",
      "d/empty": "(empty)",
      "t/a": "old",
      "t/c": "kept",
    },
    ...steps(
      [
        ["copyTree", "d", { files: 2, directories: 3, bytes: 5 }, "n"],
        ["copyTree", "d", DONE, "t", OVERWRITE],
        ["rename", "d", DONE, "moved"],
        ["copyFile", "g", DONE, "copy"],
        ["copyFile", "f", DONE, "copy", OVERWRITE],
        ["rename", "f", DONE, "g", OVERWRITE],
        ["removeTree", "moved", { files: 2, directories: 3, bytes: 5 }],
        ["removeTree", "g", { files: 1, directories: 0, bytes: 1 }],
      ],
      {
        ...{ copy: "1", "n/a": "22", "n/e/b": "333", "n/empty": "(empty)" },
        ...{ "t/a": "22", "t/c": "kept", "t/e/b": "333", "t/empty": "(empty)" },
      },
    ),
  },
];

/** The cases about links and trees. */
export const treeCases: readonly ContractCase[] = [...linkCases, ...changingCases];
