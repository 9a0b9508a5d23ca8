/** Globs of what to leave out in the forms of other dialects: refused, or said to be read as plain letters. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const CALLS: readonly (readonly [string, (glob: string) => Record<string, unknown>])[] = [
  ["glob", (glob) => ({ pattern: "*.ts", exclude: [glob] })],
  ["grep", (glob) => ({ pattern: "x", exclude: [glob] })],
  ["list_directory", (glob) => ({ ignore: [glob] })],
  ["read_many_files", (glob) => ({ paths: ["*.ts"], exclude: [glob] })],
];
const FILES = { "a.ts": "x\n", "b.ts": "x\n", "n (1).ts": "x\n" };

describe.each(KINDS)("a glob of what to leave out, on %s", (kind) => {
  test.each(CALLS)("%s says that the parentheses of *(a) are plain letters", async (tool, args) => {
    const { ws } = await place(kind, FILES);
    const { text, data } = await ws.call(tool, args("*(a).ts"));
    expect(text).toContain("the parentheses of *(a) are plain letters; write {a,b}");
    expect((data as { warnings?: readonly string[] }).warnings).toHaveLength(1);
  });

  test.each(CALLS)("%s leaves out a name with parentheses", async (tool, args) => {
    const { ws } = await place(kind, FILES);
    const { text } = await ws.call(tool, args("*(1).ts"));
    expect(text).toContain("a.ts");
    expect(text).not.toContain("n (1).ts");
  });

  test.each(CALLS)("%s refuses the forms that it does not know", async (tool, args) => {
    const { ws } = await place(kind, FILES);
    for (const glob of ["!(a).ts", "?(a).ts", "+(a).ts", "@(a|b).ts", "{1..3}.ts", "(a|b).ts", "*(a|b).ts"]) {
      const { text } = await ws.call(tool, args(glob));
      expect(text, glob).toContain(`glob '${glob}' is not valid`);
    }
  });
});
