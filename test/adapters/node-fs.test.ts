import * as fs from "node:fs";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fromNodeFs } from "../../js/adapters/node-fs/backend.ts";
import { openWorkspace } from "../../js/index.node.ts";
import { backendContract } from "../../js/testing/index.node.ts";

const directory = (): string => realpathSync(mkdtempSync(join(tmpdir(), "filewright-node-fs-")));

describe("the contract over Node's own fs", () => {
  backendContract(
    () => {
      const root = directory();
      return { backend: fromNodeFs(fs), root, dispose: () => rmSync(root, { recursive: true }) };
    },
    { test, requires: ["lstat", "readLink", "symlink", "realpath", "chmod", "rename"] },
  );
});

describe("the contract over an object with the first seven methods alone", () => {
  const { readFile, writeFile, stat, readdir, mkdir, rmdir, unlink } = fs.promises;
  backendContract(
    () => {
      const root = directory();
      const backend = fromNodeFs({ promises: { readFile, writeFile, stat, readdir, mkdir, rmdir, unlink } });
      return { backend, root, dispose: () => rmSync(root, { recursive: true }) };
    },
    { test },
  );
});

test("a workspace works on it", async () => {
  const root = directory();
  const ws = await openWorkspace({ backend: fromNodeFs(fs), root });
  await ws.writeFile({ path: "a/b.txt", content: "one\n" });
  const edits = [{ old_text: "one", new_text: "two" }];
  expect((await ws.editFile({ path: "a/b.txt", edits })).replacements).toBe(1);
  expect((await ws.grep({ pattern: "two" })).total_matches).toBe(1);
  expect(await ws.call("read_file", { path: "../../etc/passwd" })).toMatchObject({
    ok: false,
    error: { code: "OUTSIDE_ALLOWED" },
  });
  const [last] = await ws.history();
  await ws.undo(last?.callId ?? "");
  expect((await ws.readFile({ path: "a/b.txt" })).content).toBe("one\n");
  await ws.close();
  rmSync(root, { recursive: true });
});
