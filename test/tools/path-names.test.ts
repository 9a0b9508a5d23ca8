/** Paths as models send them: with something before, behind or within the name that was meant. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const SEED = {
  "src/a.ts": "a\n",
  "@scope/b.ts": "b\n",
  "$lib/c.ts": "c\n",
  "odd dir /d.ts": "d\n",
  "x:7": "x\n",
};

/** Ways to make an entry. */
const makes = (path: string): readonly (readonly [tool: string, args: Record<string, unknown>])[] => [
  ["write_file", { path, content: "PWN" }],
  ["write_file", { path, content: "PWN", create_dirs: true }],
  ["mkdir", { path, parents: true }],
  ["copy", { source: "src/a.ts", destination: path }],
  ["move", { source: "src/a.ts", destination: path }],
  ["apply_patch", { patch: `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+PWN\n` }],
];

/** What is refused, with the path that the refusal names. */
const REFUSED: readonly (readonly [path: string, remedy: string])[] = [
  ["new.md\n", "'new.md'"],
  ["new.md ", "'new.md'"],
  [" new.md", "'new.md'"],
  ["new.md\t", "'new.md'"],
  ["new\u3000", "'new'"],
  ["new dir\n/a.md", "'new dir/a.md'"],
  [" new/a.md", "'new/a.md'"],
  ["src/new\r\n", "'src/new'"],
  ["ne\nw.md", "'ne_w.md'"],
  ["ne\rw.md", "'ne_w.md'"],
  ["@src/new.ts", "'src/new.ts'"],
  ["@src/a.ts", "'src/a.ts'"],
  ["$HOME/new.ts", "Send the path itself"],
  [`$\u007bworkspaceFolder}/src/new.ts`, "'src/new.ts'"],
  ["$PWD/src/a.ts", "'src/a.ts'"],
  ["%USERPROFILE%/new.ts", "Send the path itself"],
  ["$src/src/new.ts", "'src/new.ts'"],
  ["src/a.ts:57", "'src/a.ts'"],
  ["src/a.ts:57:3", "'src/a.ts'"],
  ["src/a.ts:57-60", "'src/a.ts'"],
];

/** Names that only look like these mistakes. */
const TAKEN = [
  "@scope/new.ts",
  "@other/new.ts",
  "@types.ts",
  "$lib/new.ts",
  "$types.ts",
  "$x",
  "$routes/new.ts",
  "odd dir /new.ts",
  "new file.md",
  "ne\u001bw.md",
  "ne\u2028w.md",
  "a:b.md",
  "new.md:57",
  "x:7/../y:8",
];

describe.each(KINDS)("on %s", (kind) => {
  test.each(REFUSED)("%j makes no entry, and the refusal names what to send", async (path, remedy) => {
    for (const [tool, args] of makes(path)) {
      // A line of a patch cannot hold a line feed.
      if (tool === "apply_patch" && /[\n\r\t]|^\s|\s$/u.test(path)) continue;
      const { ws } = await place(kind, SEED);
      const names = async (): Promise<string> =>
        JSON.stringify((await ws.glob({ pattern: "**", hidden: true })).matches);
      const before = await names();
      const result = await ws.call(tool, args);
      expect(result.ok ? "ok" : result.error.code, `${tool} ${result.text}`).toBe("INVALID_ARGUMENT");
      expect(result.text, tool).toContain(remedy);
      expect(await names(), tool).toEqual(before);
    }
  });

  test.each([
    [
      "a line break in quotes",
      'diff --git "a/a\\nb" "b/a\\nb"\nnew file mode 100644\n--- /dev/null\n+++ "b/a\\nb"\n',
      "a\nb",
    ],
    [
      "a blank before a tab",
      "diff --git a/end  b/end \nnew file mode 100644\n--- /dev/null\n+++ b/end \t\n",
      "end ",
    ],
    [
      "a blank at its start",
      "diff --git a/ start b/ start\nnew file mode 100644\n--- /dev/null\n+++ b/ start\t\n",
      " start",
    ],
  ])("a name as git writes it, with %s, is made as it stands", async (_what, head, name) => {
    const { ws } = await place(kind, SEED);
    await ws.applyPatch({ patch: `${head}@@ -0,0 +1 @@\n+made\n` });
    expect((await ws.readFile({ path: name })).content).toContain("made");
  });

  test.each(TAKEN)("%j is a name as any other", async (path) => {
    const { ws } = await place(kind, SEED);
    const result = await ws.call("write_file", { path, content: "new", create_dirs: true });
    expect(result.text).toMatch(/^(?:Created|Wrote|Overwrote)/u);
  });
});
