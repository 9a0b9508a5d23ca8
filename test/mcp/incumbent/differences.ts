/** Expectations of the filesystem server that we do not fulfil, and why; `docs/mcp.md` has them as a table. */
import { lstat, mkdir, rm, symlink } from "node:fs/promises";
import { edit, edited, part, searched, sized } from "./cases-files.ts";
import { meant } from "./cases-paths.ts";
import { type Difference, refusal, type UnitCase } from "./units.ts";

const instead = (theirs: UnitCase, ours: unknown, why: string): Difference => ({ ...theirs, ours, why });

const DENIED = "Access denied - path outside allowed directories";
const AS_NAMED = "a path is what it says; quotes, spaces, backslashes and colons are lawful in names here";
const FIXED = "bytes that nobody named are kept";
const ONE_STEP =
  "a path is checked and opened in one step: a link that is put there in between has no effect";
const WHOLE = "one that says nothing is a mistake of whoever configures, and told to them";

/** An edit that is made there, at the first place that will do, and refused here. */
const guessed = (
  name: string,
  content: string,
  [oldText, newText]: [string, string],
  theirs: string,
  ours: string,
) =>
  instead(
    {
      of: "lib applyFileEdits",
      name,
      async run({ applyFileEdits }, at) {
        const path = await at.file("guess.txt", content);
        const said = await refusal(applyFileEdits(path, [edit(oldText, newText)], false));
        return [said.replace(path, "FILE"), await at.read(path)];
      },
      gives: ["done", theirs],
    },
    [ours, content],
    "what can be meant in two ways, or changes nothing, is told instead of guessed",
  );

