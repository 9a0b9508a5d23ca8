/** File systems that give an entry another number when it is renamed, and that cannot flush or set permission bits. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { NodeBackend } from "../../js/backends/node/node.node.ts";
import { SandboxPolicy } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { mountOddFiles } from "../support/odd-files.mjs";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const probe = mkdtempSync(join(tmpdir(), "filewright-odd-"));
const trial = mountOddFiles(join(probe, "trial"), []);
if (trial.missing === undefined) trial.stop();
rmSync(probe, { recursive: true, force: true });

type Kind = "addon" | "node";

/** A workspace on a file system with some habits. */
async function open(habits: readonly string[], kind: Kind, options: Partial<WorkspaceOptions> = {}) {
  const folder = temporaryDirectory();
  const root = join(folder, "ws");
  const mounted = mountOddFiles(root, habits);
  if (mounted.missing !== undefined) throw new Error(mounted.missing);
  afterThisTest(mounted.stop);
  mkdirSync(join(root, "d/sub"), { recursive: true });
  for (const name of ["a", "b", "d/c", "d/sub/e"]) writeFileSync(join(root, name), `${name}\n`);
  symlinkSync("a", join(root, "link"));
  const backend =
    kind === "node"
      ? { backend: new NodeBackend({ policy: SandboxPolicy.workspaceOnly(root) }), backendId: root, root }
      : { root };
  const ws = await openWorkspace({
    ...backend,
    stateDir: join(folder, "state"),
    ...options,
  } as WorkspaceOptions);
  afterThisTest(() => ws.close());
  return { ws, root };
}

function tree(root: string): readonly string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return path.slice(root.length + 1) + (entry.isFile() ? `=${readFileSync(path, "utf8").trim()}` : "");
    })
    .sort();
}

describe.skipIf(trial.missing !== undefined).each(["addon", "node"] as const)("with %s", (kind) => {
  test.each<readonly [tool: string, args: object]>([
    ["delete", { path: "a" }],
    ["delete", { path: "link" }],
    ["delete", { path: "d/sub", recursive: true }],
    ["write_file", { path: "b", content: "new\n" }],
    ["edit_file", { path: "d/c", old_text: "d/c", new_text: "changed" }],
    ["move", { source: "b", destination: "moved" }],
    ["move", { source: "d", destination: "e" }],
    ["move", { source: "a", destination: "d/c", overwrite: true }],
    ["copy", { source: "d", destination: "copied" }],
    [
      "batch",
      {
        operations: [
          { tool: "delete", args: { path: "d", recursive: true } },
          { tool: "write_file", args: { path: "b", content: "batch\n" } },
          { tool: "move", args: { source: "a", destination: "c" } },
        ],
      },
    ],
  ])("where a rename gives another number: %s %j, and its undo", async (tool, args) => {
    const { ws, root } = await open(["renumber"], kind);
    const before = tree(root);
    const result = await ws.call(tool, args);
    expect(result.ok, result.text).toBe(true);
    expect(tree(root)).not.toEqual(before);
    await ws.undo(result.meta.call_id as string);
    expect(tree(root)).toEqual(before);
  });

  test("a batch that fails there is rolled back", async () => {
    const { ws, root } = await open(["renumber"], kind);
    const before = tree(root);
    const operations = [
      { tool: "delete", args: { path: "a" } },
      { tool: "move", args: { source: "d", destination: "e" } },
      { tool: "write_file", args: { path: "b", content: "new" } },
      { tool: "edit_file", args: { path: "e/c", old_text: "absent", new_text: "x" } },
    ];
    expect(await ws.call("batch", { operations })).toMatchObject({ ok: false });
    expect(tree(root)).toEqual(before);
  });

  test("without fsync nothing can be durable, which is said; all else works", async () => {
    const durable = await open(["no-fsync"], kind, { durability: "durable" });
    const before = tree(durable.root);
    const refused = await durable.ws.call("write_file", { path: "b", content: "new\n" });
    expect(refused).toMatchObject({ ok: false, error: { code: "UNSUPPORTED_OPERATION" } });
    expect(refused.text).toContain('durability: "atomic"');
    expect(tree(durable.root)).toEqual(before);
    const { ws } = await open(["no-fsync"], kind);
    expect(await ws.call("write_file", { path: "b", content: "new\n" })).toMatchObject({ ok: true });
  });

  test("where permission bits cannot be set, the step that failed is named", async () => {
    const { ws, root } = await open(["no-chmod"], kind);
    // Bits that a file is not created with, so that they have to be set.
    writeFileSync(join(root, "bits"), "bits\n", { mode: 0o640 });
    const before = tree(root);
    const refused = await ws.call("write_file", { path: "bits", content: "new\n" });
    expect(refused).toMatchObject({ ok: false, error: { code: "IO_ERROR" } });
    expect(refused.text).toContain("permission bits");
    expect(tree(root)).toEqual(before);
  });
});
