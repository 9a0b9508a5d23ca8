/** A workspace over a storage: every tool, two workspaces on one storage, and how it is opened. */
import { describe, expect, it } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { memoryStorage, type MemoryStorage, type Storage } from "../../js/storage/index.ts";
import { BROKEN } from "./broken.ts";

async function storageWith(files: Readonly<Record<string, string>>): Promise<MemoryStorage> {
  const storage = memoryStorage();
  const encoder = new TextEncoder();
  await storage.commit(
    Object.entries(files).map(([path, text]) => ({ op: "put", path, body: encoder.encode(text) })),
  );
  return storage;
}

async function textsOf(storage: Storage): Promise<Record<string, string>> {
  const { entries } = await storage.list({ limit: 1000 });
  const files = entries.filter(({ type }) => type === "file").map(({ path }) => path);
  const { results } = await storage.readMany(files);
  return Object.fromEntries(
    results.map((one, i) => [
      files[i],
      one && !(one instanceof Error) ? new TextDecoder().decode(one.body) : "",
    ]),
  );
}

const PATCH = `*** Begin Patch
*** Update File: src/a.ts
@@
-const a = 1;
+const a = 2;
*** Add File: src/new.ts
+export {};
*** Delete File: gone.txt
*** End Patch`;

const FILES = { "/repo/src/a.ts": "const a = 1;\n", "/repo/gone.txt": "x\n", "/repo/b.txt": "b\n" };

