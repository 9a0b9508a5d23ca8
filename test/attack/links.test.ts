/** Attacks by symbolic and hard links. */
import * as fs from "node:fs";
import { expect, test } from "vitest";
import {
  type Arm,
  ARMS,
  diskOf,
  type Row,
  runRows,
  type Seed,
  type Step,
  type World,
  world,
} from "./world.ts";

const OUTSIDE = "OUTSIDE_ALLOWED";
const content =
  (text: string): Step[2] =>
  (result) =>
    expect(result).toMatchObject({ ok: true, data: { content: text } });

/** Whatever reads or changes what stands behind a link that leads out. */
const through = (path: string): readonly Step[] => [
  ["read_file", { path }, OUTSIDE],
  ["write_file", { path, content: "PWN" }, OUTSIDE],
  ["write_file", { path, content: "PWN", append: true }, OUTSIDE],
  ["edit_file", { path, old_text: "SECRE", new_text: "PWN" }, OUTSIDE],
  ["apply_patch", { path, patch: "@@ -1 +1 @@\n-x\n+PWN\n" }, OUTSIDE],
  ["diff", { a: path, b: "f" }, OUTSIDE],
  ["grep", { pattern: "SECRE[T]", path }, OUTSIDE],
  ["stat", { path }, OUTSIDE],
  ["copy", { source: "f", destination: `${path}/f` }, [OUTSIDE, "NOT_DIRECTORY"]],
];

const chain = (count: number): Seed =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`c${at + 1}`, { link: at === 0 ? "f" : `c${at}` }]),
  );

