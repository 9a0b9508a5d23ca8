import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KINDS, place, type Seed } from "./harness.ts";

/** The expected files afterwards: content by path, undefined for a missing file. */
type After = Readonly<Record<string, string | undefined>>;

const ABC = "a\nb\nc\n";
const B = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";

/** Patches with a file that has no name. */
const NAMELESS: readonly (readonly [name: string, patch: string])[] = [
  ...["rename", "copy"].flatMap((verb) =>
    (
      [
        ["an empty new name", "f", ""],
        ["an empty old name", "", "g"],
        ["two empty names", "", ""],
        ["an empty quoted name", "f", '""'],
      ] as const
    ).map(([what, from, to]): [string, string] => [
      `${what} of a ${verb}`,
      `diff --git a/f b/g\n${verb} from ${from}\n${verb} to ${to}\n`,
    ]),
  ),
  ["a rename that names the new file alone", "diff --git f\nrename to g\n"],
  ["a copy that names the old file alone", "diff --git f\ncopy from f\n"],
  [
    "a rename with hunks and an empty name",
    `diff --git a/f b/g\nrename from f\nrename to \n--- a/f\n+++ b/g\n${B}`,
  ],
  ["an empty name after +++", `--- a/f\n+++ \n${B}`],
  ["an empty name after ---", `--- \n+++ b/f\n${B}`],
  ["empty names after both", `--- \n+++ \n${B}`],
  ["an empty quoted name after +++", `--- a/f\n+++ ""\n${B}`],
  ["a time without a name", `--- a/f\n+++ \t2024-01-01 00:00:00\n${B}`],
  ["a prefix without a name", `--- a/\n+++ b/\n${B}`],
  ["a git header of prefixes alone", "diff --git a/ b/\nnew file mode 100644\n"],
  ["a deletion of a prefix alone", "--- a/\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n"],
  ...["Add File:", "Delete File:", "Update File:", "Update File: f\n*** Move to:"].map(
    (header): [string, string] => [
      `an empty name after ${header}`,
      `*** Begin Patch\n*** ${header} \n${header.startsWith("Add") ? "+x" : header.startsWith("Delete") ? "" : "@@\n-b\n+B"}\n*** End Patch\n`,
    ],
  ),
];

