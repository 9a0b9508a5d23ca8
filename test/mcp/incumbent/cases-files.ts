/**
 * Expectations of the filesystem server for reading, writing, editing and searching
 * (its `lib.test.ts`), on real files.
 */
import { chmod, open, readdir, readFile, stat, utimes } from "node:fs/promises";
import { type Edit, type Scratch, refusal, refused, type UnitCase } from "./units.ts";

/** The words for a size in bytes. */
export const sized = (bytes: number, gives: string): UnitCase => ({
  of: "lib formatSize",
  name: Object.is(bytes, -0) ? "-0" : `${bytes}`,
  run: ({ formatSize }) => formatSize(bytes),
  gives,
});

const ended = (name: string, text: string, gives: string): UnitCase => ({
  of: "lib normalizeLineEndings",
  name,
  run: ({ normalizeLineEndings }) => normalizeLineEndings(text),
  gives,
});

/** The lines of a diff that are headers, removed or added; headers without what follows the name. */
const marked = (diff: string): readonly string[] =>
  diff
    .split("\n")
    .filter((line) => /^[-+]/u.test(line))
    .map((line) => line.replace(/^(---|\+\+\+) ([^\t]*).*$/u, "$1 $2"));

const compared = (
  name: string,
  [before, after, path]: readonly [string, string, string?],
  gives: readonly string[],
): UnitCase => ({
  of: "lib createUnifiedDiff",
  name,
  run: async ({ createUnifiedDiff }) => marked(await createUnifiedDiff(before, after, path)),
  gives,
});

/** Edits a file and gives what it holds then. */
export const edited = (
  name: string,
  content: string,
  edits: readonly Edit[],
  gives: string,
  dryRun = false,
): UnitCase => ({
  of: "lib applyFileEdits",
  name,
  async run({ applyFileEdits }, at) {
    const path = await at.file("edited.txt", content);
    await applyFileEdits(path, edits, dryRun);
    return at.read(path);
  },
  gives,
});

export const edit = (oldText: string, newText: string): Edit => ({ oldText, newText });

const THREE = "one\ntwo\nthree\n";

/** The first or last lines of a file. */
export const part = (
  unit: "headFile" | "tailFile",
  name: string,
  content: string,
  lines: number,
  gives: string,
): UnitCase => ({
  of: `lib ${unit}`,
  name,
  run: async (units, at) => units[unit](await at.file("lines.txt", content), lines),
  gives,
});

/** A case of a search in a tree: `gives` has the found names in order. */
export const searched = (
  name: string,
  pattern: string,
  excludePatterns: readonly string[],
  gives: readonly string[],
  prepare: (at: Scratch) => Promise<unknown> = async () => {},
): UnitCase => ({
  of: "lib searchFilesWithValidation",
  name,
  async run({ searchFilesWithValidation }, at) {
    for (const file of ["test.txt", "test.log", "important_test.js", "other.md", "node_modules/test.txt"])
      await at.file(file);
    await prepare(at);
    const found = await searchFilesWithValidation(at.allowed, pattern, [at.allowed], { excludePatterns });
    return found.map((path) => path.slice(at.allowed.length + 1)).sort();
  },
  gives,
});

