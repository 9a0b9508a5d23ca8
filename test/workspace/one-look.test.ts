/** A change of one file looks at it once: the plan reads it, and the write compares its version and keeps what was read. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LocalBackend, openWorkspace, type SandboxPolicy } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** Notes the names of the calls of a disk, and of the copy of it that enforces a policy. */
function noting(disk: LocalBackend, calls: string[]): LocalBackend {
  const own = disk as unknown as Record<string, unknown>;
  for (const name of ["exists", "stat", "lstat", "read", "readBytes", "realpath", "lock", "writeBytes"]) {
    const method = (own[name] as (...all: unknown[]) => unknown).bind(disk);
    own[name] = (...all: unknown[]) => {
      calls.push(name);
      return method(...all);
    };
  }
  const { confine } = disk;
  if (confine) own["confine"] = (policy: SandboxPolicy) => noting(confine.call(disk, policy), calls);
  return disk;
}

it.each([
  ["write_file", { path: "a.txt", content: "two\n" }],
  ["edit_file", { path: "a.txt", old_text: "one", new_text: "two" }],
] as const)("%s makes no look between its lock and its write", async (tool, args) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "filewright-look-")));
  afterThisTest(() => rmSync(root, { recursive: true, force: true }));
  const calls: string[] = [];
  const stateDir = mkdtempSync(join(tmpdir(), "filewright-look-"));
  afterThisTest(() => rmSync(stateDir, { recursive: true, force: true }));
  const ws = await openWorkspace({ backend: noting(new LocalBackend(), calls), root, stateDir });
  writeFileSync(join(root, "a.txt"), "one\n");
  await ws.call("read_file", { path: "a.txt" });
  calls.length = 0;
  const made = await ws.call(tool, args as never);
  expect(made.text).toContain("a.txt");
  // A second look-up of the real path is of a call that took long.
  const once = calls.filter((name, at) => name !== "realpath" || calls.indexOf(name) === at);
  expect(once.sort()).toEqual(["lock", "read", "realpath", "writeBytes"]);
  await ws.undo(made.meta.call_id ?? "");
  expect((await ws.call("read_file", { path: "a.txt" })).text).toContain("one");
  await ws.close();
});
