/** The first rule that matches decides about each path, also about those that a search reaches. */
import { describe, expect, test } from "vitest";
import type { Rule } from "../../js/index.node.ts";
import { KINDS, place, type Seed } from "../tools/harness.ts";

const seed: Seed = {
  "vault/zqx.txt": "MARKER kept\n",
  "vault/public/open.txt": "MARKER open\n",
  "vault/deep/public/more.txt": "MARKER more\n",
  "vault/empty/zqx": "MARKER kept\n",
  "docs/a.txt": "MARKER docs\n",
};

describe.each(KINDS)("rules in their order on %s", (kind) => {
  const rules: readonly Rule[] = [
    { path: "vault/public/**", decision: "allow" },
    { path: "vault/deep/public", decision: "allow" },
    { path: "vault/**", decision: "deny" },
  ];

  test("a search shows what an earlier rule allows, and nothing beside it", async () => {
    const { ws } = await place(kind, seed, { rules });
    const found = await ws.call("grep", { pattern: "MARKER", output: "files" });
    expect(found.data).toMatchObject({
      files: ["docs/a.txt", "vault/deep/public/more.txt", "vault/public/open.txt"],
      files_searched: 3,
    });
    const listed = await ws.call("list_directory", { depth: 9, format: "names" });
    expect(listed.text.split("\n").sort()).toEqual([
      "docs",
      "docs/a.txt",
      "vault",
      "vault/deep",
      "vault/deep/public",
      "vault/deep/public/more.txt",
      "vault/public",
      "vault/public/open.txt",
    ]);
    expect((await ws.call("read_file", { path: "vault/public/open.txt" })).ok).toBe(true);
    for (const path of ["vault", "vault/zqx.txt", "vault/deep"])
      expect((await ws.call("list_directory", { path })).error?.code).toBe("APPROVAL_DENIED");
  });

  test("a batch, a list of files and a change see the same", async () => {
    const { ws, text } = await place(kind, seed, { rules });
    const result = await ws.call("batch", {
      operations: [
        { tool: "write_file", args: { path: "vault/public/new.txt", content: "MARKER new\n" } },
        { tool: "grep", args: { pattern: "MARKER", path: "." } },
        { tool: "read_many_files", args: { paths: ["**/*"] } },
      ],
    });
    expect(result.ok, result.text).toBe(true);
    expect(JSON.stringify(result)).toContain("MARKER new");
    expect(JSON.stringify(result)).not.toMatch(/zqx|kept/u);
    expect(await text("vault/public/new.txt")).toBe("MARKER new\n");
  });

  test("a directory of which something is denied is neither deleted, moved nor copied", async () => {
    const { ws, text } = await place(kind, seed, { rules });
    for (const [tool, args] of [
      ["delete", { path: "vault", recursive: true }],
      ["move", { source: "vault", destination: "out" }],
      ["copy", { source: "vault", destination: "out" }],
    ] as const)
      expect((await ws.call(tool, args)).error?.code).toBe("APPROVAL_DENIED");
    expect((await ws.call("delete", { path: "vault/public", recursive: true })).ok).toBe(true);
    expect(await text("vault/zqx.txt")).toBe("MARKER kept\n");
  });

  test("a rule that names a tool holds for the searches of that tool alone", async () => {
    const { ws } = await place(kind, seed, { rules: [{ tool: "grep", path: "vault", decision: "deny" }] });
    expect((await ws.call("grep", { pattern: "MARKER" })).data).toMatchObject({ files_searched: 1 });
    expect((await ws.call("glob", { pattern: "**/*.txt" })).data).toMatchObject({ total: 4 });
  });

  test("a rule that tests arguments holds for the searches of calls that have them", async () => {
    const rule: Rule = { args: { output: "count" }, path: "vault", decision: "deny" };
    const { ws } = await place(kind, seed, { rules: [rule] });
    const searched = async (output: string): Promise<unknown> =>
      ((await ws.call("grep", { pattern: "MARKER", output })).data as { files_searched: number })
        .files_searched;
    expect(await searched("count")).toBe(1);
    expect(await searched("files")).toBe(5);
  });

  test("braces may hold whole paths", async () => {
    const { ws } = await place(kind, seed, { rules: [{ path: "{vault/**,docs/a.txt}", decision: "deny" }] });
    const { data } = await ws.call("list_directory", { depth: 5 });
    expect(data).toMatchObject({ entries: [{ path: "docs" }], total: 1 });
  });
});

describe.each(KINDS)("rules that ask, and searches, on %s", (kind) => {
  const rules: readonly Rule[] = [{ path: "vault/**", decision: "ask" }];

  test("a search leaves out files that need an approval, and says so", async () => {
    const asked: string[] = [];
    const { ws } = await place(kind, seed, {
      rules,
      confirm: ({ title }) =>
        [{ outcome: "proceed_once" as const }, asked.push(title)][0] as { outcome: "proceed_once" },
    });
    for (const [tool, args] of [
      ["grep", { pattern: "MARKER" }],
      ["glob", { pattern: "**/*" }],
      ["list_directory", { depth: 9 }],
      ["read_many_files", { paths: ["**/*"] }],
    ] as const) {
      const result = await ws.call(tool, args);
      expect(JSON.stringify(result)).not.toMatch(/vault|kept|open/u);
      expect(result.text).toContain(
        "[what a rule wants to be asked about is left out: name a path to be asked]",
      );
      expect(result.data).toMatchObject({ warnings: [expect.stringContaining("left out")] });
    }
    expect(asked).toEqual([]);
    expect((await ws.call("grep", { pattern: "MARKER", path: "docs" })).text).not.toContain("left out");
  });

  test("a search of a path that was asked about shows it", async () => {
    const { ws } = await place(kind, seed, { rules, confirm: () => ({ outcome: "proceed_once" }) });
    expect((await ws.call("grep", { pattern: "MARKER", path: "vault" })).data).toMatchObject({
      total_matches: 4,
    });
    const many = await ws.call("read_many_files", { paths: ["vault/zqx.txt", "**/*"] });
    expect(many.data).toMatchObject({ files: [{ path: "docs/a.txt" }, { path: "vault/zqx.txt" }] });
  });

  test("a search of a path that needs an approval is refused without an approver", async () => {
    const { ws } = await place(kind, seed, { rules });
    expect((await ws.call("grep", { pattern: "MARKER", path: "vault" })).error?.code).toBe("APPROVAL_DENIED");
    expect((await ws.call("grep", { pattern: "MARKER" })).data).toMatchObject({ total_matches: 1 });
  });

  test("an answer that lasts holds for searches from above too", async () => {
    const { ws } = await place(kind, seed, { rules, confirm: () => ({ outcome: "proceed_always_tool" }) });
    await ws.call("grep", { pattern: "MARKER", path: "vault" });
    expect((await ws.call("grep", { pattern: "MARKER" })).data).toMatchObject({ total_matches: 5 });
  });
});
