/** Attacks on what a policy forbids inside the roots, and on the confinement itself. */
import { expect, test } from "vitest";
import { ARMS, type Row, runRows, type Step, world } from "./world.ts";

const PROTECTED = "PROTECTED_PATH";

/** Every way to change what is at a path. */
const changes = (path: string): readonly Step[] => [
  ["write_file", { path, content: "PWN" }, PROTECTED],
  ["write_file", { path, content: "PWN", append: true }, PROTECTED],
  ["edit_file", { path, old_text: "a", new_text: "b" }, PROTECTED],
  ["apply_patch", { path, patch: "@@ -1 +1 @@\n-a\n+b\n" }, PROTECTED],
  ["copy", { source: "f", destination: path, overwrite: true }, PROTECTED],
  ["move", { source: "f", destination: path, overwrite: true }, PROTECTED],
  ["mkdir", { path }, PROTECTED],
];

/** The same behind a link: what can be read there may be told before the change is refused. */
const behind = (path: string): readonly Step[] =>
  changes(path).map(([tool, args]) => [tool, args, (result) => expect(result.ok, tool).toBe(false)]);

const SPELLINGS = [
  ".git/hooks/x",
  ".GIT/HOOKS/x",
  ".git/./hooks/x",
  ".git//hooks/x",
  "a/../.git/hooks/x",
  "$W/.git/hooks/x",
  ".g\u200cit/hooks/x",
  ".git/hoo\u212as/x",
  ".git/config",
  ".Git/Config",
  ".gitmodules",
  "deep/er/.git/hooks/x",
];

const ROWS: readonly Row[] = [
  {
    n: 91,
    title: "git's hooks and configuration are not written, in any spelling",
    seed: { ".git/hooks": null, ".git/config": "[core]\n" },
    steps: SPELLINGS.flatMap(changes),
    after: (at) => expect(at.tree(".")).not.toContain("PWN"),
  },
  {
    n: 91,
    title: "nor through links",
    seed: {
      ".git/hooks": null,
      ".git/config": "[core]\n",
      g: { link: ".git" },
      h: { link: ".git/hooks" },
      c: { link: ".git/config" },
    },
    steps: [
      ...behind("g/hooks/x"),
      ...behind("h/x"),
      ...behind("g/config"),
      ["write_file", { path: "c", content: "PWN" }, PROTECTED],
    ],
    after: (at) => expect(at.tree(".")).not.toContain("PWN"),
  },
  {
    n: 92,
    title: "nor where nothing is there yet",
    steps: SPELLINGS.flatMap(changes),
    after: (at) => expect(at.tree(".")).not.toMatch(/git/iu),
  },
  {
    n: 91,
    title: "nor by bringing a directory there under another name",
    seed: { "evil/hooks/pre-commit": "PWN" },
    steps: [
      ["move", { source: "evil", destination: ".git" }, PROTECTED],
      ["copy", { source: "evil", destination: ".git" }, PROTECTED],
      ["move", { source: "evil/hooks", destination: ".git/hooks", create_dirs: true }, PROTECTED],
      ["move", { source: "evil", destination: ".GIT" }, PROTECTED],
      [
        "batch",
        {
          operations: [
            { tool: "mkdir", args: { path: "sub" } },
            { tool: "copy", args: { source: "evil", destination: "sub/.git" } },
          ],
        },
        PROTECTED,
      ],
      [
        "apply_patch",
        { patch: "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+PWN\n" },
        PROTECTED,
      ],
      [
        "apply_patch",
        { patch: "diff --git a/f b/.git/hooks/pre-commit\nrename from f\nrename to .git/hooks/pre-commit\n" },
        PROTECTED,
      ],
    ],
    after: (at) => expect(at.tree(".")).not.toMatch(/\.git/iu),
  },
  {
    n: 93,
    title: "nor is what holds them moved or removed",
    seed: { "repo/.git/hooks": null, "repo/.git/config": "[core]\n", "repo/x": "x" },
    steps: ["repo", "repo/.git", "repo/.git/hooks", "repo/.git/config"].flatMap((path): Step[] => [
      ["delete", { path, recursive: true }, PROTECTED],
      ["move", { source: path, destination: "elsewhere" }, PROTECTED],
    ]),
    after: (at) => expect(at.tree(".")).toContain("repo/.git/config"),
  },
];

runRows(ROWS);

test.each(ARMS)("a right to one directory is none to its namesakes, on $name", async (arm) => {
  const at = await world(
    arm,
    { "ab/f": "SECRET", "A/f": "SECRET" },
    { access: { read: ["a"], write: ["a"] } },
  );
  expect(await at.ws.call("read_file", { path: "a/f" })).toMatchObject({ ok: true });
  for (const path of ["ab/f", "A/f", "f", "a/../ab/f"]) {
    expect(await at.ws.call("read_file", { path }), path).toMatchObject({
      error: { code: "OUTSIDE_ALLOWED" },
    });
    expect(await at.ws.call("write_file", { path, content: "x" }), path).toMatchObject({
      error: { code: "OUTSIDE_ALLOWED" },
    });
  }
});

test.each(ARMS)("a hook that throws, answers nonsense or never answers denies, on $name", async (arm) => {
  const replies: readonly (() => unknown)[] = [
    () => {
      throw new Error("a defect");
    },
    () => Promise.reject(new Error("a defect")),
    () => "yes",
    () => new Promise(() => undefined),
  ];
  for (const reply of replies) {
    const at = await world(
      arm,
      {},
      {
        hooks: [{ stage: "before", tool: "*", run: reply as never }],
        limits: { hookTimeoutMs: 50 },
      },
    );
    expect(await at.ws.call("write_file", { path: "f", content: "PWN" })).toMatchObject({
      error: { code: "HOOK_BLOCKED" },
    });
    expect(at.text("f")).toBe("inside f\n");
  }
});
