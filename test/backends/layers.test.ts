/** Backends made of other backends: the contract over each, and what is theirs alone. */
import type { Files } from "../../js/backends/files.ts";
import { describe, expect, it } from "vitest";
import { MemoryBackend, MountBackend, OverlayBackend, openWorkspace } from "../../js/index.node.ts";
import { backendContract } from "../../js/testing/index.ts";
import { minimalBackend } from "./minimal.ts";

describe("contract: an overlay over memory", () => {
  backendContract(
    () => ({ backend: new OverlayBackend(new MemoryBackend({ "/ws": { type: "dir" } })), root: "/ws" }),
    {
      test: it,
      requires: ["conditions", "ranges", "links", "modes"],
    },
  );
});

describe("contract: an overlay over eleven methods alone", () => {
  backendContract(
    () => ({ backend: new OverlayBackend(minimalBackend({ "/ws": { type: "dir" } })), root: "/ws" }),
    { test: it, requires: ["conditions"] },
  );
});
describe("contract: a mounted directory of a backend, beside others", () => {
  const make = () => {
    const inner = new MemoryBackend({ "/inner/dir": { type: "dir" }, "/inner/secret": "s" });
    const mounts = { "/": new MemoryBackend(), "/ws": { backend: inner, root: "/inner/dir" } };
    return { backend: new MountBackend(mounts), root: "/ws" };
  };
  backendContract(make, {
    test: it,
    requires: ["conditions", "ranges", "links", "modes"],
  });
});

describe("contract: mounted, eleven methods alone", () => {
  const make = () => ({
    backend: new MountBackend({ "/a/b": minimalBackend({ "/ws": { type: "dir" } }) }),
    root: "/a/b/ws",
  });
  backendContract(make, { test: it });
});

describe("mounts", () => {
  const tree = () => {
    const top = new MemoryBackend({ "/readme": "top", "/data/hidden": "never seen" });
    const data = new MemoryBackend({ "/x": "1", "/out": { type: "symlink", target: "/x" } });
    const docs = new MemoryBackend({
      "/usr/doc/a.md": "doc",
      "/usr/secret": "s",
      "/usr/doc/up": { type: "symlink", target: "../secret" },
    });
    const backend = new MountBackend({
      "/": top,
      "/data": data,
      "/share/docs": { backend: docs, root: "/usr/doc", readOnly: true },
    });
    return { backend, top, data, docs };
  };

  it("are one tree", async () => {
    const { backend } = tree();
    const names = async (path: string) => (await backend.listDir(path)).map(({ name }) => name);
    expect([await names("/"), await names("/data"), await names("/share")]).toEqual([
      ["data", "share", "readme"],
      ["out", "x"],
      ["docs"],
    ]);
    const files: string[] = [];
    for await (const file of backend.iterFiles("/")) files.push(file);
    expect(files).toEqual(["/data/x", "/readme", "/share/docs/a.md"]);
    expect((await backend.stat("/share")).isDir).toBe(true);
    expect(await backend.readLink?.("/data/out")).toBe("/data/x");
    expect(await backend.readText("/data/out")).toBe("1");
  });

  it("are moved and copied between, and stay where they are", async () => {
    const { backend, top, data } = tree();
    const ws = await openWorkspace({ backend, root: "/" });
    const moved = await ws.call("move", { source: "readme", destination: "data/readme" });
    expect([moved.ok, await top.exists("/readme"), await data.readText("/readme")]).toEqual([
      true,
      false,
      "top",
    ]);
    await ws.copy({ source: "share/docs/a.md", destination: "a.md" });
    expect(await top.readText("/a.md")).toBe("doc");
    for (const path of ["data", "share"]) {
      const { error } = await ws.call("delete", { path, recursive: true });
      expect(error?.code, path).toBe("PROTECTED_PATH");
    }
    await ws.close();
  });

  it.for<readonly [string, (backend: MountBackend) => unknown, string]>([
    ["a write where it is read-only", (b) => b.writeText("/share/docs/a.md", "x"), "READ_ONLY"],
    ["what lies beside the directory", (b) => b.readText("/share/docs/../secret"), "NOT_FOUND"],
    ["a link out of the directory", (b) => b.readText("/share/docs/up"), "OUTSIDE_ALLOWED"],
    ["a link from one to another", (b) => b.symlink?.("/readme", "/data/l"), "UNSUPPORTED_OPERATION"],
    ["a file in the place of a mount", (b) => b.writeText("/share", "x"), "IS_DIRECTORY"],
    ["removing a mount", (b) => b.removeTree("/data"), "PROTECTED_PATH"],
    ["moving what holds one", (b) => b.rename("/share", "/elsewhere"), "PROTECTED_PATH"],
  ])("refuse %s", async ([, run, code]) => {
    const { backend, docs } = tree();
    await expect((async () => run(backend))()).rejects.toMatchObject({ code });
    expect(await docs.readText("/usr/secret")).toBe("s");
  });
});

