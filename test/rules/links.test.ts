/** No listing tells where a link points that leads to something denied or outside. */
import { describe, expect, test } from "vitest";
import type { WorkspaceOptions } from "../../js/index.node.ts";
import { KINDS, place, type Seed } from "../tools/harness.ts";

const seed: Seed = {
  "vault/zqxname.txt": "kept\n",
  "sub/plain.txt": "plain\n",
  "sub/to-denied": { link: "../vault/zqxname.txt" },
  "sub/to-dir": { link: "../vault" },
  "sub/to-missing": { link: "../vault/zqxgone" },
  "sub/to-outside": { link: "../../out/zqxoutside" },
  "sub/absolute": { link: "$W/vault/zqxname.txt" },
  "sub/through": { link: "to-dir/zqxname.txt" },
  "sub/through-missing": { link: "to-dir/zqxgone" },
  "sub/climbing": { link: "to-dir/../vault/zqxname.txt" },
  "sub/inside": { link: "plain.txt" },
  "sub/dangling": { link: "nowhere" },
  "sub/circle": { link: "circle" },
  "../out/zqxoutside": "outside\n",
};
const SHOWN = { inside: "plain.txt", dangling: "nowhere", circle: "circle" };

const denying: readonly (readonly [how: string, options: Omit<WorkspaceOptions, "root" | "backend">])[] = [
  ["access.deny", { access: { deny: ["vault"] } }],
  ["a rule", { rules: [{ path: "vault/**", decision: "deny" }] }],
  ["a rule that asks", { rules: [{ path: "vault/**", decision: "ask" }] }],
  [
    "a rule behind one that allows",
    {
      rules: [
        { path: "**/open", decision: "allow" },
        { path: "vault", decision: "deny" },
      ],
    },
  ],
];

describe.each(KINDS)("links on %s", (kind) => {
  describe.each(denying)("to what %s keeps", (_, options) => {
    test.each([
      ["list_directory", { path: "sub" }],
      ["list_directory", { depth: 3 }],
      ["list_directory", { path: "sub", format: "tree", sort: "mtime" }],
      ["list_directory", { path: "sub", format: "json" }],
    ])("%s %j shows no target", async (tool, args) => {
      const { ws } = await place(kind, seed, options);
      const result = await ws.call(tool, args);
      expect(JSON.stringify(result)).not.toContain("zqx");
      const { entries } = result.data as { entries: { name: string; type: string; target?: string }[] };
      const targets = entries.flatMap(({ name, target }) => (target === undefined ? [] : [[name, target]]));
      expect(Object.fromEntries(targets)).toEqual(SHOWN);
      expect(entries.filter(({ type }) => type === "symlink")).toHaveLength(11);
      if ((args as { format?: string }).format === undefined) {
        expect(result.text).toMatch(/\[LINK\] (?:sub\/)?inside -> plain\.txt/u);
        expect(result.text).toMatch(/\[LINK\] (?:sub\/)?to-denied -> \(not shown\)/u);
      }
    });

    test("stat shows no target, and those of other links", async () => {
      const { ws } = await place(kind, seed, options);
      for (const path of ["sub/to-outside", "sub/to-denied", "sub/through"]) {
        const { text, data } = await ws.call("stat", { path, follow: false });
        expect(JSON.stringify({ text, data })).not.toContain("zqx");
        expect(text).toContain("target: (not shown)");
      }
      const { data } = await ws.call("stat", { path: "sub/inside", follow: false });
      expect(data).toMatchObject({ target: "plain.txt" });
    });
  });
});

describe.each(KINDS)("a link to a directory on %s", (kind) => {
  const linked: Seed = {
    "sub/secret/zqxname.txt": "zqxcontent\n",
    "sub/plain.txt": "plain\n",
    door: { link: "sub" },
  };
  // Denied by the name with the link in it alone; without the link the same files may be read.
  const open = () => place(kind, linked, { access: { deny: ["door/secret"] } });

  test.each([
    ["list_directory", { path: "door", depth: 3 }],
    ["list_directory", { path: "door", format: "tree" }],
    ["grep", { path: "door", pattern: "zqx" }],
    ["glob", { path: "door", pattern: "**/*.txt" }],
    ["find_files", { path: "door", query: "zqxname" }],
  ])("%s %j shows nothing that its names deny", async (tool, args) => {
    const { ws } = await open();
    const result = await ws.call(tool, args);
    expect(result.error).toBeUndefined();
    expect(JSON.stringify(result.data)).not.toMatch(/secret|zqxname|zqxcontent/u);
  });

  test("shows the same entries without the link", async () => {
    const { ws } = await open();
    expect((await ws.call("read_file", { path: "sub/secret/zqxname.txt" })).text).toContain("zqxcontent");
    expect((await ws.call("read_file", { path: "door/secret/zqxname.txt" })).error?.code).toBe(
      "OUTSIDE_ALLOWED",
    );
    expect((await ws.call("grep", { path: "sub", pattern: "zqx" })).text).toContain("zqxcontent");
  });
});
