/** Storages over drivers: the contract, what a workspace does on one, and drivers that fail. */
import { describe, expect, it, test, vi } from "vitest";
import { FilewrightError, MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { type Driver, type DriverEntry, filesOf, type Op, type ReadEntry } from "../../js/storage/index.ts";
import { storageContract } from "../../js/testing/index.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { share } from "../support/share.ts";
import { type MapFile, mapDriver } from "./map-driver.ts";

/** The same driver without one of its abilities. */
const variants: Readonly<Record<string, () => Driver>> = {
  "a map": mapDriver,
  "a map without move": () => {
    const { move: _, ...driver } = mapDriver();
    return driver;
  },
  "a map that ignores versions": () => {
    const files = new Map();
    const inner = mapDriver(files);
    return {
      ...inner,
      write: (path, body, options) =>
        inner.write(path, body, { ...options, ifVersion: files.get(path)?.version ?? null }),
      remove: (path) => inner.remove(path),
    };
  },
};

for (const [name, make] of Object.entries(variants)) {
  describe(`filesOf(${name})`, () => {
    storageContract(() => ({ storage: filesOf(make()) }), { test });
  });
  describe(`filesOf(${name}, { exclusive: true })`, () => {
    storageContract(() => ({ storage: filesOf(make(), { exclusive: true }) }), { test });
  });
  describe(`filesOf(${name}, { root })`, () => {
    storageContract(() => ({ storage: filesOf(make(), { root: "/some/where" }) }), { test });
  });
}

const encoder = new TextEncoder();
const put = (path: string, text: string, mode?: number): Op => ({
  op: "put",
  path,
  body: encoder.encode(text),
  ...(mode === undefined ? {} : { mode }),
});

/** Returns the texts and permission bits of a map of files. */
function shown(files: ReadonlyMap<string, MapFile>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [path, { body, mode }] of files)
    texts[path] = `${new TextDecoder().decode(body)} ${mode.toString(8)}`;
  return texts;
}

/** Counts the calls of a driver by their names. */
function counted(driver: Driver): { readonly driver: Driver; readonly counts: Record<string, number> } {
  const counts: Record<string, number> = {};
  const count = <T extends readonly unknown[], R>(name: string, call: (...args: T) => R) => {
    return (...args: T): R => {
      counts[name] = (counts[name] ?? 0) + 1;
      return call(...args);
    };
  };
  const { stat, list, read, write, remove } = driver;
  return {
    counts,
    driver: {
      stat: count("stat", stat),
      list: count("list", list),
      read: count("read", read),
      write: count("write", write),
      remove: count("remove", remove),
    },
  };
}

