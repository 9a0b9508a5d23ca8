/** `FILEWRIGHT_DEBUG` prints lines of the areas that it names, and never contents. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DEBUG_AREAS } from "../../js/engine/debug.ts";

const root = mkdtempSync(join(tmpdir(), "filewright-debug-"));
afterAll(() => rmSync(root, { recursive: true }));
writeFileSync(join(root, "a.txt"), "zqxcontent\n");

const entry = new URL("../../dist/cli/library.js", import.meta.url).href;
const BODY = `
const { openWorkspace } = await import(${JSON.stringify(entry)});
const ws = await openWorkspace({ root: process.argv[1], history: false, rules: [{ path: "no/**", decision: "deny" }] });
await ws.call("grep", { pattern: "zqxcontent" });
await ws.call("write_file", { path: "b.txt", content: "zqxcontent\\n" });
await ws.call("read_file", { path: "no/x\\n.txt" });
await ws.close();
`;

function run(areas: string): readonly string[] {
  const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", BODY, root], {
    env: { ...process.env, FILEWRIGHT_DEBUG: areas },
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return stderr.split("\n").filter((line) => line !== "");
}

const areasOf = (lines: readonly string[]): ReadonlySet<string | undefined> =>
  new Set(lines.map((line) => line.split(" ")[1]));

test("`all` prints lines of every area, each one line, without contents", () => {
  const lines = run("all");
  expect([...areasOf(lines)].sort()).toEqual(Object.keys(DEBUG_AREAS));
  for (const line of lines) expect(line).toMatch(/^filewright [a-z]+ [0-9.]+ \S/u);
  expect(lines.join("\n")).not.toContain("zqxcontent");
  expect(lines).toContainEqual(
    expect.stringMatching(/ call .* read_file .*no\/x\\n\.txt: APPROVAL_DENIED in /u),
  );
  expect(lines).toContainEqual(expect.stringMatching(/ policy .* read_file: deny by rules$/u));
});

test("only the named areas are printed", () => {
  expect([...areasOf(run("search, engine"))].sort()).toEqual(["engine", "search"]);
  expect(run("")).toEqual([]);
});

test("an unknown area is told, with the known ones", () => {
  const [line, ...more] = run("serch");
  expect(line).toContain("there is no area 'serch'; known: all, call, engine");
  expect(more).toEqual([]);
});
