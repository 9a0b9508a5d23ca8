/**
 * Expectations of the filesystem server for paths: which are allowed, what they mean, which
 * roots a client may name (its `path-utils.test.ts`, `path-validation.test.ts`,
 * `roots-utils.test.ts`, and `validatePath` of `lib.test.ts`).
 */
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { type Scratch, refusal, refused, type UnitCase } from "./units.ts";

const P = "/home/user/project";

/** Checks of a path against directories: the path, the directories, allowed or not. */
const LOCATED: Readonly<Record<string, readonly (readonly [unknown, unknown, boolean])[]>> = {
  "a directory and what is below it": [
    [P, [P], true],
    [`${P}/src`, [P], true],
    [`${P}/src/index.js`, [P], true],
    [`${P}/deep/er/file`, [P], true],
  ],
  "a name that only begins alike": ["2", "_backup", "-old", "ile", ".bak", "2/", "/../project2"].map(
    (end) => [P + end, [P], false],
  ),
  "what lies elsewhere": ["/home/user/other", "/etc/passwd", "/home/user", "/"].map((path) => [
    path,
    [P],
    false,
  ]),
  "several directories": [
    ["/a/one/src", ["/a/one", "/a/two"], true],
    ["/a/two/src", ["/a/one", "/a/two"], true],
    ["/a/three", ["/a/one", "/a/two"], false],
    ["/a/one_backup", ["/a/one", "/a/two"], false],
    ["/a/two-old", ["/a/one", "/a/two"], false],
  ],
  "parents and siblings": ["/test", "/", "/test/allowed_sibling", "/test/allowed2"].map((path) => [
    path,
    ["/test/allowed"],
    false,
  ]),
  "brackets and spaces": [
    ["/h/my-project (v2)/src", ["/h/my-project (v2)"], true],
    ["/h/my-project (v2)_backup", ["/h/my-project (v2)"], false],
    ["/h/my-project", ["/h/my-project (v2)"], false],
    ["/h/my project/file", ["/h/my project"], true],
    ["/h/my", ["/h/my project"], false],
    ["/h/my proj", ["/h/my project"], false],
  ],
  "no path, no directory": [
    ["", [P], false],
    [P, [], false],
  ],
  "slashes at the end, and doubled": [
    [`${P}/`, [P], true],
    [`${P}///`, [P], true],
    [P, [`${P}/`], true],
    [`${P}/`, [`${P}/`], true],
    [`${P}2`, [`${P}/`], false],
    [`${P}2/`, [P], false],
    ["/home//user//project//src", [P], true],
    ["/home/user//project2", [P], false],
  ],
  "relative paths begin at the working directory": [
    ["relative/path", [process.cwd()], true],
    ["./file", [process.cwd()], true],
    ["../parent", [P], false],
    ["/some/other/file", ["relative/path", "/some/other"], true],
    ["/path/file", ["relative/path", "/some/other"], false],
  ],
  "what is no text": [
    ...[123, {}, [], null, undefined].map((path) => [path, [P], false] as const),
    ["/path", null, false],
    ["/path", undefined, false],
  ],
  "directories that are no text": [
    [P, [123], false],
    [P, [{}], false],
  ],
  "accents, composed and not": [
    ["/h/caf\u00e9/file", ["/h/caf\u00e9"], true],
    ["/h/cafe\u0301", ["/h/caf\u00e9"], false],
  ],
  "directories in each other": ["/home/any", "/home/user/any", `${P}/any`, "/home/other/deep"].map((path) => [
    path,
    ["/home", "/home/user", P],
    true,
  ]),
  everything: ["/", "/any/path", "/etc/passwd"].map((path) => [path, ["/"], true]),
  "dots that lead out": [
    [`${P}/../../../etc/passwd`, [P], false],
    [`${P}/../../other`, [P], false],
    [`${P}/src/../../project2`, [P], false],
    [`${P}/./../../other`, [P], false],
    [`${P}/../project/../../../etc`, [P], false],
    [`${P}/..`, [P], false],
  ],
  "dots that stay": ["..test", "test..", "te..st", ".", "...", "....", "./src"].map((name) => [
    `${P}/${name}`,
    [P],
    true,
  ]),
  "dots in a directory": [
    ["/home/user/safe/file", [`${P}/../safe`], true],
    [`${P}/file`, [`${P}/../safe`], false],
    [`${P}/file`, ["/home/user/../user/project"], true],
    ["/home/user/other", ["/home/user/../user/project"], false],
  ],
  "NUL in a path": [`${P}\0/etc/passwd`, `${P}/test\0.txt`, `\0${P}`, `${P}/\0`].map((path) => [
    path,
    [P],
    false,
  ]),
  "NUL in a directory": [[P, [`${P}\0`], false]],
  "percent signs mean themselves": [
    ...["report_50%.pdf", "%41", "%2e%2e", "file%20name"].map((name) => [`${P}/${name}`, [P], true] as const),
    ["/h/a%20b/test", ["/h/a%20b"], true],
    ["/h/a b/test", ["/h/a%20b"], false],
  ],
  "long paths": [
    [`${P}/${"a/".repeat(1000)}file.txt`, [P], true],
    [`${P}/${"a/".repeat(1000)}${"../".repeat(1001)}etc/passwd`, [P], false],
  ],
};