describe("a workspace over a driver", () => {
  const open = async (exclusive = false) => {
    const files = new Map<string, MapFile>();
    const { driver, counts } = counted(mapDriver(files));
    const ws = await openWorkspace({ storage: filesOf(driver, { exclusive }), root: "/repo" });
    return { ws, files, counts };
  };

  it.each([
    ["looks at what is there, and reads no content again", false],
    ["asks the driver nothing when it is the only writer", true],
  ])("searches with an index that %s", async (_title, exclusive) => {
    const { ws, files, counts } = await open(exclusive);
    for (let i = 0; i < 50; i++)
      await ws.fs.writeText(`/repo/d${i % 5}/f${i}.txt`, `line ${i} of many\n`, { createDirs: true });
    const search = async (pattern: string) => (await ws.grep({ pattern })).total_matches;
    expect([await search("line 7 of"), await search("line 7 of"), await search("many")]).toEqual([1, 1, 50]);
    const before = { ...counts };
    expect([await search("line 9 of"), await search("nowhere")]).toEqual([1, 0]);
    expect(counts["read"]).toBe(before["read"]);
    if (exclusive) expect(counts).toEqual(before);
    await ws.editFile({ path: "d2/f7.txt", edits: [{ old_text: "line 7", new_text: "row 7" }] });
    expect([await search("line 7 of"), await search("row 7 of")]).toEqual([0, 1]);
    if (!exclusive) {
      const late = { body: encoder.encode("foreign\n"), version: "foreign", mtime: 1, mode: 0o644 };
      files.set("/repo/late.txt", late);
      expect(await search("foreign")).toBe(1);
      files.delete("/repo/late.txt");
      expect(await search("foreign")).toBe(0);
    }
    await ws.close();
  });

  it("makes a batch as a whole or not at all", async () => {
    const { ws, files } = await open();
    await ws.writeFile({ path: "a.txt", content: "one\n" });
    const before = shown(files);
    const operations = (last: string) => [
      { tool: "write_file", args: { path: "new/b.txt", content: "two\n" } },
      { tool: "edit_file", args: { path: "a.txt", edits: [{ old_text: "one", new_text: "three" }] } },
      { tool: "delete", args: { path: last } },
    ];
    const failed = await ws.call("batch", { operations: operations("gone.txt") } as never);
    expect([failed.ok, shown(files)]).toEqual([false, before]);
    await ws.writeFile({ path: "there.txt", content: "x" });
    expect((await ws.call("batch", { operations: operations("there.txt") } as never)).ok).toBe(true);
    expect(shown(files)).toEqual({ "/repo/a.txt": "three\n 644", "/repo/new/b.txt": "two\n 644" });
    await ws.close();
  });

  it("undoes a call, and refuses where a foreign writer was", async () => {
    const { ws, files } = await open();
    await ws.writeFile({ path: "a.txt", content: "one\n" });
    await ws.writeFile({ path: "a.txt", content: "two\n" });
    const [last] = await ws.history();
    await ws.undo(last?.callId ?? "");
    expect(shown(files)).toEqual({ "/repo/a.txt": "one\n 644" });
    await ws.delete({ path: "a.txt" });
    const [removal] = await ws.history();
    await ws.undo(removal?.callId ?? "");
    expect(shown(files)).toEqual({ "/repo/a.txt": "one\n 644" });
    await ws.writeFile({ path: "a.txt", content: "three\n" });
    const [written] = await ws.history();
    files.set("/repo/a.txt", { body: encoder.encode("foreign"), version: "f", mtime: 1, mode: 0o600 });
    const undo = ws.undo(written?.callId ?? "").then(
      () => "",
      (error: FilewrightError) => error.code,
    );
    expect([await undo, shown(files)]).toEqual(["CONFLICT", { "/repo/a.txt": "foreign 600" }]);
    await ws.close();
  });

  it("forks, shows the difference and merges", async () => {
    const { ws, files } = await open();
    await ws.writeFile({ path: "a.txt", content: "one\n" });
    const fork = await ws.fork();
    await fork.writeFile({ path: "a.txt", content: "two\n" });
    await fork.writeFile({ path: "b/c.txt", content: "new\n" });
    expect(shown(files)).toEqual({ "/repo/a.txt": "one\n 644" });
    expect((await fork.merge()).merged).toBe(true);
    expect(shown(files)).toEqual({ "/repo/a.txt": "two\n 644", "/repo/b/c.txt": "new\n 644" });
    await ws.close();
  });
});

describe("a file whose content cannot be read", () => {
  it.each([false, true])("is listed, and fails alone, exclusive: %s", async (exclusive) => {
    const files = new Map<string, MapFile>();
    const inner = mapDriver(files);
    let isClosed = true;
    const driver: Driver = {
      ...inner,
      async read(path) {
        if (isClosed && path === "/src/closed.txt")
          throw new FilewrightError("PERMISSION_DENIED", "closed", { path });
        return inner.read(path);
      },
    };
    const filler = filesOf(inner);
    await filler.commit([put("/src/a.txt", "needle a\n"), put("/src/closed.txt", "needle closed\n")]);
    const ws = await openWorkspace({ storage: filesOf(driver, { exclusive }), root: "/", guard: "off" });
    expect((await ws.call("list_directory", { path: "src" })).text).toContain("closed.txt");
    const found = await ws.call("grep", { pattern: "needle" });
    expect(found.text).toContain("a.txt");
    expect(found.text).not.toContain("needle closed");
    expect(found.data).toMatchObject({ unreadable: 1 });
    expect((await ws.call("read_file", { path: "src/closed.txt" })).error?.code).toBe("PERMISSION_DENIED");
    expect((await ws.call("edit_file", { path: "src/a.txt", old_text: "needle", new_text: "pin" })).ok).toBe(
      true,
    );
    isClosed = false;
    expect((await ws.call("read_file", { path: "src/closed.txt" })).text).toContain("needle closed");
    expect((await ws.call("grep", { pattern: "needle" })).text).toContain("needle closed");
    await ws.close();
  });
});

/** How a driver fails to list a directory: with an error of the contract, or with that of the system. */
const CLOSED_BY: Readonly<Record<string, () => Error>> = {
  PERMISSION_DENIED: () => new FilewrightError("PERMISSION_DENIED", "closed"),
  IO_ERROR: () => Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" }),
};

