/** With `durability: "durable"` a removal and a made directory are flushed before the answer, also without a history. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { afterThisTest } from "../support/cleanups.ts";

const ENTRY = pathToFileURL(resolve(import.meta.dirname, "../../dist/index.node.js")).href;
/** Calls that change names, and those that flush. */
const TRACED =
  "?unlink,unlinkat,?rename,?renameat,renameat2,?mkdir,mkdirat,?rmdir,fsync,fdatasync,syncfs,?access";

/** Makes a call in a process of its own; returns what it flushed between the last change of a name and its answer. */
function flushedAfter(kind: string, durability: string, call: readonly [string, object]): readonly string[] {
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-durable-names-")));
  afterThisTest(() => fs.rmSync(base, { recursive: true, force: true }));
  const root = join(base, "ws");
  fs.mkdirSync(join(root, "d/below"), { recursive: true });
  fs.writeFileSync(join(root, "d/f"), "f");
  fs.writeFileSync(join(root, "d/below/f"), "f");
  const program = `
    import { existsSync } from "node:fs";
    const { NodeBackend, openWorkspace } = await import(${JSON.stringify(ENTRY)});
    const durability = ${JSON.stringify(durability)};
    const disk = ${kind === "node"} ? { backend: new NodeBackend({ durability }) } : {};
    const options = { root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(join(base, "state"))} };
    const ws = await openWorkspace({ ...options, ...disk, durability, history: false, guard: "off" });
    const { ok, text } = await ws.call(...${JSON.stringify(call)});
    existsSync(${JSON.stringify(join(base, "answered"))});
    if (!ok) { console.error(text); process.exit(3); }
    await ws.close();`;
  const record = join(base, "trace");
  const { status, stderr } = spawnSync(
    "strace",
    [
      "-f",
      "-y",
      "-o",
      record,
      "-e",
      `trace=${TRACED}`,
      process.execPath,
      "--input-type=module",
      "-e",
      program,
    ],
    { encoding: "utf8" },
  );
  expect([status, stderr]).toEqual([0, ""]);
  const lines = fs.readFileSync(record, "utf8").split("\n");
  const answered = lines.findIndex((line) => line.includes("/answered"));
  const before = lines.slice(0, answered).filter((line) => line.includes(root));
  const changed = before.findLastIndex((line) => /unlink|rename|mkdir|rmdir/u.test(line));
  return before
    .slice(changed + 1)
    .flatMap((line) => /sync[a-z]*\(\d+<(?<path>[^>]*)>/u.exec(line)?.groups?.["path"] ?? []);
}

describe.each(["addon", "node"])("on the disk with %s", (kind) => {
  test.each<readonly [string, object, string]>([
    ["delete", { path: "d/f" }, "d"],
    ["delete", { path: "d", recursive: true }, ""],
    ["mkdir", { path: "d/made" }, "d"],
  ])("a durable %s %j flushes its directory", (tool, args, directory) => {
    const flushed = flushedAfter(kind, "durable", [tool, args]);
    expect(flushed.map((path) => path.replace(/^.*\/ws\/?/u, ""))).toContain(directory);
    expect(flushedAfter(kind, "atomic", [tool, args])).toEqual([]);
  });
});
