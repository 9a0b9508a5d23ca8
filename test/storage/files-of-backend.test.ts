/** The contract of storages over backends, as far as their facts promise. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { LocalBackend, MemoryBackend } from "../../js/index.node.ts";
import { filesOf, memoryStorage, toBackend } from "../../js/storage/index.ts";
import { storageContract } from "../../js/testing/index.ts";
import { minimalBackend } from "../backends/minimal.ts";

describe("filesOf(LocalBackend)", () => {
  storageContract(
    async () => {
      const root = await realpath(await mkdtemp(join(tmpdir(), "filewright-storage-")));
      const backend = new LocalBackend();
      return {
        storage: filesOf(backend, { root }),
        async dispose() {
          await backend.close();
          await rm(root, { recursive: true });
        },
      };
    },
    { test },
  );
});

describe("filesOf(MemoryBackend)", () => {
  storageContract(() => ({ storage: filesOf(new MemoryBackend()) }), { test });
});

describe("filesOf of eleven methods", () => {
  storageContract(() => ({ storage: filesOf(minimalBackend()) }), { test });
});

describe("filesOf", () => {
  it("serves toBackend, and so every tool, both ways", async () => {
    const backend = toBackend(filesOf(toBackend(memoryStorage())));
    await backend.writeText("/a/b", "1", { createDirs: true });
    await backend.rename("/a", "/c");
    expect(await backend.readText("/c/b")).toBe("1");
  });

  it("rolls a commit back that fails in the middle, although it is not atomic", async () => {
    const storage = filesOf(new MemoryBackend({ "/a": "1" }));
    const body = new Uint8Array([50]);
    const commit = storage.commit([
      { op: "put", path: "/a", body },
      { op: "put", path: "/new/b", body },
      { op: "remove", path: "/gone" },
    ]);
    await expect(commit).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { results } = await storage.readMany(["/a", "/new"]);
    expect(results[1]).toBeNull();
    expect(results[0]).toMatchObject({ entry: { size: 1 }, body: new Uint8Array([49]) });
    expect((await storage.probe()).atomic).toBe(false);
  });

  it("sees what another program changed meanwhile", async () => {
    const inner = new MemoryBackend({ "/r/a": "1" });
    const storage = filesOf(inner, { root: "/r" });
    const [found] = (await storage.readMany(["/a"])).results;
    const version = found && !(found instanceof Error) ? found.entry.version : "";
    await inner.writeText("/r/a", "other");
    const put = { op: "put", path: "/a", body: new Uint8Array([50]) } as const;
    await expect(storage.commit([put], { expect: [{ path: "/a", version }] })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await inner.readText("/r/a")).toBe("other");
  });
});
