/** The options of single calls of a backend: a mistake is refused, names its nearest valid form, and changes nothing. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  type FsBackend,
  HttpBackend,
  LocalBackend,
  MemoryBackend,
  MountBackend,
  NodeBackend,
  OpfsBackend,
  OverlayBackend,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";
import { filesOf, memoryStorage, toBackend } from "../../js/storage/index.ts";
import { mapDriver } from "../storage/map-driver.ts";

const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-call-options-")));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let root: string;
let count = 0;
beforeEach(() => {
  root = join(base, String(count++));
  fs.mkdirSync(join(root, "d"), { recursive: true });
  fs.writeFileSync(join(root, "a"), "one\n");
});

const bytes = new Uint8Array(1);
type Disk = LocalBackend | NodeBackend;

/** A mistake in the options of some calls, and what the refusal says about it. */
type Mistake = readonly [options: unknown, says: RegExp];

const anyOptions: readonly Mistake[] = [
  [5, /must be an object of options, got a number/],
  [null, /got null/],
  [[], /got a list/],
  [Object.create({ signal: 1 }), /plain object/],
];
const conditions: readonly Mistake[] = [
  ...anyOptions,
  [{ ifVersion: 5 }, /'ifVersion'.*must be a string, got a number/],
  [{ ifVersion: null }, /'ifVersion'.*got null/],
  [{ ifversion: "x" }, /'ifversion'.*did you mean 'ifVersion'/],
  [{ aside: true }, /'aside'.*string/],
];
const writes: readonly Mistake[] = [
  ...conditions,
  [{ ifAbsent: "yes" }, /'ifAbsent'.*must be true or false/],
  [{ ifAbsnet: true }, /'ifAbsnet'.*did you mean 'ifAbsent'/],
  [{ overwrite: false }, /'overwrite'/],
  [{ durability: "Durable" }, /'durability'.*"durable"/],
  [{ durability: "strict" }, /'durability'.*"none", "atomic", "durable"/],
  [{ createDirs: 1 }, /'createDirs'.*true or false/],
  [{ mode: "600" }, /'mode'.*integer/],
  [{ mode: 0o10000 }, /'mode'.*4095/],
  [{ signal: new AbortController() }, /'signal'.*AbortSignal/],
];
const transfers: readonly Mistake[] = [
  ...conditions,
  [{ overwrite: "true" }, /'overwrite'.*true or false/],
  [{ overwirte: true }, /'overwirte'.*did you mean 'overwrite'/],
  [{ ifAbsent: true }, /'ifAbsent'/],
  [{ durability: 2 }, /'durability'/],
];

const calls: Readonly<
  Record<string, readonly [call: (disk: Disk, given: never) => unknown, mistakes: readonly Mistake[]]>