/** The list. */
export const DIFFERENCES: readonly Difference[] = [
  instead(
    sized(-1024, "0 B"),
    "-1024 B",
    "no file has such a size; storage that tells one is not improved on",
  ),

  instead(edited("CRLF", "a\r\nb\r\n", [edit("b", "B")], "a\nB\n"), "a\r\nB\r\n", FIXED),
  instead(
    edited(
      "lines given without their indentation",
      "  a\n    b\n  c\n",
      [edit("a\nb", "A\nB")],
      "  A\nB\n  c\n",
    ),
    "  A\n  B\n  c\n",
    "the new lines are moved to the place together, not the first alone",
  ),
  guessed(
    "text that is there twice",
    "x\ny\nx\n",
    ["x", "z"],
    "z\ny\nx\n",
    "oldText occurs 2 times in FILE (lines 1, 3). Add surrounding lines to say which.",
  ),
  guessed("no text", "x\n", ["", "z"], "zx\n", "Invalid argument 'edits[0].oldText'"),
  guessed(
    "an edit without effect",
    "x\n",
    ["x", "x"],
    "x\n",
    "oldText and newText must be different, nothing to change in FILE",
  ),

  instead(
    part("tailFile", "one line of a text that ends", "1\n2\n3\n", 1, ""),
    "3",
    "the last line is a line",
  ),
  instead(
    part("tailFile", "two lines of a text that ends", "1\n2\n3\n", 2, "3\n"),
    "2\n3",
    "the last line is a line",
  ),
  instead(
    part("headFile", "CRLF", "1\r\n2\r\n", 1, "1\r"),
    "1",
    "line ends are LF to models, and kept in the file",
  ),
  {
    of: "lib readFileContent",
    name: "a byte order mark and CRLF",
    run: async ({ readFileContent }, at) => readFileContent(await at.file("bom.txt", "\ufeffa\r\nb")),
    gives: "\ufeffa\r\nb",
    ours: "a\nb",
    why: "neither is text to a model; both are kept in the file",
  },

  instead(
    searched("a link that leads out", "*.txt", [], ["test.txt"], (at) => at.link(at.outside, "link.txt")),
    ["link.txt", "test.txt"],
    "a link is found by its name, as it is listed; where it leads is not looked at",
  ),

  {
    of: "path-validation races",
    name: "a file that is replaced by a link after its path was checked, then read",
    async run(units, at) {
      const path = await units.validatePath(await at.file("legit.txt", "PUBLIC"));
      await rm(path);
      await symlink(await at.secret("secret.txt", "SECRET"), path);
      return units.readFileContent(path).catch((error: unknown) => refusal(Promise.reject(error)));
    },
    gives: "SECRET",
    ours: DENIED,
    why: ONE_STEP,
  },
  {
    of: "path-validation races",
    name: "a directory that is replaced by a link after a path below it was checked, then written",
    async run(units, at) {
      await mkdir(`${at.outside}/sub`);
      const path = await units.validatePath(`${at.allowed}/new/sub/file.txt`);
      await at.link(at.outside, "new");
      const said = await refusal(units.writeFileContent(path, "CONTENT"));
      return [said, await at.read(`${at.outside}/sub/file.txt`).catch(() => "nothing")];
    },
    gives: ["done", "CONTENT"],
    ours: [DENIED, "nothing"],
    why: ONE_STEP,
  },
  {
    of: "path-validation races",
    name: "a link that leads out, written to by its own name",
    async run(units, at) {
      const secret = await at.secret("secret.txt", "SECRET");
      const link = await at.link(secret, "link.txt");
      const said = await refusal(units.writeFileContent(link, "NEW"));
      return [said, await at.read(secret), (await lstat(link)).isSymbolicLink()];
    },
    gives: ["done", "SECRET", false],
    ours: [DENIED, "SECRET", true],
    why: "the change is refused instead of made to a file that nobody named; the link stays",
  },
  {
    of: "path-validation races",
    name: "a link that stays inside, written to by its own name",
    async run(units, at) {
      const target = await at.file("target.txt", "OLD");
      const link = await at.link(target, "link.txt");
      await units.writeFileContent(link, "NEW");
      return [await at.read(target), (await lstat(link)).isSymbolicLink()];
    },
    gives: ["OLD", false],
    ours: ["NEW", true],
    why: "a link means its target, whoever asks",
  },
  {
    of: "lib writeFileContent",
    name: "a file in a directory that is missing",
    async run({ writeFileContent }, at) {
      return [
        await refusal(writeFileContent(`${at.allowed}/a/b.txt`, "x")),
        await at.read(`${at.allowed}/a/b.txt`).catch(() => ""),
      ];
    },
    gives: ["ENOENT", ""],
    ours: ["done", "x"],
    why: "the directory is made; models would make it next",
  },

  {
    of: "path-validation isPathWithinAllowedDirectories",
    name: "an empty entry among the directories",
    run: ({ isPathWithinAllowedDirectories: within }) => within("/h/p/src", ["", "/h/p"]),
    gives: true,
    ours: false,
    why: WHOLE,
  },
  {
    of: "lib validatePath",
    name: "a home directory",
    run: async ({ validatePath }, at) =>
      validatePath("~/x").then(at.short, (error: unknown) => refusal(Promise.reject(error))),
    gives: DENIED,
    ours: "Invalid argument 'path'",
    why: "`~` is not expanded: the answer names the path that works",
  },
  {
    of: "lib validatePath",
    name: "a path of Windows",
    run: async ({ validatePath }, at) =>
      validatePath("C:\\x").then(at.short, (error: unknown) => refusal(Promise.reject(error))),
    gives: "Access denied - Windows-style path received on a POSIX host",
    ours: "allowed/C:\\x",
    why: AS_NAMED,
  },
  ...(
    [
      ['"/usr/local/some app/"', "/usr/local/some app"],
      ["  /a b  ", "/a b"],
      ["C:\\\\NS\\\\Content", "C:\\NS\\Content"],
      ["c:/windows", "C:\\windows"],
      ["\\\\SERVER\\share", "\\\\SERVER\\share"],
      ["\\some\\share", "\\some\\share"],
      ["some/relative/path", "some/relative/path"],
    ] as const
  ).map(([path, theirs]) => instead(meant(path, theirs), `/${path}`, AS_NAMED)),
];
