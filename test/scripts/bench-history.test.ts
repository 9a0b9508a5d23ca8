/** The commits that the benchmark of ranked search chooses, and the agents that it replays. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { checkedOut, chooseCommits, repositoriesIn } from "../../bench/lib/history-commits.mjs";
import { byFiles, bySearch, MAX_CALLS, rareWords, replay } from "../../bench/lib/replay.mjs";
import { openWorkspace } from "../../js/index.node.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const BEFORE = ["def open(token):", "    check(token)", "", "def close(reason):", "    log(reason)", ""];

/** Makes a repository with a commit for each message, which changes the given files. */
function repositoryWith(
  folder: string,
  commits: readonly (readonly [string, Record<string, string>])[],
): string {
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: folder });
  git("init", "-q");
  for (const [message, files] of commits) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    git("add", ".");
    git("commit", "-q", "-m", message);
  }
  return join(folder, ".git");
}

const text = (line: string): string => BEFORE.with(4, line).join("\n");

test("the commits with a known answer are those of few source files that their message does not name", () => {
  const folder = temporaryDirectory();
  const repository = repositoryWith(folder, [
    ["begin with two small files", { "src/session.py": BEFORE.join("\n"), "tests/test_session.py": "" }],
    [
      "tell why a connection ends\n\nThe reason was lost (#12).\n\nSigned-off-by: a",
      { "src/session.py": text("    tell(reason)"), "tests/test_session.py": "1" },
    ],
    ["write why a session ends", { "src/session.py": text("    write(reason)") }],
    ["release of the new parts", { "src/session.py": text("    pass") }],
    ["check the parts once more", { "tests/test_session.py": "2" }],
  ]);
  const chosen = chooseCommits(repository, 10);
  expect(chosen.map(({ query, hunks }) => ({ query, hunks }))).toEqual([
    {
      query: "tell why a connection ends The reason was lost .",
      hunks: [{ path: "src/session.py", first: 5, last: 5 }],
    },
  ]);
  for (const { tree } of checkedOut(repository, chosen))
    expect(readFileSync(join(tree, "src/session.py"), "utf8")).toBe(BEFORE.join("\n"));
});

test("a folder without a git directory is skipped with the reason", () => {
  expect(() => repositoriesIn(undefined)).toThrow(/--repositories FOLDER is missing/u);
  expect(() => repositoriesIn(temporaryDirectory())).toThrow(/has no git directory/u);
});

test.each([
  ["search", bySearch],
  ["grep", byFiles],
])("an agent with %s ends when the place was shown, and gives up where it never is", async (_, strategy) => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/session.py"), BEFORE.join("\n"));
  const workspace = await openWorkspace({ root: folder, knows: true, history: false });
  const query = "why a session is closed: its reason";
  const words = rareWords(query, [{ lower: BEFORE.join("\n") }]);
  const place = { path: "src/session.py", first: 4, last: 5 };
  const found = await replay(workspace, strategy, { query, words, place });
  expect(found).toMatchObject({ isFound: true });
  expect(found.calls).toBeLessThan(4);
  const missed = await replay(workspace, strategy, { query, words, place: { ...place, last: 99 } });
  expect(missed.isFound).toBe(false);
  expect(missed.calls).toBeLessThanOrEqual(MAX_CALLS);
  await workspace.close();
});