describe("a directory that cannot be listed", () => {
  const start = async (code: string, exclusive: boolean) => {
    const files = new Map<string, MapFile>();
    const inner = mapDriver(files);
    const state = { isClosed: false, isEntered: false };
    const open = (path: string): void => {
      const isInside = path.startsWith("/src/closed/") && !state.isEntered;
      if (state.isClosed && (path === "/src/closed" || isInside)) throw CLOSED_BY[code]?.();
    };
    const driver: Driver = {
      ...inner,
      async list(path) {
        open(path);
        return inner.list(path);
      },
      async stat(path) {
        if (path !== "/src/closed") open(path);
        return inner.stat(path);
      },
      async read(path) {
        open(path);
        return inner.read(path);
      },
    };
    await filesOf(inner).commit([
      put("/src/a.txt", "needle a\n"),
      put("/src/closed/in.txt", "needle in\n"),
      put("/src/closed/deep/x.txt", "needle x\n"),
    ]);
    return { files, state, storage: filesOf(driver, { exclusive }) };
  };

  it.each(
    Object.keys(CLOSED_BY).flatMap(
      (code) =>
        [
          [code, false, false],
          [code, false, true],
          [code, true, false],
        ] as const,
    ),
  )(
    "is listed and counted, and fails alone: %s, exclusive: %s, seen before: %s",
    async (code, exclusive, seen) => {
      const { state, storage } = await start(code, exclusive);
      state.isClosed = !seen;
      const ws = await openWorkspace({ storage, root: "/", guard: "off" });
      const grep = () => ws.call("grep", { pattern: "needle" });
      if (seen) expect((await grep()).data).toMatchObject({ total_matches: 3, unreadable: 0 });
      state.isClosed = true;
      expect(
        (await storage.list({ limit: 10 })).entries.map(({ path, unreadable }) => [path, unreadable]),
      ).toEqual([
        ["/src", undefined],
        ["/src/a.txt", undefined],
        ["/src/closed", code],
      ]);
      expect((await grep()).data).toMatchObject({ total_matches: 1, unreadable: 1 });
      const listing = await ws.call("list_directory", { path: ".", depth: 3 });
      expect(listing.text).toMatch(/src\/closed.*(not listed|could not be read|cannot be read)/su);
      expect((await ws.call("list_directory", { path: "src/closed" })).error?.code).toBe(code);
      expect(
        (await ws.call("edit_file", { path: "src/a.txt", old_text: "needle", new_text: "pin" })).ok,
      ).toBe(true);
      const removal = await ws.call("delete", { path: "src", recursive: true });
      expect([removal.ok, removal.error?.code]).toEqual([false, code]);
      await expect(storage.commit([{ op: "remove", path: "/src", tree: true }])).rejects.toMatchObject({
        code,
      });
      await expect(storage.commit([{ op: "move", from: "/src", to: "/b" }])).rejects.toMatchObject({ code });
      state.isClosed = false;
      expect((await ws.call("list_directory", { path: "src/closed" })).text).toContain("in.txt");
      expect((await grep()).data).toMatchObject({ total_matches: 2, unreadable: 0 });
      expect((await ws.call("delete", { path: "src", recursive: true })).ok).toBe(true);
      await ws.close();
    },
  );

  it("keeps the known files in it that can be looked at, without a change of the log", async () => {
    const { state, storage } = await start("PERMISSION_DENIED", false);
    state.isEntered = true;
    await storage.list({ limit: 10 });
    const { version: seen } = await storage.list({ limit: 10 });
    state.isClosed = true;
    await storage.list({ limit: 10 });
    const { entries, head } = await storage.changes(seen, { limit: 10 });
    expect(entries.map(({ path }) => path)).toEqual(["/src/closed"]);
    await storage.readMany(["/src/closed/in.txt"]);
    await storage.list({ limit: 10 });
    expect((await storage.changes(head, { limit: 10 })).entries).toEqual([]);
  });
});

it("lists what is there when a directory is removed during the listing", async () => {
  const backend = new MemoryBackend({ "/a/x.txt": "x\n", "/b/y.txt": "y\n" });
  const listDir = backend.listDir.bind(backend);
  Object.defineProperty(backend, "listDir", {
    async value(path: string) {
      if (path === "/a") await backend.removeTree("/a");
      return listDir(path);
    },
  });
  const { entries } = await filesOf(backend).list({ limit: 10 });
  expect(entries.map(({ path }) => path)).toContain("/b/y.txt");
  expect(entries.map(({ path }) => path)).not.toContain("/a/x.txt");
});