/** Everything in a memory backend, as text. */
function all(memory: MemoryBackend): Record<string, string> {
  const entries = Object.entries(memory.dump()).filter(([, entry]) => entry.type !== "dir");
  return Object.fromEntries(
    entries.map(([path, entry]) => [
      path,
      entry.type === "file"
        ? Buffer.from(entry.b64, "base64").toString()
        : `-> ${entry.type === "symlink" ? entry.target : ""}`,
    ]),
  );
}

const SEED = { "/ws/a": "1", "/ws/b": "2", "/ws/d/x": "3", "/ws/d/y": "4", "/ws/same": "s" };

describe("an overlay", () => {
  const changing = async (): Promise<{ memory: MemoryBackend; overlay: OverlayBackend }> => {
    const memory = new MemoryBackend(SEED);
    const overlay = new OverlayBackend(memory);
    await overlay.writeText("/ws/a", "one");
    await overlay.writeText("/ws/same", "t");
    await overlay.writeText("/ws/same", "s");
    await overlay.copyFile("/ws/b", "/ws/c");
    await overlay.writeText("/ws/b", "two");
    await overlay.removeTree("/ws/d");
    await overlay.writeText("/ws/d/y", "four", { createDirs: true });
    await overlay.writeText("/ws/new/f", "n", { createDirs: true });
    await overlay.symlink?.("a", "/ws/l");
    await overlay.writeText("/ws/tmp", "t");
    await overlay.delete("/ws/tmp");
    return { memory, overlay };
  };

  it("tells its changes and changes nothing below", async () => {
    const { memory, overlay } = await changing();
    expect((await overlay.changes()).map(({ path, change, type }) => `${change} ${type} ${path}`)).toEqual([
      "changed file /ws/a",
      "changed file /ws/b",
      "added file /ws/c",
      "removed file /ws/d/x",
      "changed file /ws/d/y",
      "added symlink /ws/l",
      "added dir /ws/new",
      "added file /ws/new/f",
    ]);
    expect(all(memory)).toEqual(SEED);
  });

  it("gives directories their permission bits, those below at the commit", async () => {
    const memory = new MemoryBackend({ "/ws/d/f": "1", "/ws/gone/f": "1" });
    const overlay = new OverlayBackend(memory);
    await overlay.mkdir("/ws/new");
    for (const path of ["/ws/d", "/ws/new", "/ws/gone"]) await overlay.chmod?.(path, 0o500);
    await overlay.writeText("/ws/new/f", "n");
    await overlay.removeTree("/ws/gone");
    const modes = async (of: Files) => [(await of.stat("/ws/d")).mode, (await of.stat("/ws/new")).mode];
    expect(await modes(overlay)).toEqual([0o500, 0o500]);
    expect((await memory.stat("/ws/d")).mode).toBe(0o755);
    expect(await overlay.changes()).toMatchObject([
      { path: "/ws/d", change: "changed", type: "dir" },
      { path: "/ws/gone", change: "removed", type: "dir" },
      { path: "/ws/new", change: "added", type: "dir" },
      { path: "/ws/new/f", change: "added", type: "file" },
    ]);
    await overlay.commit();
    expect(await modes(memory)).toEqual([0o500, 0o500]);
    expect(await memory.exists("/ws/gone")).toBe(false);
    await overlay.chmod?.("/ws/d", 0o755);
    await overlay.discard();
    expect([await overlay.changes(), (await overlay.stat("/ws/d")).mode]).toEqual([[], 0o500]);
  });

  it("commits them, and is empty then", async () => {
    const { memory, overlay } = await changing();
    expect(await overlay.commit()).toMatchObject({ made: 2 });
    expect(all(memory)).toEqual({
      "/ws/a": "one",
      "/ws/b": "two",
      "/ws/c": "2",
      "/ws/d/y": "four",
      "/ws/l": "-> a",
      "/ws/new/f": "n",
      "/ws/same": "s",
    });
    expect(await overlay.changes()).toEqual([]);
    expect(await overlay.commit()).toEqual({ written: 0, made: 0, removed: 0 });
  });

  it.for<readonly [string, (memory: MemoryBackend) => void, string]>([
    ["a file that was changed", (m) => m.writeText("/ws/a", "theirs"), "/ws/a"],
    ["a file that was taken away", (m) => m.delete("/ws/b"), "/ws/b"],
    ["a file in the way of a new one", (m) => m.writeText("/ws/c", "theirs"), "/ws/c"],
    ["a new file in a directory that goes", (m) => m.writeText("/ws/d/z", "theirs"), "/ws/d/z"],
    ["a changed file in a directory that goes", (m) => m.writeText("/ws/d/x", "theirs"), "/ws/d/x"],
  ])("commits nothing over what another did below: %s", async ([, theirs, path]) => {
    const { memory, overlay } = await changing();
    theirs(memory);
    const before = all(memory);
    await expect(overlay.commit()).rejects.toMatchObject({ code: "CONFLICT", details: { paths: [path] } });
    expect(all(memory)).toEqual(before);
    await overlay.discard();
    expect(await overlay.changes()).toEqual([]);
    expect(all(memory)).toEqual(before);
  });

  it("makes a directory again that is gone below, and refuses bits for one", async () => {
    const memory = new MemoryBackend({ "/ws/d/x": "1", "/ws/e/x": "1" });
    const overlay = new OverlayBackend(memory);
    await overlay.writeText("/ws/d/new", "n");
    await overlay.symlink?.("new", "/ws/d/link");
    await memory.removeTree("/ws/d");
    expect(await overlay.commit()).toEqual({ written: 2, made: 0, removed: 0 });
    expect(all(memory)).toEqual({ "/ws/d/link": "-> new", "/ws/d/new": "n", "/ws/e/x": "1" });
    await overlay.chmod?.("/ws/e", 0o700);
    await memory.removeTree("/ws/e");
    await expect(overlay.commit()).rejects.toMatchObject({ code: "CONFLICT", path: "/ws/e" });
  });

  it("commits nothing when a commit fails half way, and all of it later", async () => {
    const memory = new MemoryBackend({ "/ws": { type: "dir" } });
    let full = true;
    const failing = new Proxy(memory as Files, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (name !== "writeBytes") return value.bind(target);
        return async (path: string, ...rest: unknown[]) => {
          if (full && path === "/ws/b") throw new Error("no space");
          return value.call(target, path, ...rest);
        };
      },
    });
    const overlay = new OverlayBackend(failing);
    for (const name of ["a", "b", "c"]) await overlay.writeText(`/ws/${name}`, name);
    await expect(overlay.commit()).rejects.toThrow("no space");
    expect(all(memory)).toEqual({});
    expect((await overlay.changes()).map(({ path }) => path)).toEqual(["/ws/a", "/ws/b", "/ws/c"]);
    full = false;
    await overlay.commit();
    expect(all(memory)).toEqual({ "/ws/a": "a", "/ws/b": "b", "/ws/c": "c" });
  });

  it("serves a workspace whose changes are looked at before they happen", async () => {
    const memory = new MemoryBackend({ "/ws/a.ts": "const retries = 3;\n" });
    const overlay = new OverlayBackend(memory);
    const ws = await openWorkspace({ backend: overlay, root: "/ws" });
    const edits = [{ old_text: "retries = 3", new_text: "retries = 5" }];
    await ws.editFile({ path: "a.ts", edits });
    await ws.move({ source: "a.ts", destination: "lib/b.ts" });
    expect((await overlay.changes()).map(({ path, change }) => `${change} ${path}`)).toEqual([
      "removed /ws/a.ts",
      "added /ws/lib",
      "added /ws/lib/b.ts",
    ]);
    expect(all(memory)).toEqual({ "/ws/a.ts": "const retries = 3;\n" });
    await ws.close();
    await overlay.commit();
    expect(all(memory)).toEqual({ "/ws/lib/b.ts": "const retries = 5;\n" });
  });
});
