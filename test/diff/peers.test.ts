/**
 * Our diffs, checked with other programs: git prints the same diff, and git apply and
 * GNU patch make the new text of it. Where a tool is not installed its tests are
 * skipped by name; in CI they fail.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { diff } from "../../js/engine/index.node.ts";

const root = mkdtempSync(join(tmpdir(), "filewright-diff-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function describeWith(tool: string): typeof describe {
  const found = spawnSync(tool, ["--version"]).status === 0;
  return (found || process.env["CI"] === "true" ? describe : describe.skip) as typeof describe;
}

/** The same numbers on every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

// Whoever runs this may have taught git other prefixes or colours.
const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

const sources = join(import.meta.dirname, "../../crates/core/src");
const originals = readdirSync(sources, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".rs"))
  .sort()
  .map((name) => readFileSync(join(sources, name), "utf8"));

/** Pairs of real files and what chance made of them: moved, doubled, changed and lost lines. */
function pairs(count: number, seed: number): [before: string, after: string][] {
  const next = random(seed);
  return Array.from({ length: count }, () => {
    const before = originals[next(originals.length)] as string;
    const lines = before.split("\n");
    for (let edits = 1 + next(12); edits > 0; edits--) {
      const at = next(lines.length);
      const size = 1 + next(6);
      const kind = next(5);
      if (kind === 0) lines.splice(at, size);
      else if (kind === 1) lines.splice(at, 0, ...lines.slice(at, at + size));
      else if (kind === 2) lines.splice(next(lines.length), 0, ...lines.splice(at, size));
      else if (kind === 3) lines[at] = `${lines[at]} // changed`;
      else lines.splice(at, 0, "", "}");
    }
    const after = lines.join("\n");
    return [before, next(4) === 0 ? after.trimEnd() : after];
  });
}

const unusual: Record<string, [before: string | null, after: string | null, name?: string]> = {
  created: [null, "a\nb\n"],
  "created without a newline": [null, "a"],
  deleted: ["a\nb", null],
  emptied: ["a\n", ""],
  filled: ["", "a\n"],
  "newline removed": ["a\nb\n", "a\nb"],
  "newline added": ["a\nb", "a\nb\n"],
  "both without a newline": ["a\nb", "c\nb"],
  CRLF: ["a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"],
  "a mixture of line ends": ["a\r\nb\nc\r\n", "a\r\nB\nc\n"],
  "lines that look like headers": ["-- a\n++ b\n@@ -1 +1 @@\n", "-- a\n@@ -1 +1 @@\n--- x\n"],
  "a lone CR": ["a\rb\n", "a\rc\n"],
  "a name with blanks": ["a\n", "b\n", "two words.txt"],
  "a name with quotes": ["a\n", "b\n", 'a "quoted" name'],
  "a name with a tab": ["a\n", "b\n", "tab\there"],
  "a name beyond ASCII": ["a\n", "b\n", "schön/漢字.txt"],
};

/** Writes `before` into an empty directory, runs a patch tool on our diff, and reads the result. */
function applied(
  command: string,
  args: string[],
  before: string | null,
  after: string | null,
  name: string,
): string | null {
  const directory = mkdtempSync(join(root, "apply-"));
  const file = join(directory, name);
  mkdirSync(dirname(file), { recursive: true });
  if (before !== null) writeFileSync(file, before);
  const absent = { oldName: before === null ? null : name, newName: after === null ? null : name };
  const patch = diff(before ?? "", after ?? "", { ...absent, lineEnds: "raw" });
  execFileSync(command, args, { cwd: directory, env, input: patch.text, stdio: ["pipe", "pipe", "pipe"] });
  const left = readdirSync(dirname(file));
  return left.length > 0 ? readFileSync(file, "utf8") : null;
}

describeWith("git")("git", () => {
  // The pairs are made of this checkout, so any commit brings new ones; where several diffs are as
  // good, about one in 500 is another than git's.
  it("prints the same diff of 59 pairs in 60", () => {
    const header = /^(@@ .*? @@).*$/gm;
    const others: string[] = [];
    for (const [before, after] of pairs(60, 1)) {
      const [a, b] = [join(root, "a"), join(root, "b")];
      writeFileSync(a, before);
      writeFileSync(b, after);
      const args = [
        "diff",
        "--no-index",
        "--diff-algorithm=histogram",
        "--no-color",
        "--no-ext-diff",
        "a",
        "b",
      ];
      const theirs = spawnSync("git", args, { cwd: root, encoding: "utf8", env }).stdout;
      const from = theirs.indexOf("--- ");
      const ours = diff(before, after, { oldName: "a", newName: "b" }).text;
      if (ours !== (from < 0 ? "" : theirs.slice(from).replace(header, "$1"))) others.push(ours);
    }
    expect(others.slice(1)).toEqual([]);
  });

  it("applies 40 of them", () => {
    for (const [before, after] of pairs(40, 2)) {
      expect(applied("git", ["apply", "-"], before, after, "f.rs")).toBe(after);
    }
  });

  it.each(Object.entries(unusual))("applies: %s", (_, [before, after, name]) => {
    expect(applied("git", ["apply", "-"], before, after, name ?? "f")).toBe(after);
  });
});

describeWith("patch")("GNU patch", () => {
  const args = ["--batch", "--silent", "--fuzz=0", "--binary", "-p1"];

  it("applies 40 pairs", () => {
    for (const [before, after] of pairs(40, 3)) {
      expect(applied("patch", args, before, after, "f.rs")).toBe(after);
    }
  });

  it.each(Object.entries(unusual))("applies: %s", (title, [before, after, name]) => {
    const result = applied("patch", args, before, after, name ?? "f");
    // GNU patch removes a file that it has emptied.
    expect(title === "emptied" ? (result ?? "") : result).toBe(after);
  });
});
