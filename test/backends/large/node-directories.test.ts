/** Directories with very many entries, without the addon: no call keeps the event loop from its other work for long. */
import * as fs from "node:fs";
import defaultFs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ownIdentity } from "../../../js/backends/node/process-identity.node.ts";
import { NodeBackend } from "../../../js/index.node.ts";

/** In memory where possible: making and removing 4,000 files took 2 s of each test on a disk. */
const BASE = fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Enough for more than 64 KiB of names on every file system. */
const ENTRIES = 4000;

let root: string;
let disk: NodeBackend;
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(BASE, "filewright-large-")));
  fs.mkdirSync(join(root, "large"));
  disk = new NodeBackend();
});
afterEach(() => {
  disk.close();
  fs.rmSync(root, { recursive: true, force: true });
});

function fill(nameOf: (index: number) => string): void {
  for (let index = 0; index < ENTRIES; index++) fs.writeFileSync(join(root, "large", nameOf(index)), "");
}
const ordinary = (index: number): string => `${index}-`.padEnd(100, "n");
const odd = (index: number): string => `${index}\\`.padEnd(100, "n");
/** The name of a temporary file of a process that has ended. */
const stale = (index: number): string => {
  const { realm } = ownIdentity();
  return `.filewright-${realm}-7fffffff-1-${index.toString(16).padStart(16, "0")}`;
};

/** Returns how often a call read all names of a directory on the thread of the event loop. */
async function blockingReads(call: () => unknown): Promise<number> {
  const spy = vi.spyOn(defaultFs, "readdirSync");
  syncBuiltinESMExports();
  try {
    await call();
    // The directory above, which is small, may be read at once.
    return spy.mock.results.filter(({ value }) => (value as readonly unknown[]).length >= ENTRIES).length;
  } finally {
    spy.mockRestore();
    syncBuiltinESMExports();
  }
}

/** Returns the number of turns of the event loop that pass during a call. */
async function turnsDuring(call: () => unknown): Promise<number> {
  let turns = 0;
  let running = true;
  const count = (): void => {
    turns++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  await call();
  running = false;
  return turns;
}

const large = (): string => join(root, "large");
it.each<[string, (index: number) => string, () => unknown]>([
  ["a listing of names that may not be text", odd, () => disk.listDir(large(), { facts: false })],
  ["a write, which sweeps its directory", ordinary, () => disk.writeText(join(large(), "f"), "x")],
  [
    "a refused deletion",
    ordinary,
    () => expect(disk.delete(large())).rejects.toMatchObject({ code: "NOT_EMPTY" }),
  ],
  [
    "a refused deletion that keeps the entry aside",
    ordinary,
    () =>
      expect(disk.delete(large(), { aside: disk.asidePath(large()) })).rejects.toMatchObject({
        code: "NOT_EMPTY",
      }),
  ],
  ["the deletion of a tree", ordinary, () => disk.removeTree(large())],
  ["a sweep", ordinary, () => disk.sweep(large())],
])("%s does not read the names on the thread of the event loop", async (_, nameOf, call) => {
  fill(nameOf);
  expect(await blockingReads(call)).toBe(0);
});

it("a sweep of many stale files pauses, and removes them all", async () => {
  fill(stale);
  expect(await turnsDuring(() => disk.sweep(large()))).toBeGreaterThan(3);
  expect(fs.readdirSync(large())).toEqual([]);
});

it("a listing has all names, also those that are read as bytes", async () => {
  fill(odd);
  expect((await disk.listDir(large(), { facts: false })).length).toBe(ENTRIES);
});
