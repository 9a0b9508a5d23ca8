/** The files of a host: eleven methods, whatever else the object has, and everything that follows from them. */
import { expect, it, vi } from "vitest";
import { mkdirSync, writeFileSync } from "node:fs";
import {
  type FsBackend,
  LocalBackend,
  MemoryBackend,
  MountBackend,
  OverlayBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
  type WriteOptions,
} from "../../js/index.node.ts";
import { temporary } from "../tools/harness.ts";
import { asFiles } from "../../js/backends/host-files.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { minimalBackend } from "./minimal.ts";

it("other methods of the object are not called, and what they would do is made from the eleven", async () => {
  const more = {
    grep: vi.fn(),
    find: vi.fn(),
    listTree: vi.fn(),
    rename: vi.fn(),
    read: vi.fn(),
    hash: vi.fn(),
  };
  const backend = { ...minimalBackend({ "/ws/a.txt": "one needle\n", "/ws/d/b.txt": "two\n" }), ...more };
  const ws = await openWorkspace({ backend, root: "/ws" });
  afterThisTest(() => ws.close());
  expect((await ws.call("grep", { pattern: "needle" })).data).toMatchObject({ total_matches: 1 });
  expect((await ws.call("glob", { pattern: "**/*.txt" })).data).toMatchObject({ total: 2 });
  expect((await ws.call("list_directory", { depth: 2 })).ok).toBe(true);
  expect((await ws.call("move", { source: "d", destination: "e" })).ok).toBe(true);
  expect(await backend.readText("/ws/e/b.txt")).toBe("two\n");
  expect((await ws.call("stat", { path: "a.txt", hash: true })).ok).toBe(true);
  for (const [name, method] of Object.entries(more)) expect(method, name).not.toHaveBeenCalled();
});