const located = Object.entries(LOCATED).map(
  ([name, rows]): UnitCase => ({
    of: "path-validation isPathWithinAllowedDirectories",
    name,
    async run({ isPathWithinAllowedDirectories: within }) {
      const given: unknown[] = [];
      for (const [path, allowed] of rows) given.push([path, allowed, await within(path, allowed)]);
      return given;
    },
    gives: rows.map(([path, allowed, yes]) => [path, allowed, yes]),
  }),
);

/** A case of `normalizePath`: the path in its shortest form. */
export const meant = (path: string, gives: string): UnitCase => ({
  of: "path-utils normalizePath",
  name: JSON.stringify(path),
  run: ({ normalizePath }) => normalizePath(path),
  gives,
});

/** The path that is used for a path that is asked for. */
const validated = (
  name: string,
  asked: (at: Scratch) => string | Promise<string>,
  gives: string,
): UnitCase => ({
  of: "lib validatePath",
  name,
  run: async ({ validatePath }, at) => at.short(await validatePath(await asked(at))),
  gives,
});

const ROOTS: readonly UnitCase[] = [
  {
    of: "roots-utils getValidRootDirectories",
    name: "URIs and plain paths, with and without a name",
    async run({ getValidRootDirectories }, at) {
      const third = `${at.outside}/third`;
      await mkdir(third);
      const roots = [
        { uri: `file://${at.allowed}`, name: "one" },
        { uri: at.outside, name: "two" },
        { uri: third },
      ];
      return (await getValidRootDirectories(roots)).map(at.short);
    },
    gives: ["allowed", "outside", "outside/third"],
  },
  {
    of: "roots-utils getValidRootDirectories",
    name: "dots are resolved",
    async run({ getValidRootDirectories }, at) {
      await mkdir(`${at.allowed}/sub`);
      return (await getValidRootDirectories([{ uri: `file://${at.allowed}/./sub/../sub` }])).map(at.short);
    },
    gives: ["allowed/sub"],
  },
  {
    of: "roots-utils getValidRootDirectories",
    name: "what is missing, a file or no path is passed over",
    async run({ getValidRootDirectories }, at) {
      const file = await at.file("file.txt");
      const uris = [
        `file://${at.allowed}`,
        `file://${at.outside}/none`,
        `file://${file}`,
        "file://\0bad\0path",
      ];
      return (await getValidRootDirectories(uris.map((uri) => ({ uri })))).map(at.short);
    },
    gives: ["allowed"],
  },
];

/** Cases with the same result on both servers. */
export const PATH_CASES: readonly UnitCase[] = [
  ...located,
  ...[
    "/usr/local/bin",
    "/home/user/some path",
    "/",
    "/mnt/c/My Content",
    "/mnt/c/N/Sub&Folder",
    "/c/N/Content",
  ].map((path) => meant(path, path)),
  meant("/Users/N~1/F~2/P12~1", "/Users/N~1/F~2/P12~1"),
  meant("/usr/local//bin/app///", "/usr/local/bin/app"),
  meant("///", "/"),
  ...(
    [
      ["~/test", `${homedir()}/test`],
      ["~", homedir()],
      ["C:/test", "C:/test"],
    ] as const
  ).map(
    ([path, gives]): UnitCase => ({
      of: "path-utils expandHome",
      name: path,
      run: async ({ expandHome }) => (await expandHome(path)).replace(/\/$/u, ""),
      gives,
    }),
  ),

  validated("a file that is there", (at) => at.file("there.txt"), "allowed/there.txt"),
  validated("a file that is to be made", (at) => `${at.allowed}/new.txt`, "allowed/new.txt"),
  validated(
    "a relative path begins at the first directory, not at the process's",
    () => "new.txt",
    "allowed/new.txt",
  ),
  validated(
    "directories are made for a new file",
    (at) => `${at.allowed}/a/b/new.txt`,
    "allowed/a/b/new.txt",
  ),
  {
    of: "lib validatePath",
    name: "what is not allowed is refused in these words",
    run: ({ validatePath }) => refusal(validatePath("/etc/passwd")),
    gives: "Access denied - path outside allowed directories",
  },
  {
    of: "lib validatePath",
    name: "a new file in a directory that is gone with all above it is refused",
    async run({ validatePath }, at) {
      await rm(at.allowed, { recursive: true });
      return refused(validatePath(`${at.allowed}/none/new.txt`));
    },
    gives: true,
  },
  ...ROOTS,
];
