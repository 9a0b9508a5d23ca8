/** Globs in the forms of other dialects: every tool that takes a glob says the form that works, none takes one without effect. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const FILES = { "a.ts": "x\n", "a.test.ts": "x\n", "b.md": "x\n", "+(c).ts": "kept\n" };

describe.each(KINDS)("a glob of another dialect, on %s", (kind) => {
  test.each(["!(*.test).ts", "?(a).ts", "+(a).ts", "@(a).ts", "(a|b).ts", "{1..3}.ts"])(
    "%s is refused by every tool with the form that works",
    async (glob) => {
      const { ws } = await place(kind, FILES);
      const { text: told } = await ws.call("glob", { pattern: glob });
      expect(told).toContain("which is not known");
      for (const [tool, args] of [
        ["glob", { pattern: "*", exclude: [glob] }],
        ["grep", { pattern: "x", glob }],
        ["grep", { pattern: "x", exclude: [glob] }],
        ["list_directory", { ignore: [glob] }],
        ["list_directory", { ignore: [glob], depth: 2 }],
      ] as const) {
        const result = await ws.call(tool, args);
        expect(result.error?.code, `${tool} ${JSON.stringify(args)}`).toBe("INVALID_GLOB");
        expect(result.text).toBe(told);
      }
      const many = await ws.readManyFiles({ paths: [glob] });
      expect(many.skipped).toMatchObject([{ path: glob, code: "INVALID_GLOB" }]);
      expect(many.skipped[0]?.reason).toMatch(/which is not known; (?:write|exclude) /u);
    },
  );

  test("a star before parentheses says that these are plain letters where nothing matches", async () => {
    const { ws } = await place(kind, { ...FILES, "d (1).txt": "kept\n" });
    for (const [tool, args] of [
      ["glob", { pattern: "*(a).ts" }],
      ["grep", { pattern: "x", glob: "*(a).ts" }],
      ["read_many_files", { paths: ["*(a).ts"] }],
    ] as const)
      expect((await ws.call(tool, args)).text, tool).toContain("the parentheses of *(a) are plain letters");
    expect((await ws.call("glob", { pattern: "*(1).txt" })).text).toBe("d (1).txt");
  });

  test("an existing file of exactly that name is read", async () => {
    const { ws } = await place(kind, FILES);
    expect((await ws.readManyFiles({ paths: ["+(c).ts"] })).files).toMatchObject([{ content: "kept\n" }]);
  });
});
