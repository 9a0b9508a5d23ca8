/** A diff for programs has the line ends of its files: other tools apply it. */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";

const PAIRS: readonly (readonly [name: string, before: string, after: string])[] = [
  ["CRLF on both sides", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\nd\r\n"],
  ["CRLF without a final newline", "a\r\nb", "a\r\nb\r\nc"],
  ["LF to CRLF", "a\nb\n", "a\r\nb\r\n"],
  ["mixed", "a\r\nb\nc\r\n", "a\r\nB\nc\r\n"],
  ["LF", "a\nb\n", "a\nB\n"],
  ["a lone CR in a line", "a\rx\r\nb\r\n", "a\rx\r\nB\r\n"],
];

test.each(PAIRS)("data.diff of %s is applied by git and by us", async (_name, before, after) => {
  const root = await mkdtemp(join(tmpdir(), "filewright-diff-"));
  try {
    await writeFile(join(root, "f"), before);
    await writeFile(join(root, "g"), after);
    await using ws = await openWorkspace({ root, guard: "off" });
    const { data, text } = await ws.call("diff", { a: "f", b: "g" });
    const patch = (data as { diff: string }).diff.replace("+++ b/g", "+++ b/f");
    await writeFile(join(root, "p.diff"), patch);
    execFileSync("git", ["apply", "--whitespace=nowarn", "p.diff"], { cwd: root });
    expect(await readFile(join(root, "f"), "utf8")).toBe(after);
    await writeFile(join(root, "f"), before);
    const applied = await ws.call("apply_patch", { patch });
    expect(applied.ok, applied.text).toBe(true);
    expect(await readFile(join(root, "f"), "utf8")).toBe(after);
    // A model is not shown CRs that tell it nothing.
    if (!before.includes("\r\n") || !after.includes("\r\n")) return;
    expect(text.split("\n").some((line) => line.endsWith("\r"))).toBe(false);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