describe("looks that end in another order than they began", () => {
  /** A driver whose next answer of a kind about a path waits until it is released. */
  const start = async (kind: "list" | "stat", path: string) => {
    const files = new Map<string, MapFile>();
    const inner = mapDriver(files);
    const storage = filesOf({
      ...inner,
      async [kind](asked: string) {
        const found = await inner[kind](asked);
        if (asked === path && gate.closing-- === 1) await gate.opened;
        return found;
      },
    } as Driver);
    let open: () => void = () => {};
    const gate = { closing: 0, opened: Promise.resolve() };
    await storage.commit([put("/d/a", "1"), put("/d/b", "1"), put("/d/sub/x", "1")]);
    const { version } = await storage.list({ limit: 10 });
    const foreign = (at: string, text: string): void => {
      files.set(at, { body: encoder.encode(text), version: `foreign ${text}`, mtime: 1, mode: 0o644 });
    };
    /** Lets the n-th answer from now wait. */
    const hold = (nth: number): void => {
      gate.closing = nth;
      gate.opened = new Promise((resolve) => {
        open = resolve;
      });
    };
    return { storage, files, version, foreign, hold, open: () => open() };
  };
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

  const copyOfA = (files: Map<string, MapFile>): MapFile => ({
    ...(files.get("/d/a") as MapFile),
    version: "2",
  });
  const changes: Readonly<Record<string, (files: Map<string, MapFile>) => unknown>> = {
    changed: (files) => files.set("/d/a", copyOfA(files)),
    removed: (files) => files.delete("/d/a"),
    "removed with its directory": (files) => files.clear(),
    made: (files) => files.set("/d/c", copyOfA(files)),
  };
  it.each(Object.keys(changes).flatMap((what) => [[what, "/d"] as const, [what, "/d/sub"] as const]))(
    "a late listing notes no older state of a file that was %s while %s is listed",
    async (what, slow) => {
      const { storage, files, version, hold, open } = await start("list", slow);
      hold(1);
      const late = storage.list({ limit: 10 });
      await pause();
      changes[what]?.(files);
      await storage.readMany(["/d/a", "/d/c"]);
      const { head, entries } = await storage.changes(version, { limit: 0 });
      expect([head === version, entries]).toEqual([false, []]);
      open();
      const listed = await late;
      expect(listed.version).toBe(head);
      expect((await storage.changes(head, { limit: 10 })).entries).toEqual([]);
      const shownFiles = listed.entries.filter(({ type }) => type === "file").map(({ path }) => path);
      expect(shownFiles).toEqual([...files.keys()].sort());
    },
  );

  it("a late read has the version of its own content, and none that hides the newer one", async () => {
    const { storage, foreign, hold, open } = await start("stat", "/d/a");
    // The look, the state before the content, and the state after it.
    hold(3);
    const late = storage.readMany(["/d/a"]);
    await pause();
    foreign("/d/a", "2");
    const { results: newer, version: head } = await storage.readMany(["/d/a"]);
    open();
    const { results, version } = await late;
    expect(results).toMatchObject([{ body: encoder.encode("1") }]);
    expect(results).not.toMatchObject([{ entry: { version: (newer[0] as ReadEntry).entry.version } }]);
    expect((await storage.changes(version, { limit: 10 })).entries.map(({ path }) => path)).toEqual(["/d/a"]);
    expect((await storage.changes(head, { limit: 10 })).entries).toEqual([]);
  });
});

it("tries an unreadable file again when it is named, and in a listing after a while", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  afterThisTest(() => {
    vi.useRealTimers();
  });
  const inner = mapDriver();
  await filesOf(inner).commit([put("/closed", "1"), put("/open", "1")]);
  let isClosed = true;
  let tries = 0;
  const storage = filesOf({
    ...inner,
    async read(path: string) {
      if (path === "/closed") tries++;
      if (path === "/closed" && isClosed) throw new FilewrightError("PERMISSION_DENIED", "closed", { path });
      return inner.read(path);
    },
  });
  const hashes = async () =>
    (await storage.list({ limit: 10 })).entries.map(({ hash }) => hash !== undefined);
  for (let listings = 0; listings < 5; listings++) expect(await hashes()).toEqual([false, true]);
  expect(tries).toBe(1);
  expect((await storage.readMany(["/closed"], { bodies: false })).results).toMatchObject([
    { code: "PERMISSION_DENIED" },
  ]);
  expect(tries).toBe(2);
  isClosed = false;
  expect(await hashes()).toEqual([false, true]);
  vi.advanceTimersByTime(5000);
  expect(await hashes()).toEqual([true, true]);
});