const ROWS: readonly Row[] = [
  {
    n: 22,
    title: "a link to a file outside is not read",
    seed: { l: { link: "$O/s" } },
    steps: through("l"),
  },
  {
    n: 22,
    title: "nor a relative one, nor one link behind another",
    seed: { m: { link: "../out/s" }, l: { link: "m" } },
    steps: through("l"),
  },
  {
    n: 23,
    title: "nor written through",
    seed: { l: { link: "$O/s" }, g: "x" },
    steps: [
      ["write_file", { path: "l", content: "PWN", create_dirs: true }, OUTSIDE],
      ["copy", { source: "f", destination: "l", overwrite: true }, "ANY"],
      ["move", { source: "g", destination: "l", overwrite: true }, "ANY"],
    ],
  },
  {
    n: 24,
    title: "a link to a directory outside leads nowhere",
    seed: { d: { link: "$O" } },
    steps: [
      ...through("d/s"),
      ["list_directory", { path: "d" }, OUTSIDE],
      ["glob", { pattern: "**", path: "d" }, OUTSIDE],
      ["write_file", { path: "d/new", content: "PWN" }, OUTSIDE],
      ["mkdir", { path: "d/made" }, OUTSIDE],
      ["delete", { path: "d/s" }, OUTSIDE],
      ["delete", { path: "d/dir", recursive: true }, OUTSIDE],
      ["move", { source: "f", destination: "d/f" }, OUTSIDE],
      ["move", { source: "d/s", destination: "got" }, OUTSIDE],
      ["copy", { source: "d/s", destination: "got" }, OUTSIDE],
      ["copy", { source: "d/dir", destination: "got" }, OUTSIDE],
    ],
  },
  {
    n: 25,
    title: "a slash behind a link changes nothing",
    seed: { d: { link: "$O" } },
    steps: [
      ["list_directory", { path: "d/" }, OUTSIDE],
      ["list_directory", { path: "d/." }, OUTSIDE],
      ["delete", { path: "d/", recursive: true }, "ANY"],
      ["glob", { pattern: "*", path: "d/" }, [OUTSIDE, "NOT_FOUND"]],
    ],
  },
  {
    n: 26,
    title: "a relative link inside works",
    seed: { l: { link: "a/f" }, d: { link: "a" } },
    steps: [
      ["read_file", { path: "l" }, content("inside a/f\n")],
      ["read_file", { path: "d/f" }, content("inside a/f\n")],
    ],
  },
  {
    n: 27,
    title: "an absolute link to a place inside works",
    seed: { l: { link: "$W/a/f" }, d: { link: "$W/a" } },
    steps: [
      ["read_file", { path: "l" }, content("inside a/f\n")],
      ["write_file", { path: "d/new", content: "x" }, "OK"],
      ["edit_file", { path: "l", old_text: "inside", new_text: "edited" }, "OK"],
    ],
    after: (at) => expect([at.text("a/new"), at.text("a/f")]).toEqual(["x", "edited a/f\n"]),
  },
  {
    n: 28,
    title: "what a dangling link to the outside names is not created",
    seed: { l: { link: "$O/new" }, m: { link: "../out/deep/new" } },
    steps: ["l", "m"].flatMap((path): Step[] => [
      ["write_file", { path, content: "PWN" }, OUTSIDE],
      ["write_file", { path, content: "PWN", overwrite: false }, [OUTSIDE, "ALREADY_EXISTS"]],
      ["write_file", { path, content: "PWN", append: true }, OUTSIDE],
      ["read_file", { path }, OUTSIDE],
      ["mkdir", { path }, [OUTSIDE, "ALREADY_EXISTS", "NOT_DIRECTORY"]],
      ["copy", { source: "f", destination: path }, [OUTSIDE, "ALREADY_EXISTS"]],
    ]),
  },
  {
    n: 29,
    title: "no missing parents are made behind a link",
    seed: { d: { link: "$O" } },
    steps: [
      ["write_file", { path: "d/new/f", content: "PWN", create_dirs: true }, OUTSIDE],
      ["mkdir", { path: "d/new/deep", parents: true }, OUTSIDE],
      ["copy", { source: "a", destination: "d/new/a", create_dirs: true }, OUTSIDE],
      ["move", { source: "f", destination: "d/new/f", create_dirs: true }, OUTSIDE],
    ],
  },
  {
    n: 30,
    title: "a loop of links ends",
    seed: { x: { link: "y" }, y: { link: "x" }, "z/up": { link: "../z/up/up" } },
    steps: [
      ["read_file", { path: "x" }, "LOOP"],
      ["write_file", { path: "y", content: "" }, "LOOP"],
      ["read_file", { path: "z/up/f" }, "LOOP"],
    ],
  },
  {
    n: 31,
    title: "40 links in a row are followed and 41 are not",
    seed: chain(41),
    steps: [
      ["read_file", { path: "c40" }, content("inside f\n")],
      ["read_file", { path: "c41" }, "LOOP"],
    ],
  },
  {
    n: 32,
    title: "the kernel's own links are not followed: /proc/self/root",
    disk: true,
    seed: { r: { link: "/proc/self/root" }, c: { link: "/proc/self/cwd" } },
    steps: [
      ["list_directory", { path: "r" }, OUTSIDE],
      ["read_file", { path: "r/etc/passwd" }, OUTSIDE],
      ["read_file", { path: "r$O/s" }, OUTSIDE],
      ["list_directory", { path: "c" }, OUTSIDE],
    ],
  },
  {
    n: 33,
    title: "nor descriptors by their names",
    disk: true,
    seed: { a0: { link: "/proc/self/fd/0" }, b0: { link: "/dev/fd/0" }, c0: { link: "/dev/stdin" } },
    steps: ["a0", "b0", "c0"].flatMap((path): Step[] => [
      ["read_file", { path }, OUTSIDE],
      ["write_file", { path, content: "PWN" }, OUTSIDE],
    ]),
  },
  {
    n: 34,
    title: "deleting a link takes the link alone",
    seed: { l: { link: "$O/s" }, d: { link: "$O/dir" }, i: { link: "f" } },
    steps: [
      ["delete", { path: "l" }, "OK"],
      ["delete", { path: "d", recursive: true }, "OK"],
      ["delete", { path: "i" }, "OK"],
    ],
    after: (at) => {
      expect(at.text("f")).toBe("inside f\n");
      expect(at.tree(".")).not.toMatch(/^(l|d|i)\b/mu);
    },
  },
  {
    n: 35,
    title: "deleting a tree does not go through its links",
    seed: { "t/l": { link: "$O" }, "t/deep/m": { link: "../../../out/dir" }, "t/g": "x" },
    steps: [["delete", { path: "t", recursive: true }, "OK"]],
    after: (at) => expect(at.tree(".")).not.toContain("t/"),
  },
  {
    n: 36,
    title: "copying a tree keeps links as links",
    seed: { "t/l": { link: "$O/s" }, "t/d": { link: "$O" }, "t/in": { link: "g" }, "t/g": "x" },
    steps: [
      ["copy", { source: "t", destination: "u" }, "ANY"],
      ["copy", { source: "t/l", destination: "got" }, "ANY"],
    ],
    after: (at) => expect(at.tree(".")).not.toContain("SECRET"),
  },
  {
    n: 37,
    title: "moving a link moves the link",
    seed: { l: { link: "f" } },
    steps: [["move", { source: "l", destination: "m" }, "OK"]],
    after: (at) => {
      expect(at.tree(".")).toMatch(/^m\b.*(-> f|"target":"f")/mu);
      expect(at.text("f")).toBe("inside f\n");
    },
  },
  {
    n: 38,
    title: "searches do not enter links, neither out nor in circles",
    seed: { "t/out": { link: "$O" }, "t/up": { link: ".." }, "t/self": { link: "." }, "t/g": "needle\n" },
    steps: [
      [
        "grep",
        { pattern: "SECRE[T]|needle", path: "." },
        (result) => expect(result).toMatchObject({ ok: true, data: { total_matches: 1 } }),
      ],
      [
        "glob",
        { pattern: "**/g" },
        (result) => expect(result).toMatchObject({ ok: true, data: { matches: ["t/g"] } }),
      ],
      [
        "glob",
        { pattern: "**/{x,s}" },
        (result) => expect(result).toMatchObject({ ok: true, data: { matches: [] } }),
      ],
      [
        "list_directory",
        { path: "t", depth: 8 },
        (result) => expect(result.ok && (result.data as { total: number }).total).toBe(4),
      ],
      ["read_many_files", { paths: ["."] }, "OK"],
    ],
  },
  {
    n: 39,
    title: "a patch makes no link that leads out, and writes through none",
    steps: [
      [
        "apply_patch",
        {
          patch:
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../out/s\n\\ No newline at end of file\n",
        },
        [OUTSIDE, "PATCH_FAILED", "UNSUPPORTED_OPERATION"],
      ],
      [
        "apply_patch",
        {
          patch:
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../out\n\\ No newline at end of file\ndiff --git a/l/x b/l/x\nnew file mode 100644\n--- /dev/null\n+++ b/l/x\n@@ -0,0 +1 @@\n+PWN\n",
        },
        [OUTSIDE, "PATCH_FAILED", "UNSUPPORTED_OPERATION", "NOT_DIRECTORY"],
      ],
    ],
    after: (at) => expect(at.tree(".")).not.toMatch(/^l\b/mu),
  },
  {
    n: 40,
    title: "a patch makes no submodule",
    steps: [
      [
        "apply_patch",
        {
          patch:
            "diff --git a/sub b/sub\nnew file mode 160000\nindex 0000000..1111111\n--- /dev/null\n+++ b/sub\n@@ -0,0 +1 @@\n+Subproject commit 1111111111111111111111111111111111111111\n",
        },
        [OUTSIDE, "PATCH_FAILED", "UNSUPPORTED_OPERATION"],
      ],
    ],
    after: (at) => expect(at.tree(".")).not.toMatch(/^sub\b/mu),
  },
  {
    n: 78,
    title: "a file behind a link inside is written, and the link stays",
    seed: { l: { link: "a/f" } },
    steps: [
      ["write_file", { path: "l", content: "new\n" }, "OK"],
      ["edit_file", { path: "l", old_text: "new", new_text: "newer" }, "OK"],
    ],
    after: (at) => {
      expect(at.text("a/f")).toBe("newer\n");
      expect(at.tree(".")).toMatch(/^l\b.*(-> a\/f|"target":"a\/f")/mu);
    },
  },
  {
    n: 94,
    title: "a denied place is denied through a link to it as well",
    options: { access: { deny: ["priv", "**/*.pem"] } },
    seed: {
      "priv/k": "SECRET",
      "x.pem": "SECRET",
      l: { link: "priv/k" },
      d: { link: "priv" },
      p: { link: "x.pem" },
    },
    steps: [
      ...["priv/k", "l", "d/k", "p", "x.pem", "a/../priv/k", "$W/priv/k"].flatMap((path): Step[] => [
        ["read_file", { path }, OUTSIDE],
        ["write_file", { path, content: "PWN" }, OUTSIDE],
        ["stat", { path }, OUTSIDE],
      ]),
      [
        "grep",
        { pattern: "SECRE[T]" },
        (result) => expect(result).toMatchObject({ ok: true, data: { total_matches: 0 } }),
      ],
    ],
  },
];

