/** The diff that apply_patch answers with says all of the change: git and GNU patch make the same of it. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";

type Tree = Readonly<Record<string, string>>;

const LINES = "1\n2\n3\n4\n5\n6\n7\n8\n";
const CASES: readonly (readonly [name: string, before: Tree, patch: string, after: Tree])[] = [
  [
    "a CRLF file",
    { f: "a\r\nb\r\n" },
    "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n",
    { f: "a\r\nB\r\n" },
  ],
  [
    "a mode",
    { "two words": "x\n" },
    "diff --git a/two words b/two words\nold mode 100644\nnew mode 100755\n",
    { "two words": "x\n" },
  ],
  [
    "a rename beside another file",
    { "a b": LINES, z: "x\n" },
    "diff --git a/a b b/c d\nsimilarity index 100%\nrename from a b\nrename to c d\ndiff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-x\n+y\n",
    { "c d": LINES, z: "y\n" },
  ],
  [
    "empty files that come and go",
    { old: "" },
    "diff --git a/new b/new\nnew file mode 100644\nindex 0000000..e69de29\ndiff --git a/old b/old\ndeleted file mode 100644\nindex e69de29..0000000\n",
    { new: "" },
  ],
  [
    "a name that ends in a blank",
    { "end ": "x\n" },
    "--- a/end \t\n+++ b/end \t\n@@ -1 +1 @@\n-x\n+y\n",
    { "end ": "y\n" },
  ],
];

function write(root: string, tree: Tree): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  for (const [name, text] of Object.entries(tree)) {
    writeFileSync(join(root, name), text);
    chmodSync(join(root, name), 0o644);
  }
}

test.each(CASES)("%s", async (name, before, patch, after) => {
  const base = mkdtempSync(join(tmpdir(), "filewright-patch-diff-"));
  const root = join(base, "w");
  try {
    write(root, before);
    await using ws = await openWorkspace({ root, guard: "off", history: false });
    const { ok, text, data } = await ws.call("apply_patch", { patch });
    expect(ok, text).toBe(true);
    const { diff } = data as { diff: string };
    const programs: readonly (readonly [string, readonly string[]])[] = [
      ["git", ["apply", "--whitespace=nowarn", "-"]],
      ["patch", ["-p1", "--binary", "--batch"]],
    ];
    for (const [program, args] of programs) {
      const there = join(base, program);
      write(there, before);
      execFileSync(program, args, { cwd: there, input: diff, stdio: "pipe" });
      for (const path of Object.keys(before))
        if (!(path in after)) expect(() => statSync(join(there, path)), program).toThrow("ENOENT");
      for (const [path, content] of Object.entries(after)) {
        expect(readFileSync(join(there, path), "utf8"), program).toBe(content);
        if (name === "a mode") expect(statSync(join(there, path)).mode & 0o777, program).toBe(0o755);
      }
    }
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});

test("a dry run shows no CRs that both sides have", async () => {
  const base = mkdtempSync(join(tmpdir(), "filewright-patch-diff-"));
  try {
    writeFileSync(join(base, "f"), "a\r\nb\r\n");
    await using ws = await openWorkspace({ root: base, guard: "off", history: false });
    const patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n";
    const { text, data } = await ws.call("apply_patch", { patch, dry_run: true });
    expect(text).not.toContain("\r");
    expect((data as { diff: string }).diff).toContain("+B\r\n");
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
