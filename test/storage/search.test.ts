/** Searches and listings over a storage: few round trips, the answers of a walk, and nothing that is denied. */
import { describe, expect, it } from "vitest";
import "../../js/engine/index.node.ts";
import { MemoryBackend } from "../../js/backends/index.ts";
import { SandboxedBackend } from "../../js/backends/confined/sandboxed.ts";
import { findRankedFiles } from "../../js/backends/search/search-fuzzy.ts";
import { walkedTree } from "../../js/backends/fallback/tree-page.ts";
import { SandboxPolicy } from "../../js/policy/index.ts";
import { memoryStorage, type Op, type Storage, toBackend } from "../../js/storage/index.ts";
import { openWorkspace } from "../../js/workspace/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";

const put = (path: string, text: string): Op => ({ op: "put", path, body: new TextEncoder().encode(text) });

/** A storage that records its round trips. */
function counted(inner: Storage): { storage: Storage; trips: string[] } {
  const trips: string[] = [];
  const storage = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]) => {
        trips.push(String(name));
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  return { storage, trips };
}

const FILES: Readonly<Record<string, string>> = {
  "/ws/.gitignore": "build/\n*.log\n",
  "/ws/a.ts": "const needle = 1;\n",
  "/ws/a-b.ts": "needle\n",
  "/ws/a/x.ts": "// needle here\nand needle there\n",
  "/ws/a/.gitignore": "!kept.log\n",
  "/ws/a/kept.log": "needle\n",
  "/ws/a/other.txt": "hay\n",
  "/ws/b.log": "needle\n",
  "/ws/build/out.ts": "needle\n",
  "/ws/deep/er/est/f.ts": "needle",
  "/ws/bin": "\u0000needle",
  "/ws/.env": "TOKEN=needle\n",
  "/outside.ts": "needle\n",
};

async function filled(): Promise<Storage> {
  const storage = memoryStorage();
  await storage.commit([
    ...Object.entries(FILES).map(([path, text]) => put(path, text)),
    { op: "mkdir", path: "/ws/empty" },
    { op: "symlink", path: "/ws/link", target: "/outside.ts" },
    { op: "symlink", path: "/ws/dirlink", target: "a" },
  ]);
  return storage;
}

async function memory(): Promise<MemoryBackend> {
  const backend = new MemoryBackend(FILES);
  await backend.mkdir("/ws/empty");
  await backend.symlink("/outside.ts", "/ws/link");
  await backend.symlink("a", "/ws/dirlink");
  return backend;
}

describe("searches of toBackend", () => {
  it("answer as a backend in memory does, links, ignore files and cursors included", async () => {
    const [backend, plain] = [toBackend(await filled()), await memory()];
    const grep = { pattern: "needle", maxResults: 2 } as const;
    let cursor: string | undefined;
    for (let page = 0; page < 5; page++) {
      const mine = await backend.grep("/ws", { ...grep, cursor });
      expect({ ...mine, fresh: "" }).toEqual({
        ...(await plain.grep("/ws", { ...grep, cursor })),
        fresh: "",
      });
      cursor = mine.nextCursor;
      if (cursor === undefined) break;
    }
    for (const query of [
      { pattern: "**/*.ts" },
      { pattern: "**", type: "any" },
      { pattern: "**", respectIgnore: false, hidden: false },
    ] as const)
      expect(await backend.find("/ws", query)).toEqual(await plain.find("/ws", query));
    const letters = { query: "deepf" };
    expect(await backend.findFiles("/ws", letters)).toEqual(await findRankedFiles(plain, "/ws", letters));
    const names = ({ entries, total }: Awaited<ReturnType<typeof backend.listTree>>) => ({
      total,
      paths: entries.map(({ path, type }) => `${type} ${path}`),
    });
    for (const request of [{ depth: 1 }, { depth: 9, from: 2, limit: 4 }, { depth: 3, respectIgnore: false }])
      expect(names(await backend.listTree("/ws", request))).toEqual(
        names(await walkedTree(plain, "/ws", request)),
      );
  });

  it("cost a round trip each, and those for contents that were not read before", async () => {
    const { storage, trips } = counted(await filled());
    const backend = toBackend(storage);
    const took = async (run: () => unknown): Promise<readonly string[]> => {
      trips.length = 0;
      await run();
      return [...trips];
    };
    // The ignore files are read once.
    expect(await took(() => backend.find("/ws", { pattern: "**" }))).toEqual(["list", "readMany"]);
    expect(await took(() => backend.find("/ws", { pattern: "**" }))).toEqual(["changes"]);
    expect(await took(() => backend.listTree("/ws", { depth: 5 }))).toEqual(["changes"]);
    expect(await took(() => backend.grep("/ws", { pattern: "needle" }))).toEqual(["changes", "readMany"]);
    expect(await took(() => backend.grep("/ws", { pattern: "needle" }))).toEqual(["changes"]);
    await backend.writeText("/ws/new.ts", "a new needle\n");
    expect(await took(() => backend.grep("/ws", { pattern: "needle" }))).toEqual(["changes", "readMany"]);
  });

  it("see every change that was made before them, and list again after a gap", async () => {
    const inner = memoryStorage();
    const { changes } = inner;
    let forgets = false;
    inner.changes = async (since, options) => {
      const page = await changes.call(inner, since, options);
      return forgets ? { head: page.head, entries: [], gap: true } : page;
    };
    const { storage, trips } = counted(inner);
    const backend = toBackend(storage);
    const found = async (): Promise<readonly string[]> =>
      (await backend.find("/", { pattern: "**", type: "any" })).paths;
    await inner.commit([put("/a/b/c", "1"), put("/a/d", "1")]);
    expect(await found()).toEqual(["a", "a/b", "a/b/c", "a/d"]);
    await inner.commit([{ op: "remove", path: "/a/b", tree: true }, put("/a/e/f", "1")]);
    await inner.commit([{ op: "move", from: "/a/e", to: "/g" }]);
    expect(await found()).toEqual(["a", "a/d", "g", "g/f"]);
    await inner.commit([{ op: "remove", path: "/g", tree: true }, put("/g", "a file now")]);
    expect(await found()).toEqual(["a", "a/d", "g"]);
    for (let n = 0; n < 6; n++) await inner.commit([put(`/n${n}`, "1")]);
    forgets = true;
    trips.length = 0;
    expect(await found()).toEqual(["a", "a/d", "g", "n0", "n1", "n2", "n3", "n4", "n5"]);
    expect(trips).toEqual(["changes", "list"]);
  });

  it("refuse an answer of the storage with a path that cannot exist", async () => {
    for (const path of ["/a/../b", "/a\u0000b", "a", "/a//b", `/${"n".repeat(256)}`]) {
      const inner = memoryStorage();
      const storage = Object.assign(Object.create(inner) as Storage, {
        list: async () => ({ entries: [{ path, type: "file", version: "1" }], top: null, version: "1" }),
        readMany: inner.readMany.bind(inner),
        commit: inner.commit.bind(inner),
      });
      await expect(toBackend(storage).find("/", { pattern: "**" })).rejects.toMatchObject({
        code: "IO_ERROR",
      });
    }
  });

  it("are cancelled one by one, though they share a round trip", async () => {
    const inner = await filled();
    let answer: (() => void) | undefined;
    const storage = Object.assign(Object.create(inner) as Storage, {
      list: async (request: Parameters<Storage["list"]>[0]) => {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return inner.list(request);
      },
      readMany: inner.readMany.bind(inner),
      commit: inner.commit.bind(inner),
      changes: inner.changes.bind(inner),
    });
    const backend = toBackend(storage);
    const cancel = new AbortController();
    const one = backend.find("/ws", { pattern: "*.ts", signal: cancel.signal });
    const other = backend.find("/ws", { pattern: "a.ts" });
    cancel.abort();
    await expect(one).rejects.toMatchObject({ code: "CANCELLED" });
    answer?.();
    expect((await other).paths).toEqual(["a.ts"]);
  });
});