describe("directories that another program removes with their files", () => {
  const start = async (ops: readonly Op[]) => {
    const files = new Map<string, MapFile>();
    const storage = filesOf(mapDriver(files));
    await storage.commit(ops);
    const listed = async (): Promise<readonly string[]> =>
      (await storage.list({ limit: 10 })).entries.map(({ path }) => path);
    return { files, storage, listed };
  };

  it.each<[string, readonly Op[]]>([
    ["made before the file", [{ op: "mkdir", path: "/d/e" }, put("/d/e/f", "1")]],
    ["made beside the file", [put("/d/f", "1"), { op: "mkdir", path: "/d/e" }]],
    ["that lost another file", [put("/d/f", "1"), put("/d/g", "1"), { op: "remove", path: "/d/g" }]],
    [
      "from which a file was moved",
      [put("/d/f", "1"), put("/d/g", "1"), { op: "move", from: "/d/g", to: "/d/h/g" }],
    ],
  ])("are gone: %s", async (_how, ops) => {
    const { files, listed, storage } = await start(ops);
    files.clear();
    expect(await listed()).toEqual([]);
    expect((await storage.readMany(["/d", "/d/e"])).results).toEqual([null, null]);
    await storage.commit([put("/d/new", "1")]);
    expect(await listed()).toEqual(["/d", "/d/new"]);
  });
});

describe("directories without files", () => {
  it("stay for the process that made them, and where the last file was removed", async () => {
    const storage = filesOf(mapDriver());
    await storage.commit([{ op: "mkdir", path: "/a/b" }]);
    await storage.commit([put("/c/f", "1")]);
    await storage.commit([{ op: "remove", path: "/c/f" }]);
    const listed = async (): Promise<readonly string[]> =>
      (await storage.list({ limit: 10 })).entries.map(({ path }) => path);
    expect(await listed()).toEqual(["/a", "/a/b", "/c"]);
    await storage.commit([
      { op: "remove", path: "/a", tree: true },
      { op: "remove", path: "/c" },
    ]);
    expect(await listed()).toEqual([]);
    expect((await storage.probe()).empty_dirs).toBe(false);
  });
});

describe("directories of a driver", () => {
  it("stay, all of them above a file that was removed", async () => {
    const storage = filesOf(mapDriver());
    await storage.commit([put("/c/d/f", "f"), put("/b", "b")]);
    await storage.commit([{ op: "remove", path: "/c/d/f" }]);
    const { entries } = await storage.list({ limit: 10 });
    expect(entries.map(({ path }) => path)).toEqual(["/b", "/c", "/c/d"]);
    await storage.commit([{ op: "move", from: "/b", to: "/c/d/b" }]);
    expect((await storage.readMany(["/c/d/b"])).results).toMatchObject([{ entry: { type: "file" } }]);
  });

  it("are not removed where another program has put a file meanwhile", async () => {
    const files = new Map<string, MapFile>();
    const driver = mapDriver(files);
    const storage = filesOf({
      ...driver,
      async list(directory) {
        const found = await driver.list(directory);
        // After the commit has looked.
        if (directory === "/d" && found.length === 0)
          files.set("/d", { body: encoder.encode("foreign"), version: "f", mtime: 1, mode: 0o644 });
        return found;
      },
    });
    await storage.commit([{ op: "mkdir", path: "/d" }]);
    const ops: readonly Op[] = [{ op: "remove", path: "/d" }, put("/z", "z")];
    const error = await storage.commit(ops).catch((thrown: FilewrightError) => thrown);
    expect(error).toMatchObject({ code: "CONFLICT" });
    expect(shown(files)).toEqual({ "/d": "foreign 644" });
  });
});

