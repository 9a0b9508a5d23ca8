/** One directory under two paths, as bind mounts and shared folders of containers make it: nothing is moved onto itself. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { env, execPath, platform } from "node:process";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

interface Answer {
  readonly code: string;
  readonly text: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const PROGRAM = join(import.meta.dirname, "bind-mounts.mjs");
/** A workspace in which `two` is `one` under another path. */
function play(cases: readonly unknown[], engine: string): readonly Answer[] {
  const folder = temporaryDirectory();
  const [one, two] = ["one", "two"].map((name) => join(folder, "ws", name)) as [string, string];
  for (const path of [one, two]) mkdirSync(path, { recursive: true });
  const mounts = ["--dev-bind", "/", "/", "--bind", one, two];
  const { status, stdout, stderr } = spawnSync("bwrap", [...mounts, execPath, PROGRAM, folder], {
    input: JSON.stringify(cases),
    encoding: "utf8",
    env: { ...env, FILEWRIGHT_ENGINE: engine },
  });
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as readonly Answer[];
}

const onto = (source: string, destination: string) => ({ source, destination, overwrite: true });
const CASES: readonly (readonly [tool: string, args: object, code: string])[] = [
  ["move", onto("one/d", "two/d"), "SAME_FILE"],
  ["move", onto("two/d", "one/d"), "SAME_FILE"],
  ["move", onto("one/d/sub", "two/d/sub"), "SAME_FILE"],
  ["move", onto("one/f", "two/f"), "SAME_FILE"],
  ["copy", onto("two", "one"), "SAME_FILE"],
  ["copy", onto("one/d", "two/d"), "SAME_FILE"],
  ["copy", onto("one/f", "two/f"), "SAME_FILE"],
  ["move", onto("one/d", "two/d/sub/new"), "INVALID_ARGUMENT"],
  ["move", onto("one/d", "two/d/made/new"), "INVALID_ARGUMENT"],
  ["copy", onto("one/d", "two/d/sub/new"), "INVALID_ARGUMENT"],
  ["copy", onto("one/d", "two/d/sub"), "INVALID_ARGUMENT"],
  ["copy", onto("two", "one/d/new"), "INVALID_ARGUMENT"],
  ["move", onto("one/d/sub", "two/d"), "NOT_EMPTY"],
  ["copy", onto("one/d/sub", "two/d"), "ok"],
];

describe.skipIf(platform !== "linux").each(["native", "wasm"])("with the engine %s", (engine) => {
  test("what is already there stays there", () => {
    const answers = play(
      CASES.map(([tool, args]) => [tool, args]),
      engine,
    );
    const wrong = answers.flatMap(({ code, text, before, after }, index) => {
      const [tool, args, expected] = CASES[index >> 1] as (typeof CASES)[number];
      const lost = before.filter((entry) => !after.includes(entry));
      const isChanged = code !== "ok" && JSON.stringify(before) !== JSON.stringify(after);
      if (code === expected && lost.length === 0 && !isChanged) return [];
      return [{ tool, args, expected, code, text, lost, after }];
    });
    expect(wrong).toEqual([]);
  });

  test("what is moved within the directory by its other path is there afterwards", () => {
    const answers = play(
      [
        ["move", onto("one/d", "two/e")],
        ["move", onto("two/f", "one/g")],
      ],
      engine,
    );
    const [tree, , file] = answers.map(({ code, after }) => [code, ...after]);
    expect(tree).toEqual(["ok", "/one/e/", "/one/e/a=a", "/one/e/sub/", "/one/e/sub/b=b", "/one/f=f"]);
    expect(file).toEqual(["ok", "/one/d/", "/one/d/a=a", "/one/d/sub/", "/one/d/sub/b=b", "/one/g=f"]);
  });
});
