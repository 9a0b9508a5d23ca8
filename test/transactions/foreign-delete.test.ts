/** What another process writes right before a call removes the file: it is not lost unsaid. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LocalBackend, openWorkspace, type SandboxPolicy } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** Opens a workspace on the disk where another process writes `f.txt` right before the first removal. */
async function opened(confirm?: () => Promise<{ outcome: "proceed_once" }>) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-foreign-")));
  afterThisTest(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "repo");
  const file = join(root, "f.txt");
  mkdirSync(root);
  writeFileSync(file, "ours\n");
  let writes = 0;
  const foreign = (): void => {
    if (writes++ === 0) writeFileSync(file, "theirs\n");
  };
  const withForeign = (disk: LocalBackend): LocalBackend => {
    const { confine } = disk;
    const remove = disk.delete.bind(disk);
    return Object.assign(disk, {
      delete: (...all: Parameters<typeof remove>) => {
        foreign();
        return remove(...all);
      },
      ...(confine && { confine: (policy: SandboxPolicy) => withForeign(confine.call(disk, policy)) }),
    });
  };
  const backend = withForeign(new LocalBackend());
  const ws = await openWorkspace({ backend, root, stateDir: join(base, "state"), confirm });
  return { ws, file, writes: () => writes };
}

const CALLS: readonly (readonly [string, object])[] = [
  ["delete", { path: "f.txt" }],
  ["apply_patch", { patch: "*** Begin Patch\n*** Delete File: f.txt\n*** End Patch" }],
  ["batch", { operations: [{ tool: "delete", args: { path: "f.txt" } }] }],
];

describe.each(CALLS)("another process that writes right before %s", (tool, args) => {
  it("makes an approved call fail with CONFLICT, and keeps its content", async () => {
    const { ws, file, writes } = await opened(async () => ({ outcome: "proceed_once" }));
    const result = await ws.call(tool as "stat", args as never);
    expect([writes() > 0, result.error?.code]).toEqual([true, "CONFLICT"]);
    expect(readFileSync(file, "utf8")).toBe("theirs\n");
    await ws.close();
  });

  it("is planned on again, so that the undo of the call brings its content back", async () => {
    const { ws, file, writes } = await opened();
    const result = await ws.call(tool as "stat", args as never);
    expect([writes() > 0, result.ok ? "" : result.text]).toEqual([true, ""]);
    await ws.undo(result.meta.call_id ?? "");
    expect(readFileSync(file, "utf8")).toBe("theirs\n");
    await ws.close();
  });
});