describe("searches of a confined storage", () => {
  it("neither show nor count what is denied, secret or outside", async () => {
    const policy = SandboxPolicy.workspaceOnly("/ws", { deny: ["a", "**/deep"], secrets: "grant" });
    const [mine, plain] = [
      new SandboxedBackend(toBackend(await filled()), policy),
      new SandboxedBackend(await memory(), policy),
    ];
    const grep = { pattern: "needle", respectIgnore: false } as const;
    const found = await mine.grep("/ws", grep);
    expect({ ...found, fresh: "" }).toEqual({ ...(await plain.grep("/ws", grep)), fresh: "" });
    expect(found.counts.map(({ path }) => path)).toEqual(["a-b.ts", "a.ts", "b.log", "build/out.ts"]);
    const every = { pattern: "**", type: "any" } as const;
    expect(await mine.find("/ws", every)).toEqual(await plain.find("/ws", every));
    await expect(mine.grep("/", grep)).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
    await expect(mine.find?.("/ws/link", every)).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
  });
});

describe("a workspace on a storage", () => {
  it("globs, lists and greps in one round trip, whatever the depth, and says the version", async () => {
    const inner = await filled();
    const { storage, trips } = counted(inner);
    const ws = await openWorkspace({ storage, root: "/ws" });
    afterThisTest(() => ws.close());
    const took = async (tool: string, args: object): Promise<readonly string[]> => {
      trips.length = 0;
      const result = await ws.call(tool, args);
      expect(result).toMatchObject({ ok: true });
      expect(result.meta.version).toBe((await inner.changes(null, { limit: 0 })).head);
      return [...trips];
    };
    await ws.call("grep", { pattern: "needle" });
    expect(await took("glob", { pattern: "**/*.ts" })).toEqual(["changes"]);
    expect(await took("list_directory", { path: ".", depth: 4 })).toEqual(["changes"]);
    expect(await took("list_directory", { path: "deep/er", sort: "size" })).toEqual(["changes"]);
    expect(await took("grep", { pattern: "needle" })).toEqual(["changes"]);
    expect(await took("find_files", { query: "deep" })).toEqual(["changes"]);
    expect((await ws.call("read_file", { path: "a.ts" })).meta.version).toBeUndefined();
  });

  it("finds with rules that hide paths one by one what the rules allow, in few round trips", async () => {
    const { storage, trips } = counted(await filled());
    const rules = [
      { path: "/ws/a/x.ts", decision: "allow" },
      { path: "/ws/a/**", decision: "deny" },
    ] as const;
    const ws = await openWorkspace({ storage, root: "/ws", rules });
    afterThisTest(() => ws.close());
    const result = await ws.call("grep", { pattern: "needle", output: "files" });
    expect(result.data).toMatchObject({ files: ["a-b.ts", "a.ts", "a/x.ts", "deep/er/est/f.ts"] });
    trips.length = 0;
    await ws.call("grep", { pattern: "needle" });
    expect(trips).toEqual(["changes"]);
  });
});
