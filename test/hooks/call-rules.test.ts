/** Rules: which calls they allow, deny or have asked about. */
import { describe, expect, test } from "vitest";
import type { Rule } from "../../js/index.node.ts";
import { reviewer } from "../support/reviewer.ts";
import { KINDS, place, type Seed } from "../tools/harness.ts";

describe.each(KINDS)("rules on %s", (kind) => {
  const seed: Seed = {
    "src/a": "1\nsecret line\n",
    "doc/a": "1\n",
    "doc/link": { link: "../src/a" },
    "doc/up": { link: "../src" },
    "doc/self": { link: "a" },
  };
  const cases: readonly [
    name: string,
    rules: readonly Rule[],
    tool: string,
    args: Record<string, unknown>,
    expected: "allowed" | "asked" | "denied",
  ][] = [
    ["no rule", [], "write_file", { path: "doc/a", content: "" }, "asked"],
    [
      "an allowed path",
      [{ path: "doc/**", decision: "allow" }],
      "write_file",
      { path: "doc/a", content: "" },
      "allowed",
    ],
    [
      "another path",
      [{ path: "doc/**", decision: "allow" }],
      "write_file",
      { path: "src/a", content: "" },
      "asked",
    ],
    [
      "a path with dots",
      [{ path: "src/**", decision: "deny" }],
      "write_file",
      { path: "doc/../src/a", content: "" },
      "denied",
    ],
    [
      "a link out of an allowed path",
      [{ path: "doc/**", decision: "allow" }],
      "write_file",
      { path: "doc/link", content: "" },
      "asked",
    ],
    [
      "a link within an allowed path",
      [{ path: "doc/**", decision: "allow" }],
      "write_file",
      { path: "doc/self", content: "" },
      "allowed",
    ],
    [
      "a link into a denied path",
      [{ path: "src/**", decision: "deny" }],
      "write_file",
      { path: "doc/up/a", content: "" },
      "denied",
    ],
    [
      "a link's own name denied",
      [{ path: "doc/link", decision: "deny" }],
      "write_file",
      { path: "doc/link", content: "" },
      "denied",
    ],
    [
      "a new file below a link into a denied path",
      [{ path: "src/**", decision: "deny" }],
      "write_file",
      { path: "doc/up/n", content: "" },
      "denied",
    ],
    ["reading", [{ path: "src/**", decision: "deny" }], "read_file", { path: "src/a" }, "denied"],
    [
      "reading that is asked about",
      [{ tool: "read_file", decision: "ask" }],
      "read_file",
      { path: "src/a" },
      "asked",
    ],
    [
      "one of two paths denied",
      [{ path: "src/**", decision: "deny" }],
      "copy",
      { source: "src/a", destination: "doc/b" },
      "denied",
    ],
    [
      "one of two paths allowed",
      [{ path: "doc/**", decision: "allow" }],
      "copy",
      { source: "src/a", destination: "doc/b" },
      "asked",
    ],
    [
      "the first that matches",
      [{ tool: "delete", decision: "deny" }, { decision: "allow" }],
      "delete",
      { path: "doc/a" },
      "denied",
    ],
    ["a star", [{ tool: "*", decision: "allow" }], "delete", { path: "doc/a" }, "allowed"],
    [
      "arguments with these values",
      [{ args: { recursive: true }, decision: "deny" }],
      "delete",
      { path: "doc", recursive: true },
      "denied",
    ],
    [
      "arguments with other values",
      [{ args: { recursive: true }, decision: "deny" }, { decision: "allow" }],
      "delete",
      { path: "doc/a" },
      "allowed",
    ],
    [
      "a test of the arguments",
      [{ args: ({ content }) => content === "ok", decision: "allow" }],
      "write_file",
      { path: "doc/a", content: "ok" },
      "allowed",
    ],
    [
      "a test that throws permits nothing",
      [
        {
          args: () => {
            throw new Error("x");
          },
          decision: "allow",
        },
      ],
      "mkdir",
      { path: "n" },
      "asked",
    ],
    [
      "a test that throws restricts",
      [
        {
          args: () => {
            throw new Error("x");
          },
          decision: "deny",
        },
      ],
      "mkdir",
      { path: "n" },
      "denied",
    ],
    [
      "a refused dry run",
      [{ path: "src/**", decision: "deny" }],
      "edit_file",
      { path: "src/a", old_text: "1", new_text: "2", dry_run: true },
      "denied",
    ],
    [
      "a refused edit that would fit nowhere",
      [{ path: "src/**", decision: "deny" }],
      "edit_file",
      { path: "src/a", old_text: "secret lime", new_text: "2" },
      "denied",
    ],
    [
      "a patch of a denied path",
      [{ path: "src/**", decision: "deny" }],
      "apply_patch",
      { patch: "--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-1\n+2\n" },
      "denied",
    ],
  ];
  test.each(cases)("%s", async (_, rules, tool, args, expected) => {
    const { shown, confirm } = reviewer("proceed_once");
    const { ws } = await place(kind, seed, { confirm, rules });
    const result = await ws.call(tool, args);
    expect(result.error?.code, result.text).toBe(expected === "denied" ? "APPROVAL_DENIED" : undefined);
    expect(shown).toHaveLength(expected === "asked" ? 1 : 0);
    if (expected === "denied") expect(result.text).not.toContain("secret line");
  });

  test("a list of files leaves out what a rule denies", async () => {
    const { ws } = await place(kind, seed, { rules: [{ path: "src/**", decision: "deny" }] });
    const { data } = await ws.call("read_many_files", { paths: ["src/a", "doc/a"] });
    expect(data).toMatchObject({ files: [{ path: "doc/a" }], skipped: [{ code: "APPROVAL_DENIED" }] });
  });

  test("a decision that is none, and a glob that is none, are refused", async () => {
    for (const rule of [{ decision: "maybe" }, { path: "[", decision: "deny" }]) {
      await expect(place(kind, {}, { rules: [rule as Rule] })).rejects.toMatchObject({
        code: expect.stringMatching(/^INVALID_/u),
      });
    }
  });

  test("without anybody to ask what must be asked is refused", async () => {
    const { ws } = await place(kind, seed, { rules: [{ path: "src/**", decision: "ask" }] });
    expect((await ws.call("write_file", { path: "src/a", content: "" })).error?.code).toBe("APPROVAL_DENIED");
    expect((await ws.call("read_file", { path: "src/a" })).error?.code).toBe("APPROVAL_DENIED");
    expect((await ws.call("write_file", { path: "doc/a", content: "" })).ok).toBe(true);
  });
});
