/** The files of a host: eleven methods, whatever else the object has, and everything that follows from them. */
import { expect, it, vi } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
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