> = {
  writeText: [
    (disk, given) => disk.writeText(join(root, "new/a"), "x", given),
    [...writes, [{ encoding: 8 }, /'encoding'.*string/]],
  ],
  writeBytes: [(disk, given) => disk.writeBytes(join(root, "new/a"), bytes, given), writes],
  readText: [
    (disk, given) => disk.readText(join(root, "a"), given),
    [...anyOptions, [{ encodign: "utf-8" }, /did you mean 'encoding'/]],
  ],
  read: [
    (disk, given) => disk.read(join(root, "a"), given),
    [
      ...anyOptions,
      [{ range: [0, 5] }, /'range'/],
      [{ range: { start: 0 } }, /'range.end'.*required/],
      [{ range: { start: 3, end: 1 } }, /'range'.*start <= end/],
      [{ range: { from: 0, to: 1 } }, /'range.from'/],
      [{ maxBytes: "5" }, /'maxBytes'.*integer/],
      [{ maxbytes: 5 }, /did you mean 'maxBytes'/],
      [{ ifNoneMatch: 5 }, /'ifNoneMatch'/],
    ],
  ],
  readLines: [
    (disk, given) => disk.readLines(join(root, "a"), given),
    [
      ...anyOptions,
      [{ startline: 5 }, /did you mean 'startLine'/],
      [{ forceText: "no" }, /'forceText'.*true or false/],
      [{ maxLines: "5" }, /'maxLines'/],
    ],
  ],
  hash: [
    (disk, given) => disk.hash(join(root, "a"), given),
    [...anyOptions, [{ sginal: 1 }, /did you mean 'signal'/]],
  ],
  delete: [
    (disk, given) => disk.delete(join(root, "a"), given),
    [...conditions, [{ recursive: true }, /'recursive'/]],
  ],
  mkdir: [
    (disk, given) => disk.mkdir(join(root, "new/d"), given),
    [...anyOptions, [{ parents: 0 }, /'parents'.*true or false/], [{ recursive: true }, /'recursive'/]],
  ],
  listDir: [
    (disk, given) => disk.listDir(root, given),
    [...anyOptions, [{ fact: false }, /did you mean 'facts'/]],
  ],
  listPage: [
    (disk, given) => disk.listPage(root, given),
    [
      ...anyOptions,
      [{}, /'limit'.*required/],
      [{ limit: 0 }, /'limit'/],
      [{ limit: 5, cusor: "f" }, /'cursor'/],
    ],
  ],
  glob: [
    (disk, given) => disk.glob("**", given),
    [...anyOptions, [{ cwd: "/" }, /'cwd'/], [{ root: 5 }, /'root'/]],
  ],
  rename: [(disk, given) => disk.rename(join(root, "a"), join(root, "new"), given), transfers],
  copyFile: [(disk, given) => disk.copyFile(join(root, "a"), join(root, "new"), given), transfers],
  copyTree: [
    (disk, given) => disk.copyTree(join(root, "d"), join(root, "new"), given),
    [...anyOptions, [{ overwrite: 1 }, /'overwrite'/], [{ onmade: () => 0 }, /did you mean 'onMade'/]],
  ],
  removeTree: [
    (disk, given) => disk.removeTree(join(root, "d"), given),
    [...anyOptions, [{ recursive: true }, /'recursive'/], [{ aside: 5 }, /'aside'/]],
  ],
  lock: [
    (disk, given) => disk.lock(join(root, "a"), given),
    [
      ...anyOptions,
      [undefined, /required|got nothing|object/],
      [{}, /'timeoutMs'.*required/],
      [{ timeoutMs: "5" }, /'timeoutMs'.*integer/],
      [{ timeoutMs: 5, resolve: true }, /did you mean 'resolved'/],
    ],
  ],
};

/** Files in memory that are as those on the disk. */
async function filled<T extends FsBackend>(backend: T): Promise<T> {
  await backend.mkdir(join(root, "d"));
  await backend.writeText(join(root, "a"), "one\n");
  return backend;
}

const inMemory = (): Promise<MemoryBackend> => filled(new MemoryBackend());

/** Backends that are no disk, by the name that begins their refusals. Undefined: nothing can be there. */
const others: readonly (readonly [
  title: string,
  name: string,
  make: () => Promise<FsBackend> | FsBackend,
])[] = [
  ["memory", "MemoryBackend", inMemory],
  ["an overlay", "OverlayBackend", async () => new OverlayBackend(await inMemory())],
  ["mounts", "MountBackend", async () => new MountBackend({ "/": await inMemory() })],
  [
    "a confined backend",
    "SandboxedBackend",
    async () => new SandboxedBackend(await inMemory(), SandboxPolicy.workspaceOnly(root)),
  ],
  ["a storage", "toBackend", () => filled(toBackend(memoryStorage()))],
  ["a storage over a driver", "toBackend", () => filled(toBackend(filesOf(mapDriver())))],
  ["a storage over a backend", "toBackend", () => filled(toBackend(filesOf(new MemoryBackend())))],
  ["files over HTTP", "HttpBackend", () => new HttpBackend({ url: "http://127.0.0.1:9/" })],
  ["files of a browser", "HandleBackend", () => new OpfsBackend()],
];

