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

describe.each(KINDS)("a link whose target is hidden, on %s", (kind) => {
  // From `deep`, the same texts name places inside the workspace that may be told.
  const hidden: Seed = {
    "sub/to-outside": { link: "../../out/zqxoutside" },
    "sub/plain.txt": "plain\n",
    "tree/low/to-denied": { link: "../../vault/zqxname.txt" },
    "tree/low/plain": { link: "../../sub/plain.txt" },
    "tree/absolute": { link: "$O/zqxoutside" },
    "whole/door": { link: "$O" },
    "whole/through": { link: "door/zqxoutside" },
    "vault/zqxname.txt": "kept\n",
    "deep/er": null,
    "../out/zqxoutside": "outside\n",
  };
  const open = () => place(kind, hidden, { access: { deny: ["vault/**"] } });
  const refused = { code: "OUTSIDE_ALLOWED", details: { reason: "link_target" } };

  test.each([
    ["move", { source: "sub/to-outside", destination: "deep/er/moved" }],
    ["move", { source: "sub", destination: "deep/er/sub" }],
    ["copy", { source: "sub", destination: "deep/er/sub" }],
    ["move", { source: "tree", destination: "deep/er/tree" }],
    ["copy", { source: "whole", destination: "deep/whole" }],
    ["copy", { source: "tree/low", destination: "deep/new/er/low" }],
  ])("stays where it is: %s %j would tell it", async (tool, args) => {
    const { ws, target } = await open();
    const result = await ws.call(tool, args);
    expect(result.error).toMatchObject(refused);
    expect(JSON.stringify(result)).not.toContain("zqx");
    expect(result.text).toMatch(/sub\/to-outside|tree\/low\/to-denied|whole\/through/u);
    expect(await target("sub/to-outside")).toContain("zqxoutside");
    expect(await target("tree/low/to-denied")).toContain("zqxname");
    const { text } = await ws.call("list_directory", { depth: 8 });
    expect(text).not.toContain("zqx");
  });

  test("is refused in a batch, with nothing of the batch made", async () => {
    const { ws, text } = await open();
    const result = await ws.call("batch", {
      operations: [
        { tool: "write_file", args: { path: "new.txt", content: "new\n" } },
        { tool: "copy", args: { source: "sub", destination: "deep/er/sub" } },
      ],
    });
    expect(JSON.stringify(result)).toContain("link_target");
    expect(JSON.stringify(result)).not.toContain("zqx");
    expect(await text("new.txt")).toBeUndefined();
  });

  test.each([
    [
      "an absolute target",
      "copy",
      { source: "tree/absolute", destination: "deep/er/absolute" },
      "OUTSIDE_ALLOWED",
    ],
    ["an absolute target", "move", { source: "tree/absolute", destination: "deep/er/absolute" }, undefined],
    [
      "a target behind another link of the tree",
      "move",
      { source: "whole", destination: "deep/whole" },
      undefined,
    ],
    ["a new place from where it is hidden too", "move", { source: "sub", destination: "bus" }, undefined],
    ["a new name beside it", "move", { source: "sub/to-outside", destination: "sub/renamed" }, undefined],
    ["a target that is shown", "copy", { source: "tree/low/plain", destination: "deep/plain" }, undefined],
  ])("with %s may %s: %j", async (_, tool, args, code) => {
    const { ws } = await open();
    const result = await ws.call(tool, args);
    expect(result.error?.code).toBe(code);
    expect((await ws.call("list_directory", { depth: 8 })).text).not.toContain("zqx");
  });
});
