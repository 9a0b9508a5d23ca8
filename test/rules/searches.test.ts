/**
 * A rule that denies a path holds for whatever reaches it from above: searches,
 * listings, lists of files, batches, suggestions and counts.
 */
import { describe, expect, test } from "vitest";
import type { Rule } from "../../js/index.node.ts";
import { KINDS, place, type Seed } from "../tools/harness.ts";

const seed: Seed = {
  "vault/zqxname.txt": "MARKER in the vault\n",
  "vault/deep/zqxdeep.txt": "MARKER deep in the vault\n",
  "vault/public/open.txt": "MARKER but open\n",
  "src/a.txt": "MARKER in the open\n",
  "src/zqxb.key2": "MARKER in a key\n",
  "src/up": { link: "../vault" },
  "src/one": { link: "../vault/zqxname.txt" },
};
const deny: readonly Rule[] = [
  { path: "vault/**", decision: "deny" },
  { path: "**/*.key2", decision: "deny" },
];
/** Text that no answer may contain: names below the vault and of the key, and their contents. */
const FORBIDDEN_TEXT = /zqx|in the vault|deep in|but open|in a key/u;

/** Calls that reach the denied files from above, and a part of a good answer. */
const calls: readonly (readonly [tool: string, args: Record<string, unknown>, told: object])[] = [
  ["grep", { pattern: "MARKER" }, { total_matches: 1, files_with_matches: 1, files_searched: 1 }],
  ["grep", { pattern: "MARKER", glob: "*.key2" }, { total_matches: 0, files_searched: 0 }],
  ["grep", { pattern: "MARKER", glob: ["**/*.txt"], output: "files" }, { files: ["src/a.txt"] }],
  ["grep", { pattern: "MARKER", output: "count" }, { counts: [{ path: "src/a.txt", count: 1 }] }],
  ["grep", { pattern: "MARKER", path: "src", rank: "recent" }, { total_matches: 1 }],
  ["read_many_files", { paths: ["**/*"] }, { files: [{ path: "src/a.txt" }], skipped: [] }],
  ["read_many_files", { paths: ["."] }, { files: [{ path: "src/a.txt" }], skipped: [] }],
  ["read_many_files", { paths: ["src"], include: ["vault/*"] }, { files: [{ path: "src/a.txt" }] }],
  [
    "glob",
    { pattern: "**/*", type: "any" },
    { matches: ["src", "src/a.txt", "src/one", "src/up"], total: 4 },
  ],
  ["glob", { pattern: "vault/**" }, { matches: [], total: 0 }],
  ["find_files", { query: "xnam" }, { files: [], total: 0 }],
  ["list_directory", {}, { entries: [{ name: "src" }], total: 1 }],
  ["list_directory", { depth: 9, format: "tree", sort: "size" }, { total: 4 }],
  ["list_directory", { path: "src", format: "json" }, { total: 3 }],
];

describe.each(KINDS)("what a rule denies on %s", (kind) => {
  test.each(calls)("%s %j does not tell it", async (tool, args, told) => {
    const { ws } = await place(kind, seed, { rules: deny, knows: "names" });
    const result = await ws.call(tool, args);
    expect(result.ok, result.text).toBe(true);
    expect(JSON.stringify(result)).not.toMatch(FORBIDDEN_TEXT);
    expect(result.data).toMatchObject(told);
  });

  test.each(calls)("a batch of %s %j does not tell it, dry or not", async (tool, args) => {
    const { ws } = await place(kind, seed, { rules: deny });
    if (tool === "find_files") return;
    for (const dry_run of [true, false]) {
      const write = { tool: "write_file", args: { path: "new.txt", content: "MARKER new\n" } };
      const result = await ws.call("batch", { operations: [write, { tool, args }], dry_run });
      expect(result.ok, result.text).toBe(true);
      expect(JSON.stringify(result)).not.toMatch(FORBIDDEN_TEXT);
    }
  });

  test.each([
    ["read_file", { path: "vault/zqxname.txt" }],
    ["read_file", { path: "src/up/zqxname.txt" }],
    ["read_file", { path: "src/one" }],
    ["list_directory", { path: "vault" }],
    ["list_directory", { path: "src/up" }],
    ["grep", { pattern: "MARKER", path: "vault" }],
    ["grep", { pattern: "MARKER", path: "vault/deep" }],
    ["stat", { path: "vault" }],
    ["diff", { a: "src/a.txt", b: "src/zqxb.key2" }],
    ["glob", { pattern: "*", path: "vault" }],
    ["write_file", { path: "vault/new.txt", content: "" }],
    ["mkdir", { path: "vault" }],
  ])("%s %j by its own name is refused as a rule refuses", async (tool, args) => {
    const { ws } = await place(kind, seed, { rules: deny });
    const { error, text } = await ws.call(tool, args);
    expect(error?.code, text).toBe("APPROVAL_DENIED");
  });

  test.each(["vault", "vault/**"])("an absolute rule on %s holds as a relative one", async (path) => {
    const { ws, root } = await place(kind, seed);
    const agent = await ws.agent("a", { rules: [{ path: `${root}/${path}`, decision: "deny" }] });
    for (const named of ["vault/zqxname.txt", `${root}/vault/zqxname.txt`, "src/one"])
      expect((await agent.call("read_file", { path: named })).error?.code).toBe("APPROVAL_DENIED");
    const found = await agent.call("grep", { pattern: "MARKER" });
    expect(found.data).toMatchObject({ total_matches: 2, files_searched: 2 });
  });

  test("a name beside a denied one is not suggested", async () => {
    const { ws } = await place(kind, seed, { rules: deny });
    for (const [tool, args] of [
      ["read_file", { path: "src/zqxb.key" }],
      ["edit_file", { path: "src/zqxb.key", old_text: "a", new_text: "b" }],
      ["stat", { path: "vaul" }],
    ] as const) {
      const result = await ws.call(tool, args);
      expect(result.error?.code).toBe("NOT_FOUND");
      expect(result.text).not.toMatch(/key2|vault/u);
    }
  });
});
