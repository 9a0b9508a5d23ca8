/** Where a preset's text tells names alone, the disk is not asked for more. */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../../js/index.node.ts";

let root: string;
let ws: Workspace;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "filewright-brief-"));
  await writeFile(join(root, "a.png"), "not a picture\n");
  await symlink("a.png", join(root, "link"));
  ws = await openWorkspace({ roots: [root], preset: "mcp" });
});
afterAll(async () => {
  await ws.close();
  await rm(root, { recursive: true });
});

const data = async (tool: string, args: object): Promise<Record<string, unknown>> => {
  const result = await ws.call(tool, args);
  if (!result.ok) throw new Error(result.text);
  return { ...(result.data as object), text: result.text };
};

test("a listing of names has neither sizes nor times, and still says where links lead", async () => {
  const { entries, text } = await data("list_directory", { path: root });
  expect(entries).toEqual([
    { name: "a.png", path: "a.png", type: "file" },
    { name: "link", path: "link", type: "symlink", target: "a.png" },
  ]);
  expect(text).toBe("[FILE] a.png\n[LINK] link -> a.png");
});

test("a listing that shows sizes has them", async () => {
  const { entries } = await data("list_directory_with_sizes", { path: root, sortBy: "size" });
  expect(entries).toMatchObject([{ size: 14 }, { size: 5 }]);
});

test("facts without a media type read nothing of the file", async () => {
  const facts = await data("get_file_info", { path: join(root, "a.png") });
  expect(facts).toMatchObject({ size: 14, is_file: true });
  expect(facts).not.toHaveProperty("mime");
  const plain = await openWorkspace({ roots: [root] });
  expect((await plain.call("stat", { path: "a.png" })).data).toHaveProperty("mime");
  await plain.close();
});