describe("a tree that is moved with others of its changes, on a backend", () => {
  const tree = { "/w/d/x": "x", "/w/d/y/z": "z" };
  const start = () => {
    const backend = new MemoryBackend(tree);
    return { backend, storage: filesOf(backend, { root: "/w" }) };
  };
  const move: Op = { op: "move", from: "/d", to: "/e" };
  it.each<[string, readonly Op[], Readonly<Record<string, string>>]>([
    ["a file below it is written afterwards", [move, put("/e/x", "new")], { "/e/x": "new", "/e/y/z": "z" }],
    ["a file below it is written before", [put("/d/x", "new"), move], { "/e/x": "new", "/e/y/z": "z" }],
    ["a file below it is removed", [move, { op: "remove", path: "/e/x" }], { "/e/y/z": "z" }],
    [
      "a file below it is moved on",
      [move, { op: "move", from: "/e/x", to: "/f" }],
      { "/e/y/z": "z", "/f": "x" },
    ],
    ["its place is used again", [move, put("/d/x", "new")], { "/d/x": "new", "/e/x": "x", "/e/y/z": "z" }],
  ])("%s", async (_, ops, expected) => {
    const made = start();
    const { entries } = await made.storage.commit(ops);
    expect(entries.filter(({ type, hash }) => type === "file" && hash === "")).toEqual([]);
    const texts: Record<string, string> = {};
    for (const { path, type } of (await made.storage.list({ limit: 100 })).entries)
      if (type === "file") texts[path] = await made.backend.readText(`/w${path}`);
    expect(texts).toEqual(expected);
    // The last change fails: a directory is in the way that another program has made.
    const failed = start();
    const write = failed.backend.writeBytes.bind(failed.backend);
    failed.backend.writeBytes = async (path, ...rest) => {
      if (path === "/w/last") throw new FilewrightError("NO_SPACE", "no room");
      return write(path, ...rest);
    };
    await expect(failed.storage.commit([...ops, put("/last", "z")])).rejects.toMatchObject({
      code: "NO_SPACE",
    });
    for (const [path, text] of Object.entries(tree)) expect(await failed.backend.readText(path)).toBe(text);
    expect((await failed.storage.list({ limit: 100 })).entries.map(({ path }) => path)).toEqual([
      "/d",
      "/d/x",
      "/d/y",
      "/d/y/z",
    ]);
  });
});

