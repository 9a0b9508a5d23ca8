/** scripts/commit-subjects.mjs refuses subjects of commits without an area or with too many characters. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, test } from "vitest";
import { messageFaults, subjectFault, subjectFaults } from "../../scripts/commit-subjects.mjs";

const folder = mkdtempSync(join(tmpdir(), "filewright-subjects-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FORM = "does not have the form 'area: what changes'";

describe("a subject", () => {
  test.each([
    ["bench: measure the cost of a call", undefined],
    ["js/tools: say it once", undefined],
    ["edit_file: 2 things", undefined],
    [`ci: ${"x".repeat(68)}`, undefined],
    [`ci: ${"x".repeat(69)}`, "has 73 characters; at most 72 are allowed"],
    [`ci: ${"😀".repeat(68)}`, undefined],
    ["Bench: measure", FORM],
    ["measure the cost of a call", FORM],
    ["bench:measure", FORM],
    ["bench: ", FORM],
    ["two areas: measure", FORM],
  ])("'%s' is judged by its form and length", (subject, fault) => {
    expect(subjectFault(subject)).toBe(fault);
  });
});

describe("a message that is about to be committed", () => {
  test.each([
    [
      "passes with a body and comments",
      "# Please enter a message\nci: run\n\nA body: long.\n# On branch main\n",
      false,
      0,
    ],
    ["passes when a later rebase melts it", "fixup! ci: run\n", false, 0],
    ["fails when what it is melted into would", "fixup! Run\n", false, 1],
    ["fails when its first paragraph is too long", `ci: run\n${"x".repeat(70)}\n`, false, 1],
    ["passes with the diff of `commit --verbose`", `ci: run\n# ---- >8 ----\n${"x".repeat(99)}\n`, false, 0],
    ["is left to git when it is empty", "\n# comment\n", false, 0],
    ["is git's own in a merge", "Merge branch 'other'\n", true, 0],
    ["fails without an area", "Run\n", false, 1],
  ])("%s", (_, text, isMerge, faults) => {
    expect(messageFaults(text, isMerge)).toHaveLength(faults);
  });
});

describe("the commits of a checkout", () => {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const git = (checkout: string, ...args: string[]) =>
    execFileSync("git", [...identity, ...args], { cwd: checkout, encoding: "utf8", stdio: "pipe" }).trim();
  let made = 0;
  /** Makes a repository with a commit for each subject. Returns it and its commits. */
  function repository(subjects: readonly string[]): { checkout: string; commits: string[] } {
    const checkout = join(folder, String(made++));
    git(folder, "init", "--quiet", "--initial-branch=main", checkout);
    const commits = subjects.map((subject) => {
      git(checkout, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", subject);
      return git(checkout, "rev-parse", "HEAD");
    });
    return { checkout, commits };
  }

  it("are checked after the last free one", () => {
    const { checkout, commits } = repository(["Old", "ci: new", "Without area"]);
    const { faults, note } = subjectFaults(checkout, commits[0]);
    expect(faults).toEqual([`commit ${commits[2]!.slice(0, 7)}: the subject 'Without area' ${FORM}`]);
    expect(note).toBe("2 subjects of commits are checked");
  });

  it("may be merges with any subject", () => {
    const { checkout, commits } = repository(["Old", "ci: one"]);
    git(checkout, "checkout", "--quiet", "-b", "side", commits[0]!);
    git(checkout, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", "ci: two");
    git(checkout, "merge", "--quiet", "--no-verify", "--no-ff", "-m", "Merge branch 'main'", "main");
    expect(subjectFaults(checkout, commits[0])).toEqual({
      faults: [],
      note: "2 subjects of commits are checked",
    });
  });

  it("are all checked in a shallow clone, which says what is missing", () => {
    const { checkout, commits } = repository(["Old", "Without area", "ci: new"]);
    const clone = join(folder, "clone");
    git(folder, "clone", "--quiet", "--depth=2", `file://${checkout}`, clone);
    const { faults, note } = subjectFaults(clone, commits[0]);
    expect(faults).toHaveLength(1);
    expect(note).toBe(
      "2 subjects of commits are checked; earlier ones are missing, because the clone is shallow",
    );
  });

  it("are not checked without git, which is said", () => {
    const checkout = join(folder, "none");
    mkdirSync(checkout);
    expect(subjectFaults(checkout)).toEqual({
      faults: [],
      note: "no subject is checked, because there is no git history",
    });
  });
});