describe.each(KINDS)("apply_patch on %s", (kind) => {
  const made: readonly [name: string, seed: Seed, args: Record<string, unknown>, after: After][] = [
    [
      "two files",
      { f: ABC, g: "x\n" },
      { patch: `--- a/f\n+++ b/f\n${B}--- a/g\n+++ b/g\n@@ -1 +1,2 @@\n x\n+y\n` },
      { f: "a\nB\nc\n", g: "x\ny\n" },
    ],
    ["names without prefixes", { f: ABC }, { patch: `--- f\n+++ f\n${B}` }, { f: "a\nB\nc\n" }],
    [
      "a directory that is called a",
      { "a/f": ABC },
      { patch: `--- a/f\n+++ a/f\n${B}`, strip: 0 },
      { "a/f": "a\nB\nc\n" },
    ],
    [
      "names deeper than the workspace",
      { "src/f": ABC },
      { patch: `--- x/y/src/f\n+++ x/y/src/f\n${B}`, strip: 2 },
      { "src/f": "a\nB\nc\n" },
    ],
    [
      "two trees that were compared",
      { "src/f": ABC },
      { patch: `--- old/src/f\n+++ new/src/f\n${B}` },
      { "src/f": "a\nB\nc\n" },
    ],
    ["a hunk without a name", { f: ABC }, { patch: B, path: "f" }, { f: "a\nB\nc\n" }],
    [
      "another name than the patch's",
      { g: ABC },
      { patch: `--- a/f\n+++ b/f\n${B}`, path: "g" },
      { g: "a\nB\nc\n" },
    ],
    [
      "a new file, a deleted one, and directories as needed",
      { old: "o\n" },
      {
        patch:
          "--- /dev/null\n+++ b/x/y/n\n@@ -0,0 +1,2 @@\n+1\n+2\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n",
      },
      { "x/y/n": "1\n2\n", old: undefined },
    ],
    [
      "a rename with a change",
      { f: ABC },
      {
        patch: `diff --git a/f b/d/g\nsimilarity index 60%\nrename from f\nrename to d/g\n--- a/f\n+++ b/d/g\n${B}`,
      },
      { f: undefined, "d/g": "a\nB\nc\n" },
    ],
    [
      "a rename alone",
      { f: "x" },
      { patch: "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n" },
      { f: undefined, g: "x" },
    ],
    [
      "a copy",
      { f: "x\n" },
      { patch: "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n" },
      { f: "x\n", g: "x\n" },
    ],
    [
      "an envelope",
      { f: ABC, gone: "1\n", m: "q\n" },
      {
        patch:
          "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n c\n*** Add File: n\n+hello\n*** Delete File: gone\n*** Update File: m\n*** Move to: d/m\n@@\n-q\n+r\n*** End Patch\n",
      },
      { f: "a\nB\nc\n", n: "hello\n", gone: undefined, m: undefined, "d/m": "r\n" },
    ],
    [
      "a file named twice, by two names",
      { f: "1\n2\n3\n4\n5\n6\n7\n8\n9\n" },
      { patch: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n--- a/./f\n+++ b/./f\n@@ -9 +9 @@\n-9\n+nine\n" },
      { f: "one\n2\n3\n4\n5\n6\n7\n8\nnine\n" },
    ],
    [
      "a file behind a link, which stays a link",
      { f: ABC, ln: { link: "f" } },
      { patch: `--- a/ln\n+++ b/ln\n${B}` },
      { f: "a\nB\nc\n" },
    ],
    [
      "a file with CRLF by a patch with LF",
      { f: "a\r\nb\r\nc\r\n" },
      { patch: `--- a/f\n+++ b/f\n${B}` },
      { f: "a\r\nB\r\nc\r\n" },
    ],
    [
      "a last line without its end",
      { f: "a\nb" },
      {
        patch:
          "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n",
      },
      { f: "a\nB" },
    ],
    ["the way back", { f: "a\nB\nc\n" }, { patch: `--- a/f\n+++ b/f\n${B}`, reverse: true }, { f: ABC }],
    [
      "the way back of a new file",
      { n: "1\n" },
      { patch: "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n", reverse: true },
      { n: undefined },
    ],
    [
      "names in git's quotes",
      { 'caf\u00e9 "1"': "1\n" },
      { patch: '--- "a/caf\\303\\251 \\"1\\""\n+++ "b/caf\\303\\251 \\"1\\""\n@@ -1 +1 @@\n-1\n+2\n' },
      { 'caf\u00e9 "1"': "2\n" },
    ],
    [
      "a patch amid prose, fenced, its numbers wrong",
      { f: ABC },
      { patch: `Here:\n\n\`\`\`diff\n--- a/f\n+++ b/f\n@@ -90,7 +90,8 @@\n a\n-b\n+B\n c\n\`\`\`\nDone.\n` },
      { f: "a\nB\nc\n" },
    ],
    [
      "an empty new file",
      {},
      { patch: "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n" },
      { e: "" },
    ],
    ["strip as a word", { f: ABC }, { patch: `--- a/f\n+++ b/f\n${B}`, strip: "auto" }, { f: "a\nB\nc\n" }],
  ];
  test.each(made)("makes %s", async (_, seed, args, after) => {
    const { ws, text } = await place(kind, seed);
    const dry = await ws.call("apply_patch", { ...args, dry_run: true });
    expect(dry.text).toMatch(/^Dry run, nothing written\n/);
    expect(dry.data).toMatchObject({ applied: false });
    for (const [path, value] of Object.entries(seed)) {
      if (typeof value === "string") expect(await text(path)).toBe(value);
    }
    const result = await ws.call("apply_patch", args);
    expect(result.text).not.toMatch(/^Error/);
    for (const [path, content] of Object.entries(after)) expect(await text(path), path).toBe(content);
    expect(result.data).toEqual({ ...(dry.data as object), applied: true });
  });

  test("links stay links", async () => {
    const { ws, target } = await place(kind, { f: ABC, ln: { link: "f" } });
    await ws.call("apply_patch", { patch: `--- a/ln\n+++ b/ln\n${B}` });
    expect(await target("ln")).toBe("f");
  });

  const refused: readonly [
    name: string,
    seed: Seed,
    args: Record<string, unknown>,
    code: string,
    details: Record<string, unknown>,
  ][] = [
    [
      "a hunk that is not there, with the one before it",
      { f: ABC, g: "x\n" },
      { patch: `--- a/f\n+++ b/f\n${B}--- a/g\n+++ b/g\n@@ -1 +1 @@\n-zzz\n+y\n` },
      "PATCH_FAILED",
      { file: "g", hunk: 0, reason: "lines_differ", expected: "zzz", found: "x", line: 1 },
    ],
    [
      "the second hunk of a file",
      { f: "1\n2\n3\n4\n5\n6\n7\n8\n9\n" },
      { patch: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n@@ -9 +9 @@\n-neun\n+nine\n" },
      "PATCH_FAILED",
      { file: "f", hunk: 1 },
    ],
    [
      "what is there already",
      { f: "a\nB\nc\n" },
      { patch: `--- a/f\n+++ b/f\n${B}` },
      "PATCH_FAILED",
      { reason: "already_applied" },
    ],
    [
      "a new file that is there with other content",
      { n: "old\n" },
      { patch: "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n" },
      "PATCH_FAILED",
      { reason: "exists" },
    ],
    [
      "a new file that is there with this content",
      { n: "1\n" },
      { patch: "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n" },
      "PATCH_FAILED",
      { reason: "already_applied" },
    ],
    [
      "a deletion of other content",
      { old: "other\n" },
      { patch: "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n" },
      "PATCH_FAILED",
      { file: "old" },
    ],
    [
      "a file that is not there",
      {},
      { patch: `--- a/f\n+++ b/f\n${B}` },
      "PATCH_FAILED",
      { reason: "not_found", file: "f" },
    ],
    [
      "a rename onto a file",
      { f: "x\n", g: "y\n" },
      { patch: "diff --git a/f b/g\nrename from f\nrename to g\n" },
      "PATCH_FAILED",
      { reason: "exists" },
    ],
    [
      "a hunk that fits twice",
      { f: "x\ny\nx\ny\n" },
      { patch: "--- a/f\n+++ b/f\n@@ @@\n x\n-y\n+z\n" },
      "PATCH_FAILED",
      { reason: "ambiguous", lines: [1, 3] },
    ],
    [
      "a binary patch",
      { f: "x\n" },
      { patch: "diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIc${`abc\n\n" },
      "PATCH_FAILED",
      { reason: "unsupported_binary_patch" },
    ],
    [
      "a link",
      {},
      {
        patch:
          "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n",
      },
      "PATCH_FAILED",
      { reason: "unsupported_mode" },
    ],
    [
      "a submodule, and the file before it",
      { f: ABC },
      {
        patch: `--- a/f\n+++ b/f\n${B}diff --git a/s b/s\nindex 1..2 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n`,
      },
      "PATCH_FAILED",
      { reason: "unsupported_mode" },
    ],
    [
      "to delete a link as if it were a file",
      { f: "o\n", ln: { link: "f" } },
      { patch: "--- a/ln\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n" },
      "PATCH_FAILED",
      { reason: "link" },
    ],
    ...NAMELESS.map(([name, patch]): (typeof refused)[number] => [
      name,
      { f: ABC },
      { patch },
      "PATCH_FAILED",
      { reason: "no_path" },
    ]),
    ["a text that is no patch", {}, { patch: "hello\n" }, "PATCH_FAILED", {}],
    [
      "a path outside",
      { f: ABC },
      { patch: `--- a/f\n+++ b/f\n${B}--- /dev/null\n+++ b/../out/n\n@@ -0,0 +1 @@\n+1\n` },
      "OUTSIDE_ALLOWED",
      {},
    ],
    [
      "an absolute path outside",
      { f: ABC },
      { patch: `--- /etc/hosts\n+++ /etc/hosts\n${B}` },
      "OUTSIDE_ALLOWED",
      {},
    ],
    [
      "a way out through a link",
      { f: ABC, ln: { link: "$O" } },
      { patch: `--- a/f\n+++ b/f\n${B}--- /dev/null\n+++ b/ln/n\n@@ -0,0 +1 @@\n+1\n` },
      "OUTSIDE_ALLOWED",
      {},
    ],
    [
      "other context than the file's, with no fuzz",
      { f: "a\nb\nc\nd\n" },
      { patch: "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n A\n b\n-c\n+C\n d\n", fuzz: 0 },
      "PATCH_FAILED",
      { expected: "A", found: "a" },
    ],
    ["more fuzz than three", { f: ABC }, { patch: B, path: "f", fuzz: 4 }, "INVALID_ARGUMENT", {}],
    [
      "one path for two files",
      { f: ABC, g: ABC },
      { patch: `--- a/f\n+++ b/f\n${B}--- a/g\n+++ b/g\n${B}`, path: "f" },
      "INVALID_ARGUMENT",
      { argument: "path" },
    ],
    [
      "a file under a file, and takes the other one back",
      { f: ABC, g: "x\n" },
      {
        patch: `--- a/f\n+++ b/f\n${B}--- /dev/null\n+++ b/new/deep/n\n@@ -0,0 +1 @@\n+1\n--- /dev/null\n+++ b/g/n\n@@ -0,0 +1 @@\n+1\n`,
      },
      "NOT_DIRECTORY",
      {},
    ],
  ];
  test.each(refused)("refuses %s, and leaves everything as it was", async (_, seed, args, code, details) => {
    const { ws, text } = await place(kind, seed);
    const before = await ws.call("list_directory", { depth: 9, format: "tree" });
    const result = await ws.call("apply_patch", args);
    expect(result.error?.code, result.text).toBe(code);
    expect(result.error?.details ?? {}).toMatchObject(details);
    for (const [path, value] of Object.entries(seed)) {
      if (typeof value === "string") expect(await text(path)).toBe(value);
    }
    expect((await ws.call("list_directory", { depth: 9, format: "tree" })).text).toBe(before.text);
  });

  test("context that differs is passed over where fuzz allows, and said", async () => {
    const { ws, text } = await place(kind, { f: "a\nb\nc\nd\n" });
    const patch = "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n Q\n b\n-c\n+C\n d\n";
    const result = await ws.call("apply_patch", { patch });
    expect(await text("f")).toBe("a\nb\nC\nd\n");
    expect(result.text).toBe("Patched f (+1 -1, without some context)");
  });

  test("the answer names each file, how far off it was, and the whole diff", async () => {
    const { ws } = await place(kind, { f: ABC });
    const patch = `--- a/f\n+++ b/f\n${B.replace("-1,3", "-3,3")}--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n`;
    const result = await ws.call("apply_patch", { patch });
    expect(result.text).toBe("Patched f (+1 -1, 2 lines further up)\nCreated n (+1 -0)");
    expect(result.data).toMatchObject({
      applied: true,
      files: [
        { path: "f", operation: "update", added: 1, removed: 1, offset: -2 },
        { path: "n", operation: "create", added: 1, removed: 0, offset: 0 },
      ],
      diff: `--- a/f\n+++ b/f\n${B}--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n`,
    });
  });

  test("one question is asked for the whole patch, with its diff", async () => {
    const asked: { readonly fileDiff: string; readonly path: string }[] = [];
    const { ws, text } = await place(
      kind,
      { f: ABC, g: "x\n" },
      {
        requireApproval: true,
        confirm: async (details) => {
          asked.push(details);
          return { outcome: "cancel" };
        },
      },
    );
    const patch = `--- a/f\n+++ b/f\n${B}--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n`;
    expect((await ws.call("apply_patch", { patch })).error?.code).toBe("APPROVAL_DENIED");
    expect(asked.map(({ fileDiff }) => fileDiff)).toEqual([patch]);
    expect(await text("f")).toBe(ABC);
  });

  test("a file changed meanwhile by another tool is planned on again", async () => {
    const { ws, text } = await place(kind, { f: ABC });
    const patch = `--- a/f\n+++ b/f\n${B}`;
    const [first, second] = await Promise.all([
      ws.call("apply_patch", { patch }),
      ws.call("edit_file", { path: "f", old_text: "c", new_text: "C" }),
    ]);
    // The patch has `c` as context: whichever comes first, nothing is lost.
    expect(await text("f")).toBe(first.ok ? "a\nB\nC\n" : "a\nb\nC\n");
    expect(second.ok).toBe(true);
  });
});

describe("apply_patch and modes", () => {
  const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

  test("a file becomes executable, and private files stay private", async () => {
    const { ws, root } = await place("local", { f: "x\n", p: "x\n" });
    await chmod(join(root, "f"), 0o644);
    await chmod(join(root, "p"), 0o600);
    const change = (name: string): string =>
      `diff --git a/${name} b/${name}\nold mode 100644\nnew mode 100755\n`;
    const result = await ws.call("apply_patch", { patch: change("f") + change("p") });
    expect(result.text).not.toMatch(/^Error/);
    expect(await mode(join(root, "f"))).toBe(0o755);
    expect(await mode(join(root, "p"))).toBe(0o700);
  });

  test("a rename keeps the mode, a new file has the patch's", async () => {
    const { ws, root } = await place("local", { f: "x\n" });
    await chmod(join(root, "f"), 0o750);
    const patch =
      "diff --git a/f b/g\nrename from f\nrename to g\ndiff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n";
    await ws.call("apply_patch", { patch });
    expect(await mode(join(root, "g"))).toBe(0o750);
    expect((await mode(join(root, "n"))) & 0o100).toBe(0o100);
  });

  test("a copy has the content and mode from before the patch when the patch changes its source first", async () => {
    const { ws, root, text } = await place("local", { f: "" });
    await chmod(join(root, "f"), 0o644);
    const patch =
      "diff --git a/f b/f\nold mode 100644\nnew mode 100755\nindex e69de29..814f4a4\n--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+one\n" +
      "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n";
    const result = await ws.call("apply_patch", { patch });
    expect(result.text).not.toMatch(/^Error/);
    expect([await text("f"), await text("g")]).toEqual(["one\n", ""]);
    expect([await mode(join(root, "f")), await mode(join(root, "g"))]).toEqual([0o755, 0o644]);
  });

  test("a file in another encoding keeps it", async () => {
    const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
    const { ws, bytes } = await place("local", { f: utf16("a\nbé\nc\n") });
    const result = await ws.call("apply_patch", {
      patch: "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-bé\n+Bü\n c\n",
    });
    expect(result.text).toBe("Patched f (+1 -1)");
    expect(await bytes("f")).toEqual(utf16("a\nBü\nc\n"));
  });
});