describe("openWorkspace({ storage, root })", () => {
  it("refuses to undo a directory in which another workspace has made a file", async () => {
    const storage = await storageWith(FILES);
    const ws = await openWorkspace({ storage, root: "/repo" });
    const { meta } = await ws.call("mkdir", { path: "made" });
    const other = await openWorkspace({ storage, root: "/repo" });
    await other.writeFile({ path: "made/theirs.txt", content: "theirs\n" });
    await expect(ws.undo(meta.call_id ?? "")).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringMatching(/^'made' has changed since .*undo the later changes first/u),
    });
    expect((await textsOf(storage))["/repo/made/theirs.txt"]).toBe("theirs\n");
    await Promise.all([ws.close(), other.close()]);
  });

  it("works with every tool that reads and changes files", async () => {
    const storage = await storageWith(FILES);
    const ws = await openWorkspace({ storage, root: "/repo" });
    const call = async (tool: string, args: object) => {
      const result = await ws.call(tool as "stat", args as never);
      expect([tool, result.ok, result.ok ? "" : result.text]).toEqual([tool, true, ""]);
      return result;
    };
    await call("read_file", { path: "src/a.ts" });
    const { meta } = await call("edit_file", { path: "src/a.ts", old_text: "1", new_text: "3" });
    expect((await ws.undo(meta.call_id ?? "")).paths).toEqual(["src/a.ts"]);
    expect((await textsOf(storage))["/repo/src/a.ts"]).toBe("const a = 1;\n");
    await call("apply_patch", { patch: PATCH });
    await call("write_file", { path: "deep/er/new.txt", content: "one\ntwo\n" });
    await call("copy", { source: "src", destination: "copied" });
    await call("move", { source: "b.txt", destination: "moved.txt" });
    await call("mkdir", { path: "empty" });
    await call("delete", { path: "empty" });
    expect((await call("grep", { pattern: "const a" })).text).toContain("src/a.ts");
    expect((await call("glob", { pattern: "**/*.ts" })).text).toContain("copied/new.ts");
    await call("list_directory", { path: "." });
    await call("read_many_files", { paths: ["src/a.ts", "moved.txt"] });
    await call("diff", { a: "src/a.ts", b: "copied/new.ts" });
    await call("stat", { path: "src/a.ts" });
    expect(await textsOf(storage)).toEqual({
      "/repo/copied/a.ts": "const a = 2;\n",
      "/repo/copied/new.ts": "export {};\n",
      "/repo/deep/er/new.txt": "one\ntwo\n",
      "/repo/moved.txt": "b\n",
      "/repo/src/a.ts": "const a = 2;\n",
      "/repo/src/new.ts": "export {};\n",
    });
    await ws.close();
    // The workspace leaves the storage open, which the host opened.
    expect((await storage.readMany(["/repo"])).results[0]).not.toBeNull();
  });

  it("makes a missing root, keeps to it, and says what the engine does", async () => {
    const storage = await storageWith({ "/outside.txt": "secret" });
    const ws = await openWorkspace({ storage, root: "/repo" });
    const facts = ws.capabilities().storage;
    expect(facts).toMatchObject({ cas: true, atomic: true, shared: false, forks: true });
    const outside = await ws.call("read_file", { path: "/outside.txt" });
    expect(outside.ok ? "" : outside.error.code).toBe("OUTSIDE_ALLOWED");
    await storage.commit([{ op: "symlink", path: "/repo/l", target: "../outside.txt" }]);
    const through = await ws.call("read_file", { path: "l" });
    expect(through.ok ? "" : through.error.code).toBe("OUTSIDE_ALLOWED");
    await ws.close();
    const plain = await openWorkspace({ backend: new MemoryBackend(), root: "/repo" });
    expect(plain.capabilities().storage).toBeUndefined();
    await plain.close();
  });

  it("loses no change of two workspaces that edit one file at once", async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}\n`);
    const storage = await storageWith({ "/repo/f.txt": lines.join("") });
    // Two objects over one storage stand for two replicas: each has a queue of its own.
    const replica = (): Storage =>
      new Proxy(storage, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    const all = await Promise.all(
      [replica(), replica()].map((one) => openWorkspace({ storage: one, root: "/repo" })),
    );
    const edits = lines.map((line, i) =>
      all[i % 2]?.call("edit_file", { path: "f.txt", old_text: line, new_text: `edited ${i}\n` }),
    );
    for (const result of await Promise.all(edits)) expect(result?.ok ? "" : result?.text).toBe("");
    expect(await textsOf(storage)).toEqual({
      "/repo/f.txt": lines.map((_, i) => `edited ${i}\n`).join(""),
    });
    for (const ws of all) await ws.close();
  });

  it("locks a path for all replicas where the host asks for it", async () => {
    const storage = await storageWith(FILES);
    const ws = await openWorkspace({ storage, root: "/repo" });
    const held = await ws.lock("b.txt");
    const wait = { timeoutMs: 20 };
    await expect(storage.lockAll([{ path: "/repo/b.txt" }], wait)).rejects.toMatchObject({
      code: "LOCK_TIMEOUT",
    });
    await held.release();
    await (await storage.lockAll([{ path: "/repo/b.txt" }], { timeoutMs: 1000 })).release();
    await ws.close();
  });

  it("refuses storage and backend together, and what is no storage", async () => {
    const storage = memoryStorage();
    const refused = async (options: object): Promise<string> => {
      const error: unknown = await openWorkspace(options as never).catch((thrown: unknown) => thrown);
      return `${(error as { code: string }).code}: ${(error as Error).message}`;
    };
    const both = { storage, backend: new MemoryBackend(), root: "/repo" };
    expect(await refused(both)).toMatch(/^INVALID_ARGUMENT: .*give storage or backend, not both/);
    expect(await refused({ storage: {}, root: "/repo" })).toMatch(/^INVALID_ARGUMENT: .*storage/);
    expect(await refused({ storag: storage, root: "/repo" })).toMatch(/did you mean .storage/i);
    expect(await refused({ storage, backendId: "x", root: "/repo" })).toMatch(
      /^INVALID_ARGUMENT: .*backendId/,
    );
    expect(await refused({ storage, kernel: "require", root: "/repo" })).toMatch(/^SANDBOX_SETUP_FAILED/);
    expect(await refused({ storage, commands: true, root: "/repo" })).toMatch(/^SANDBOX_SETUP_FAILED/);
  });

  it("refuses a storage whose probe fails, and tries it again the next time", async () => {
    const inner = memoryStorage();
    let sound = false;
    const racing = BROKEN.find(({ probe }) => probe === "race")?.broken(memoryStorage()) as Storage;
    const { probeStorage } = await import("../../js/storage/index.ts");
    const storage: Storage = new Proxy(inner, {
      get(target, name) {
        if (name === "probe" && !sound) {
          return async () => {
            await probeStorage(racing);
            return target.probe();
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await expect(openWorkspace({ storage, root: "/repo" })).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
      details: { failed: "race" },
    });
    sound = true;
    await (await openWorkspace({ storage, root: "/repo" })).close();
  });
});