runRows(ROWS);

const disks = ARMS.filter((arm) => arm.disk);

test.each(disks.map((arm): [string, Arm] => [arm.name, arm]))(
  "a root that is named by a link is the place it was, on %s",
  async (_, arm) => {
    const at = await world(arm);
    const named = at.at("../named");
    fs.symlinkSync(at.root, named);
    const { openWorkspace } = await import("../../js/index.node.ts");
    const stateDir = at.at("../state");
    const ws = await openWorkspace({ root: named, stateDir, backend: diskOf(arm, stateDir) });
    fs.rmSync(named);
    fs.symlinkSync(at.outside, named);
    expect(await ws.call("read_file", { path: "f" })).toMatchObject({
      ok: true,
      data: { content: "inside f\n" },
    });
    for (const path of ["s", `${named}/s`])
      expect(await ws.call("read_file", { path })).toMatchObject({ ok: false });
    await ws.call("write_file", { path: "new", content: "x" });
    expect(at.text("new")).toBe("x");
    expect(at.tree("../out")).not.toContain("new");
    await ws.close();
  },
);

test.each(ARMS.map((arm): [string, Arm] => [arm.name, arm]))(
  "a path that becomes a link during the question is not written through, on %s",
  async (_, arm) => {
    const swap: ((at: World) => void)[] = [
      (at) => {
        at.remove("d");
        at.put("d", { link: "$O" });
      },
      (at) => {
        at.remove("d/s");
        at.put("d/s", { link: "$O/s" });
      },
    ];
    for (const meanwhile of swap) {
      let there: World | undefined;
      const confirm = async () => {
        meanwhile(there as World);
        return { outcome: "proceed_once" } as const;
      };
      there = await world(arm, { "d/s": "fine\n" }, { confirm });
      const before = there.tree("../out");
      const result = await there.ws.call("edit_file", { path: "d/s", old_text: "fine", new_text: "PWN" });
      expect(["CONFLICT", "OUTSIDE_ALLOWED"], result.text).toContain(result.ok ? "OK" : result.error.code);
      expect(there.tree("../out")).toBe(before);
    }
  },
);

test.each(disks.map((arm): [string, Arm] => [arm.name, arm]))(
  "a hard link to a file outside: no tool changes the file outside, on %s",
  async (_, arm) => {
    const at = await world(arm);
    const before = at.tree("../out");
    const calls: Step[] = [
      ["write_file", { path: "h", content: "PWN" }, "ANY"],
      ["write_file", { path: "h", content: "PWN", append: true }, "ANY"],
      ["edit_file", { path: "h", old_text: "SECRET", new_text: "PWN" }, "ANY"],
      ["apply_patch", { path: "h", patch: "@@ -1 +1 @@\n-SECRET\n+PWN\n" }, "ANY"],
      ["copy", { source: "f", destination: "h", overwrite: true }, "ANY"],
      ["move", { source: "a/f", destination: "h", overwrite: true }, "ANY"],
      ["delete", { path: "h" }, "ANY"],
    ];
    for (const [tool, args] of calls) {
      at.remove("h");
      fs.linkSync(at.at("../out/s"), at.at("h"));
      await at.ws.call(tool, args);
      expect(at.tree("../out"), tool).toBe(before);
    }
  },
);