it("of two writes at once with the same condition one is made", async () => {
  const backend = minimalBackend({ "/a": "one" });
  const files = asFiles(backend);
  const { version: ifVersion } = (await files.read("/a")) ?? {};
  const write = (text: string) => Promise.resolve(files.writeText("/a", text, { ifVersion }));
  const ends = await Promise.allSettled([write("two"), write("three")]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(ends[1]).toMatchObject({ reason: { code: "CONFLICT" } });
  expect(await backend.readText("/a")).toBe("two");
  await expect(files.delete("/a", { ifVersion })).rejects.toMatchObject({ code: "CONFLICT" });
});

it("capabilities() says how the files work", async () => {
  const none = { conditions: false, ranges: false, links: false, modes: false, moves: false, asides: false };
  for (const [backend, expected] of [
    // A move is a copy and a removal there.
    [minimalBackend({ "/ws": { type: "dir" } }), { ...none, moves: true, locks: false }],
    [
      new MemoryBackend({ "/ws": { type: "dir" } }),
      { conditions: true, ranges: true, links: true, modes: true, moves: true, asides: false, locks: false },
    ],
  ] as const) {
    const ws = await openWorkspace({ backend, root: "/ws" });
    afterThisTest(() => ws.close());
    expect(ws.capabilities().backend).toEqual(expected);
  }
});

it("two workspaces over one backend lose no change of each other", async () => {
  const slow = minimalBackend({ "/ws/a.txt": "one\ntwo\n" });
  const later = () => new Promise<void>((done) => setTimeout(done, 5));
  const backend: FsBackend = {
    ...slow,
    readBytes: async (path) => later().then(() => slow.readBytes(path)),
    writeBytes: async (path, content) => later().then(() => slow.writeBytes(path, content)),
  };
  const open = () => openWorkspace({ backend, root: "/ws" });
  const [a, b] = [await open(), await open()];
  afterThisTest(() => Promise.all([a.close(), b.close()]));
  const edit = (ws: typeof a, find: string, text: string) =>
    ws.call("edit_file", { path: "a.txt", old_text: find, new_text: text });
  const made = await Promise.all([edit(a, "one", "1"), edit(b, "two", "2")]);
  expect(made).toMatchObject([{ ok: true }, { ok: true }]);
  expect(await slow.readText("/ws/a.txt")).toBe("1\n2\n");
});

it("a backend with versions gets the conditions, and one without gets no hash that was made here", async () => {
  for (const hasVersions of [true, false]) {
    const inner = hasVersions ? new MemoryBackend({ "/a": "one" }) : minimalBackend({ "/a": "one" });
    const given: WriteOptions[] = [];
    const methods = Object.keys(minimalBackend()) as (keyof FsBackend)[];
    const bound = methods.map((name) => [name, (inner[name] as () => void).bind(inner)]);
    const backend: FsBackend = {
      ...(Object.fromEntries(bound) as unknown as FsBackend),
      writeBytes(path, content, options) {
        given.push(options ?? {});
        return inner.writeBytes(path, content, options);
      },
    };
    const files = asFiles(backend);
    const { version: ifVersion } = (await files.read("/a")) ?? {};
    await files.writeText("/a", "two", { ifVersion });
    await files.writeText("/b", "two", { ifAbsent: true });
    expect(given).toEqual([hasVersions ? { ifVersion } : {}, { ifAbsent: true }]);
  }
});

it("a write on a version that stat tells does not read the file", async () => {
  const memory = new MemoryBackend({ "/a": "one" });
  const methods = Object.keys(minimalBackend()) as (keyof FsBackend)[];
  const bound = methods.map((name) => [name, (memory[name] as unknown as () => void).bind(memory)]);
  const readBytes = vi.fn((path: string) => memory.readBytes(path));
  const files = asFiles({ ...(Object.fromEntries(bound) as unknown as FsBackend), readBytes });
  const { version: ifVersion } = await files.stat("/a");
  await files.writeText("/a", "two", { ifVersion });
  await expect(files.writeText("/a", "three", { ifVersion })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(files.delete("/a", { ifVersion })).rejects.toMatchObject({ code: "CONFLICT" });
  expect(readBytes).not.toHaveBeenCalled();
});

it("an object with links that is of no class of this package is refused", async () => {
  const backend = { ...minimalBackend(), readLink: async () => "/etc" };
  await expect(openWorkspace({ backend, root: "/" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

it("a file that is replaced by a secret while it is read gives no page and no hash of the secret", async () => {
  const secret = "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----\n";
  const policy = { ...SandboxPolicy.workspaceOnly("/ws"), secrets: "grant" as const };
  const plain = minimalBackend({ "/ws/a.txt": "x" });
  let reads = 0;
  const changing: FsBackend = {
    ...plain,
    readBytes: async () => new TextEncoder().encode(reads++ % 2 === 0 ? secret : "nothing\n"),
  };
  const ofHost = new SandboxedBackend(changing, policy);
  await expect(ofHost.readLines("/ws/a.txt", {})).rejects.toMatchObject({ code: "GRANT_DENIED" });
  reads = 0;
  await expect(ofHost.hash("/ws/a.txt")).rejects.toMatchObject({ code: "GRANT_DENIED" });

  const memory = new MemoryBackend({ "/ws/a.txt": secret });
  const read = memory.read.bind(memory);
  let ranges = 0;
  memory.read = async (path, options) => {
    // The head is read after the page: by then another file has the name.
    if (options?.range !== undefined && ranges++ === 0) await memory.writeText(path, "nothing\n");
    return read(path, options);
  };
  const page = await new SandboxedBackend(memory, policy).readLines("/ws/a.txt", {});
  expect(JSON.stringify(page)).not.toContain("PRIVATE");
});

it("an overlay hides a changed file by the ignore files by which it hides others", async () => {
  const { root } = await temporary({ "in/ws/old.log": "needle\n", "in/ws/sub/.gitignore": "*.tmp\n" });
  mkdirSync(`${root}/in/.git`);
  writeFileSync(`${root}/in/.gitignore`, "*.log\n");
  const ws = await openWorkspace({ backend: new OverlayBackend(new LocalBackend()), root: `${root}/in/ws` });
  afterThisTest(() => ws.close());
  for (const path of ["new.log", "sub/new.tmp", "sub/new.txt"])
    expect((await ws.call("write_file", { path, content: "needle\n" })).ok).toBe(true);
  const { data } = await ws.call("glob", { pattern: "**/*" });
  expect(data).toMatchObject({ matches: ["new.log", "old.log", "sub/.gitignore", "sub/new.txt"] });
});

it("a copy to a mount without permission bits leaves them out", async () => {
  const { root } = await temporary({ "d/a.txt": "one\n" });
  const plain = minimalBackend({ "/d": { type: "dir" } });
  const backend = new MountBackend({ "/disk": { backend: new LocalBackend(), root }, "/host": plain });
  await backend.copyFile("/disk/d/a.txt", "/host/a.txt");
  const ws = await openWorkspace({ backend, root: "/" });
  afterThisTest(() => ws.close());
  expect((await ws.call("copy", { source: "disk/d", destination: "host/e" })).ok).toBe(true);
  expect(await plain.readText("/a.txt")).toBe("one\n");
  expect(await plain.readText("/e/a.txt")).toBe("one\n");
});
