/** Whatever is given to openWorkspace instead of a directory or options: the refusal says what would be right. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";

const dir = mkdtempSync(join(tmpdir(), "filewright-first-"));
writeFileSync(join(dir, "file"), "");
afterAll(() => rmSync(dir, { recursive: true }));

const FORMS = String.raw`openWorkspace\("/repo"\) or openWorkspace\(\{ root: "/repo" \}\)`;
test.each<[string, unknown, RegExp]>([
  ["nothing", undefined, new RegExp(`got nothing, as of a variable that is not set.*${FORMS}`, "u")],
  ["null", null, /got null, as of a variable that is not set/u],
  ["an empty text", "", /must not be empty; a variable may not be set/u],
  ["a number", 3, new RegExp(`got a number; .*${FORMS}`, "u")],
  ["a bigint", 3n, /got a bigint; /u],
  ["a symbol", Symbol("x"), /got a symbol; /u],
  ["a boolean", true, /got a boolean; /u],
  ["a function", () => dir, /got a function; /u],
  ["a list of one", [dir], /got a list; several directories are \{ roots: \[\.\.\.\] \}/u],
  ["a promise", Promise.resolve(dir), /got a promise; await it/u],
  ["a date", new Date(0), /got an object of class Date; /u],
  ["a buffer", Buffer.from(dir), /got an object of class Buffer; /u],
  ["a map", new Map([["root", dir]]), /got an object of class Map; /u],
  ["a home", "~", /'~' is no path: only a shell replaces ~/u],
  ["a path below a home", "~/src", /'~\/src' is no path: only a shell replaces ~/u],
  ["a URL as text", `file://${dir}`, /is a URL as text; give it as new URL/u],
  ["a URL of another machine", new URL("https://example.org/a"), /must be a file: URL of this machine/u],
  ["a file", join(dir, "file"), /is a file; name the directory it is in/u],
  ["no options", {}, new RegExp(`give a root: .*${FORMS}`, "u")],
  ["an empty root", { root: "" }, /option 'root': must not be empty/u],
  ["another name for the root", { path: dir }, /option 'path': there is no such option; use root/u],
])("%s is refused with what would be right", async (_, given, says) => {
  const opened = openWorkspace(given as string);
  await expect(opened).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(says),
  });
});

test("a directory, its URL, and options without a prototype are taken", async () => {
  const plain = Object.assign(Object.create(null) as object, { root: dir });
  for (const given of [dir, new URL(`file://${dir}`), { root: dir }, plain])
    await (await openWorkspace(given as string)).close();
});

describe("a second argument of openWorkspace", () => {
  const open = openWorkspace as (...given: unknown[]) => ReturnType<typeof openWorkspace>;

  test.each([
    [
      { access: { readOnly: true }, deny: [] },
      'openWorkspace: options are not a second argument; give one object: openWorkspace({ root: "/repo", access: …, deny: … }).',
    ],
    [
      "read",
      'openWorkspace: options are not a second argument; give one object: openWorkspace({ root: "/repo", … }).',
    ],
  ])("is refused, because it would have no effect: %j", async (second, message) => {
    await expect(open(dir, second)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message });
  });

  test("may be undefined, or an index as of map", async () => {
    for (const second of [undefined, 0]) await (await open(dir, second)).close();
  });
});