describe("a path that the driver reads otherwise", () => {
  it.each([false, true])("is refused before anything is done with it, exclusive: %s", async (exclusive) => {
    const asked: string[] = [];
    const inner = mapDriver();
    const driver: Driver = {
      ...inner,
      async stat(path) {
        if (path.includes("\\")) throw new FilewrightError("INVALID_ARGUMENT", "no backslash", { path });
        return inner.stat(path);
      },
      async read(path) {
        asked.push(path);
        return inner.read(path);
      },
      async write(path, body, options) {
        asked.push(path);
        return inner.write(path, body, options);
      },
      async move(from, to) {
        asked.push(from, to);
        return (await inner.move?.(from, to)) as DriverEntry;
      },
    };
    const storage = filesOf(driver, { exclusive });
    await storage.commit([put("/a", "1")]);
    const odd = "/x\\..\\..\\secret";
    const refused: readonly (readonly Op[])[] = [
      [put(odd, "x")],
      [{ op: "move", from: "/a", to: odd }],
      [{ op: "move", from: odd, to: "/b" }],
    ];
    for (const ops of refused)
      expect(await storage.commit(ops).catch((error: FilewrightError) => error.code)).toBe(
        "INVALID_ARGUMENT",
      );
    const [found] = (await storage.readMany([odd])).results;
    expect(found).toEqual(exclusive ? null : expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(asked.filter((path) => path.includes("\\"))).toEqual([]);
  });
});

/** When the calls of a driver fail: which call, whether it happens before it fails, and whether all later ones fail. */
interface Fault {
  readonly at: number;
  readonly happens: boolean;
  readonly forGood: boolean;
  /** A second call that fails, counted from the first one. */
  readonly second?: number | undefined;
  /** The code of the error of calls that change something; without it every call fails with an exception. */
  readonly code?: "NO_SPACE" | "TIMEOUT" | undefined;
}

/** Returns a driver over a map that fails as told, once `arm` was called. */
function failingDriver(files: Map<string, MapFile>): {
  readonly driver: Driver;
  arm(fault: Fault | undefined): void;
  calls(): number;
} {
  let fault: Fault | undefined;
  let calls = 0;
  const isAt = ({ at, forGood, second }: Fault): boolean =>
    forGood ? calls >= at : calls === at || (second !== undefined && calls === at + second);
  const wrap = <T extends readonly unknown[], R>(call: (...args: T) => Promise<R>, isChange = false) => {
    return async (...args: T): Promise<R> => {
      calls++;
      const { code } = fault ?? {};
      if (fault === undefined || !isAt(fault) || (code !== undefined && !isChange)) return call(...args);
      if (fault.happens && (calls === fault.at || fault.second !== undefined)) await call(...args);
      throw code === undefined ? new Error("the line is dead") : new FilewrightError(code, "no room");
    };
  };
  const { stat, list, read, write, remove, move } = mapDriver(files);
  return {
    driver: {
      stat: wrap(stat),
      list: wrap(list),
      read: wrap(read),
      write: wrap(write, true),
      remove: wrap(remove, true),
      move: wrap(move as NonNullable<Driver["move"]>, true),
    },
    arm(next) {
      fault = next;
      calls = 0;
    },
    calls: () => calls,
  };
}

it("takes the rest of a commit back on top of what it has taken back before", async () => {
  const files = new Map<string, MapFile>();
  const inner = mapDriver(files);
  let rollbackWrites = -1;
  const storage = filesOf({
    ...inner,
    async write(path, ...rest) {
      if (path === "/last") rollbackWrites = 0;
      const isBroken = path === "/last" || (rollbackWrites >= 0 && ++rollbackWrites === 2);
      if (isBroken) throw new FilewrightError("NO_SPACE", "no room", { path });
      return inner.write(path, ...rest);
    },
  });
  await storage.commit([put("/a", "one")]);
  await expect(
    storage.commit([put("/a", "two"), put("/a", "three"), put("/last", "x")]),
  ).rejects.toMatchObject({
    code: "IO_ERROR",
    details: { rolled_back: false, left: ["/a"] },
  });
  expect(shown(files)).toEqual({ "/a": "two 644" });
  await storage.commit([]);
  expect(shown(files)).toEqual({ "/a": "one 644" });
});

// By day each of the three drivers fails in a third of the ways.
describe.each([
  { canMove: true, exclusive: false, part: 0 },
  { canMove: false, exclusive: false, part: 1 },
  { canMove: true, exclusive: true, part: 2 },
])("a commit on a driver whose call n fails: %o", ({ canMove, exclusive, part }) => {
  const ops: readonly Op[] = [
    put("/a", "replaced"),
    put("/new/deep/file", "made", 0o600),
    { op: "move", from: "/tree", to: "/moved" },
    { op: "chmod", path: "/b", mode: 0o755 },
    { op: "remove", path: "/gone", tree: true },
    put("/gone", "a file now"),
    put("/a", "again"),
    { op: "move", from: "/c", to: "/new/c" },
    put("/last", "last"),
  ];
  const start = async () => {
    const files = new Map<string, MapFile>();
    const { driver, arm, calls } = failingDriver(files);
    const { move: _, ...still } = driver;
    const storage = filesOf(canMove ? driver : still, { exclusive });
    await storage.commit([
      put("/a", "a", 0o640),
      put("/b", "b"),
      put("/c", "c"),
      put("/tree/x", "x"),
      put("/tree/y/z", "z"),
      put("/gone/1", "1"),
      put("/gone/2/3", "3", 0o600),
    ]);
    return { files, storage, arm, calls, before: shown(files) };
  };
  const after = {
    "/a": "again 640",
    "/b": "b 755",
    "/gone": "a file now 644",
    "/last": "last 644",
    "/moved/x": "x 644",
    "/moved/y/z": "z 644",
    "/new/c": "c 644",
    "/new/deep/file": "made 600",
  };

  const ways: readonly (readonly [string, Omit<Fault, "at">])[] = [
    ["before it happens", { happens: false, forGood: false }],
    ["after it has happened", { happens: true, forGood: false }],
    ["before it happens, and every later one", { happens: false, forGood: true }],
    ["after it has happened, and every later one", { happens: true, forGood: true }],
    ...Array.from({ length: 12 }, (_, second) => {
      const how = { happens: true, forGood: false, second: second + 1 };
      return [`after it has happened, and call n + ${second + 1} too`, how] as const;
    }),
    ["with NO_SPACE, and every later one", { happens: false, forGood: true, code: "NO_SPACE" }],
    ["with TIMEOUT after it has happened", { happens: true, forGood: false, code: "TIMEOUT" }],
  ];
  const some = share(ways, 3, part);
  it.each(some)("leaves the files as before, or says what is half made: %s", async (way, how) => {
    const plain = await start();
    plain.arm(undefined);
    await plain.storage.commit(ops);
    expect(shown(plain.files)).toEqual(after);
    // By day every second call fails.
    const calls = Array.from({ length: plain.calls() }, (_, index) => index + 1);
    let halfMade = 0;
    for (const at of share(
      calls,
      2,
      ways.findIndex(([title]) => title === way),
    )) {
      const { files, storage, arm, before } = await start();
      arm({ at, ...how });
      const error = await storage.commit(ops).then(
        () => undefined,
        (thrown: FilewrightError) => thrown,
      );
      arm(undefined);
      const now = shown(files);
      const place = `call ${at}`;
      if (error === undefined) {
        expect([place, now]).toEqual([place, after]);
        continue;
      }
      expect([place, how.code, "IO_ERROR"]).toContain(error.code);
      const left = (error.details?.["left"] ?? []) as readonly string[];
      const differing = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
        (path) => before[path] !== now[path],
      );
      const told = (path: string) => left.some((one) => path === one || path.startsWith(`${one}/`));
      expect([place, differing.filter((path) => !told(path))]).toEqual([place, []]);
      if (left.length > 0) halfMade++;
      else if (error.code === "IO_ERROR")
        expect([place, error.details?.["outcome"]]).toEqual([place, "none"]);
      // Once the driver answers again, the next commit takes back what was left; nothing is lost.
      await storage.commit([]);
      expect([place, shown(files)]).toEqual([place, before]);
    }
    if (how.forGood) expect(halfMade).toBeGreaterThan(0);
  });

  it("takes nothing back that another writer has changed meanwhile", async () => {
    const { files, storage, arm, before } = await start();
    const foreign: MapFile = { body: encoder.encode("foreign"), version: "foreign", mtime: 1, mode: 0o600 };
    arm(undefined);
    const stop = files.delete.bind(files);
    // The removal of a file fails for good, after another program has replaced what the commit has written.
    files.delete = (path) => {
      if (path !== "/gone/1") return stop(path);
      files.set("/a", foreign);
      throw new FilewrightError("PERMISSION_DENIED", "not this one", { path });
    };
    const error = await storage.commit(ops).catch((thrown: FilewrightError) => thrown);
    expect(error).toMatchObject({
      code: "PERMISSION_DENIED",
      details: { rolled_back: false, left: ["/a"] },
    });
    expect(shown(files)).toEqual({ ...before, "/a": "foreign 600" });
  });
});