/** Cases with the same result on both servers. */
export const FILE_CASES: readonly UnitCase[] = [
  sized(0, "0 B"),
  sized(-0, "0 B"),
  sized(0.1, "0.1 B"),
  sized(0.5, "0.5 B"),
  sized(1, "1 B"),
  sized(512, "512 B"),
  sized(1023, "1023 B"),
  sized(1023.9, "1023.9 B"),
  sized(1024, "1.00 KB"),
  sized(1025, "1.00 KB"),
  sized(1536, "1.50 KB"),
  sized(1536.5, "1.50 KB"),
  sized(1024 ** 2 - 1, "1024.00 KB"),
  sized(1024 ** 2, "1.00 MB"),
  sized(1024 ** 3, "1.00 GB"),
  sized(1024 ** 4, "1.00 TB"),
  sized(1024 ** 5, "1024.00 TB"),
  sized(Number.MAX_SAFE_INTEGER, "8192.00 TB"),

  ended("CRLF is read as LF", "a\r\nb\r\nc", "a\nb\nc"),
  ended("LF stays", "a\nb\nc", "a\nb\nc"),
  ended("both in one text", "a\r\nb\nc\r\n", "a\nb\nc\n"),
  ended("nothing", "", ""),

  compared("one line of three", ["a\nb\nc", "a\nB\nc", "x.txt"], ["--- x.txt", "+++ x.txt", "-b", "+B"]),
  compared("line ends alone are no change", ["a\r\nb\r\n", "a\nB\n"], ["--- file", "+++ file", "-b", "+B"]),
  compared("equal texts have headers alone", ["a\nb", "a\nb"], ["--- file", "+++ file"]),
  compared("empty texts", ["", ""], ["--- file", "+++ file"]),
  compared("a name that was not given", ["old", "new"], ["--- file", "+++ file", "-old", "+new"]),
  compared("a name that was given", ["old", "new", "y.md"], ["--- y.md", "+++ y.md", "-old", "+new"]),

  {
    of: "lib getFileStats",
    name: "of a file",
    async run({ getFileStats }, at) {
      const path = await at.file("facts.bin", "x".repeat(1024));
      await chmod(path, 0o640);
      await utimes(path, new Date("2023-01-03T00:00:00Z"), new Date("2023-01-02T00:00:00Z"));
      const { created, ...facts } = await getFileStats(path);
      // One rounds milliseconds, the other cuts them.
      return { ...facts, born: Math.abs(created.getTime() - (await stat(path)).birthtimeMs) <= 1 };
    },
    gives: {
      size: 1024,
      modified: new Date("2023-01-02T00:00:00Z"),
      accessed: new Date("2023-01-03T00:00:00Z"),
      isDirectory: false,
      isFile: true,
      permissions: "640",
      born: true,
    },
  },
  {
    of: "lib getFileStats",
    name: "of a directory",
    async run({ getFileStats }, at) {
      await chmod(at.allowed, 0o755);
      const { isDirectory, isFile, permissions } = await getFileStats(at.allowed);
      return { isDirectory, isFile, permissions };
    },
    gives: { isDirectory: true, isFile: false, permissions: "755" },
  },

  ...[undefined, "ascii"].map(
    (encoding): UnitCase => ({
      of: "lib readFileContent",
      name: encoding ?? "no encoding named",
      run: async ({ readFileContent }, at) => readFileContent(await at.file("text", "as it is"), encoding),
      gives: "as it is",
    }),
  ),

  {
    of: "lib writeFileContent",
    name: "a new file",
    async run({ writeFileContent }, at) {
      await writeFileContent(`${at.allowed}/new.txt`, "grüße\r\n");
      return at.read(`${at.allowed}/new.txt`);
    },
    gives: "grüße\r\n",
  },
  {
    of: "lib writeFileContent, applyFileEdits",
    name: "a file is replaced whole: who has it open keeps what was there; nothing is left beside it",
    async run({ writeFileContent, applyFileEdits }, at) {
      const path = await at.file("whole.txt", THREE);
      await chmod(path, 0o640);
      const before = await open(path);
      await writeFileContent(path, "first\n");
      const between = await open(path);
      await applyFileEdits(path, [edit("first", "second")], false);
      const kept = [await readFile(before, "utf8"), await readFile(between, "utf8")];
      await before.close();
      await between.close();
      const mode = ((await stat(path)).mode & 0o777).toString(8);
      return { kept, now: await at.read(path), mode, names: await readdir(at.allowed) };
    },
    gives: { kept: [THREE, "first\n"], now: "second\n", mode: "640", names: ["whole.txt"] },
  },

  searched("names that are left out", "*test*", ["*.log", "node_modules"], ["important_test.js", "test.txt"]),
  searched(
    "a directory that is left out, with all in it",
    "**/*test*",
    ["*.log", "node_modules", "node_modules/**"],
    ["important_test.js", "test.txt"],
  ),
  searched("endings that are left out", "*test*", ["*.js"], ["test.log", "test.txt"]),

  edited("one line", THREE, [edit("two", "TWO")], "one\nTWO\nthree\n"),
  edited(
    "dollar signs mean themselves",
    THREE,
    [edit("two", "$$ $& $` $' $1")],
    "one\n$$ $& $` $' $1\nthree\n",
  ),
  edited("a dry run writes nothing", THREE, [edit("two", "TWO")], THREE, true),
  edited("one edit after the other", THREE, [edit("one", "1st"), edit("three", "3rd")], "1st\ntwo\n3rd\n"),
  edited("an edit of what an edit wrote", THREE, [edit("two", "2nd"), edit("2nd", "II")], "one\nII\nthree\n"),
  edited("indentation that was not given stays", "  a\n    b\n  c\n", [edit("b", "B")], "  a\n    B\n  c\n"),
  edited(
    "lines with their indentation",
    "f() {\n  log(1);\n  return 1;\n}",
    [edit("  log(1);\n  return 1;", "  log(2);\n  log(3);\n  return 2;")],
    "f() {\n  log(2);\n  log(3);\n  return 2;\n}",
  ),
  edited(
    "new lines as they were given",
    "    if (a) {\n        b();\n    }",
    [edit("b();", "c();\n        d();")],
    "    if (a) {\n        c();\n        d();\n    }",
  ),
  ...[false, true].map(
    (dryRun): UnitCase => ({
      of: "lib applyFileEdits",
      name: dryRun ? "a dry run answers the diff" : "the answer is the diff",
      run: async ({ applyFileEdits }, at) =>
        marked(await applyFileEdits(await at.file("shown.txt", THREE), [edit("two", "TWO")], dryRun)).slice(
          2,
        ),
      gives: ["-two", "+TWO"],
    }),
  ),
  {
    of: "lib applyFileEdits",
    name: "text that is not there",
    async run({ applyFileEdits }, at) {
      const path = await at.file("same.txt", THREE);
      return [await refusal(applyFileEdits(path, [edit("four", "4")], false)), await at.read(path)];
    },
    gives: ["Could not find exact match for edit", THREE],
  },

  part("tailFile", "nothing", "", 5, ""),
  part("tailFile", "the last of several", "1\n2\n3\n4\n5", 2, "4\n5"),
  part("tailFile", "more than there are", "1\n2", 5, "1\n2"),
  part("tailFile", "far from the end of a block", `${"x".repeat(3000)}\né\nlast`, 2, "é\nlast"),
  part("headFile", "nothing", "", 5, ""),
  part("headFile", "the first of several", "1\n2\n3\n4\n5\n", 2, "1\n2"),
  part("headFile", "as many as there are", "1\n2\n", 2, "1\n2"),
  part("headFile", "a last line without an end", "1\n2\nend", 5, "1\n2\nend"),
  ...(["headFile", "tailFile"] as const).map(
    (unit): UnitCase => ({
      of: `lib ${unit}`,
      name: "a file that cannot be read",
      run: async (units, at) => [
        await refused(units[unit](at.allowed, 2)),
        await refused(units[unit](`${at.allowed}/none`, 2)),
      ],
      gives: [true, true],
    }),
  ),
];