describe.each(others)("%s", (_title, name, make) => {
  const isRemote = name === "HttpBackend" || name === "HandleBackend";

  test.each(Object.entries(calls))("%s refuses every mistake", async (method, [call, mistakes]) => {
    const backend = await make();
    const synchronous = (backend as unknown as Record<string, unknown>)[`${method}Sync`];
    if (typeof backend[method as keyof FsBackend] !== "function") return;
    for (const [options, says] of mistakes) {
      const refusal = await Promise.resolve()
        .then(() => call(backend as Disk, options as never))
        .catch((error: unknown) => error);
      expect([options, refusal]).toEqual([options, expect.objectContaining({ code: "INVALID_ARGUMENT" })]);
      expect((refusal as Error).message).toMatch(says);
      expect((refusal as Error).message).toMatch(new RegExp(`^${name}\\.${method}: `, "u"));
      if (typeof synchronous !== "function") continue;
      const args = method.startsWith("write") ? [method === "writeText" ? "x" : bytes, options] : [options];
      expect(() => synchronous.call(backend, join(root, "new"), ...args)).toThrow(says);
    }
    if (isRemote) return;
    expect((await backend.listDir(root)).map((entry) => entry.name)).toEqual(["d", "a"]);
    expect(await backend.readText(join(root, "a"))).toBe("one\n");
  });
});

describe.each([
  ["LocalBackend", () => new LocalBackend({ stateDir: join(base, "state") })],
  ["NodeBackend", () => new NodeBackend({ stateDir: join(base, "state") })],
] as const)("%s", (name, make) => {
  const rows = Object.entries(calls).flatMap(([method, [call, mistakes]]) =>
    mistakes.map(([options, says], index) => [method, index, { call, options, says }] as const),
  );
  test.each(rows)("%s: mistake %i is refused", async (method, _, { call, options, says }) => {
    const refusal = await Promise.resolve()
      .then(() => call(make(), options as never))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(says) });
    expect((refusal as Error).message).toMatch(new RegExp(`^${name}\\.${method}: `, "u"));
    expect(fs.readdirSync(root).sort()).toEqual(["a", "d"]);
    expect(fs.readFileSync(join(root, "a"), "utf8")).toBe("one\n");
  });

  test("undefined is no option, and every option is accepted by its calls", async () => {
    const disk = make();
    const { signal } = new AbortController();
    const at = join(root, "n/a");
    const made = await disk.writeBytes(at, bytes, {
      ifVersion: undefined,
      ifAbsent: true,
      createDirs: true,
      mode: 0o600,
      durability: "none",
      signal,
      hash: `sha256:${"0".repeat(64)}`,
      aside: undefined,
    });
    await disk.writeText(at, "x", { encoding: "utf-8", ifVersion: made.version });
    await disk.read(at, { range: { start: 0, end: 5 }, maxBytes: 5, ifNoneMatch: "0", signal });
    await disk.readLines(at, {
      startLine: -1,
      maxLines: null,
      lineNumbers: "none",
      encoding: "auto",
      signal,
    });
    await disk.rename(at, join(root, "n/b"), {
      overwrite: true,
      ifVersion: undefined,
      ifTargetVersion: undefined,
    });
    await disk.copyFile(join(root, "n/b"), at, { overwrite: false });
    await disk.copyTree(join(root, "n"), join(root, "m"), {
      overwrite: false,
      signal,
      onMade: () => undefined,
    });
    await disk.removeTree(join(root, "m"), { signal });
    await disk.listDir(root, { facts: false, signal });
    await disk.listPage(root, { limit: 1, cursor: undefined });
    await disk.mkdir(join(root, "o"), { parents: false, existOk: false });
    await disk.delete(join(root, "o"), { ifVersion: undefined });
    (await disk.lock(at, { timeoutMs: 0, signal, resolved: true })).release();
    expect(fs.readdirSync(join(root, "n"))).toEqual(["a", "b"]);
  });
});