describe("files that nobody may write", () => {
  const place = (seed: Record<string, number>) => {
    const files = new Map<string, MapFile>();
    for (const [path, mode] of Object.entries(seed))
      files.set(path, { body: encoder.encode("old"), version: `seed ${path}`, mtime: 1, mode });
    const inner = mapDriver(files);
    const failing = new Set<string>();
    const driver: Driver = {
      ...inner,
      write: (path, body, options) => {
        if (failing.has(path)) throw new FilewrightError("NO_SPACE", "the driver is full");
        return inner.write(path, body, options);
      },
    };
    return { files, failing, storage: filesOf(driver) };
  };

  it("get other bits and other contents", async () => {
    const { files, storage } = place({ "/f": 0o444, "/g": 0o444 });
    await storage.commit([{ op: "chmod", path: "/f", mode: 0o644 }]);
    await storage.commit([put("/g", "new")]);
    expect(shown(files)).toEqual({ "/f": "old 644", "/g": "new 444" });
  });

  it("are what they were when a commit that made them so fails, and block no later one", async () => {
    const { files, failing, storage } = place({ "/a": 0o644, "/b": 0o644 });
    failing.add("/b");
    for (const first of [put("/a", "new", 0o444), { op: "chmod", path: "/a", mode: 0o444 } as const])
      await expect(storage.commit([first, put("/b", "new")])).rejects.toMatchObject({ code: "NO_SPACE" });
    expect(shown(files)).toEqual({ "/a": "old 644", "/b": "old 644" });
    failing.clear();
    await storage.commit([put("/a", "next"), put("/b", "next")]);
    expect(shown(files)).toEqual({ "/a": "next 644", "/b": "next 644" });
  });

  it("get other bits and a content in one commit, whose entries are true", async () => {
    const { files, storage } = place({ "/f": 0o644 });
    await storage.commit([{ op: "chmod", path: "/f", mode: 0o600 }, put("/f", "new", 0o600)]);
    const { entries } = await storage.commit([put("/f", "last"), { op: "chmod", path: "/f", mode: 0o640 }]);
    expect(shown(files)).toEqual({ "/f": "last 640" });
    const { entries: found } = await storage.list({ prefix: "/", limit: 9 });
    expect(entries).toEqual(found);
    const version = entries[0]?.version ?? "";
    await storage.commit([put("/f", "after")], { expect: [{ path: "/f", version }] });
  });
});
