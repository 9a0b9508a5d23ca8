/** A change that the end of a process interrupted is rolled back at the next opening; files that a person saved since stay. */
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shortcutsOf } from "../../js/backends/abilities.ts";
import { copyEntry, moveEntry } from "../../js/backends/fallback/fallback-tree.ts";
import {
  FilewrightError,
  LocalBackend,
  MemoryBackend,
  openWorkspace,
  type Workspace,
  type WorkspaceEvent,
} from "../../js/index.node.ts";
import { makeRecordLog, newCallId } from "../../js/log/index.ts";
import { FileJournal } from "../../js/log/store.node.ts";
import { Transaction } from "../../js/backends/transaction/transaction.ts";
import { between } from "./places.ts";

let base: string;
let root: string;
let stateDir: string;
const open: Workspace[] = [];
/** The content of a file that is too large for a record. */
const LARGE = "large\n".repeat(200_000);

beforeEach(async () => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-recovery-")));
  [root, stateDir] = [join(base, "ws"), join(base, "state")];
  fs.mkdirSync(join(root, "tree/deep"), { recursive: true });
  fs.mkdirSync(stateDir, { mode: 0o700 });
  fs.writeFileSync(join(root, "a"), "port 8080");
  fs.writeFileSync(join(root, "old"), "old");
  fs.writeFileSync(join(root, "tree/one"), "port 8080");
  fs.writeFileSync(join(root, "tree/deep/two"), "port 8080");
  fs.mkdirSync(join(root, "with"));
  fs.writeFileSync(join(root, "large"), LARGE);
  fs.writeFileSync(join(root, "with/large"), LARGE);
  const disk = new LocalBackend({ stateDir });
  fs.writeFileSync(join(root, "gone"), LARGE);
  const [aside, { keeper }] = [disk.asidePath(join(root, "gone")), shortcutsOf(disk)];
  const name = await keeper.nameFor(await disk.stat(join(root, "gone")), 0);
  fs.renameSync(join(root, "gone"), aside);
  await keeper.putAway(aside, name as string);
});
afterEach(async () => {
  for (const ws of open.splice(0)) await ws.close();
  fs.rmSync(base, { recursive: true, force: true });
});

const at = (path: string): string => join(root, path);
const text = (path: string): string | null =>
  fs.existsSync(at(path)) ? fs.readFileSync(at(path), "utf8") : null;
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

/** A journal whose writers all count as gone. */
const deadJournal = (): FileJournal => new FileJournal(stateDir, () => ({ release: () => undefined }));

/** A change whose process ends after `run`; with `untold`, before its last step was noted as done. */
async function cut(
  run: (fs: Files) => unknown,
  {
    untold = false,
    required = true,
    backend = new LocalBackend({ stateDir }) as Files,
    storage = undefined as string | undefined,
  } = {},
): Promise<void> {
  const log = deadJournal().begin(newCallId());
  const header = { callId: newCallId(), tool: "batch", time: Date.now(), cwd: root, atomic: true } as const;
  await log.append(
    { entry: "begin", header: storage === undefined ? header : { ...header, storage } },
    false,
  );
  const transaction = new Transaction(backend, {
    required,
    contents: true,
    maxBytes: 1e6,
    maxSteps: 100,
    sink: (steps, notes) => log.append({ entry: "steps", steps, notes }, false),
  });
  await run(transaction.backend);
  if (!untold) await log.append({ entry: "steps", steps: [], notes: transaction.takeNotes() }, false);
}

async function reopen(
  options: { readonly notify?: (event: WorkspaceEvent) => void } = {},
): Promise<Workspace> {
  const ws = await openWorkspace({ root, stateDir, ...options });
  open.push(ws);
  return ws;
}

const hidden = (): readonly string[] =>
  (fs.readdirSync(root, { recursive: true }) as string[]).filter((name) => name.includes(".filewright-"));

/** Nanoseconds in milliseconds, rounded as the addon does. */
const toMillis = (nanos: bigint): number => Number(nanos / 1_000_000n) + Number(nanos % 1_000_000n) / 1e6;

/** Puts a large file at a path, as an undo does. Before, it is where large files are kept. */
async function restoreLarge(own: Files, path = "gone"): Promise<void> {
  const { keeper } = shortcutsOf(own);
  const name = fs.readdirSync(join(stateDir, "kept"))[0] as string;
  const [dev, ino, size, mtime] = name.split(".") as [string, string, string, string];
  const image = {
    ...({ type: "file", source: { kept: name }, version: `${name}.0`, fileId: `${dev}.${ino}` } as const),
    ...{ size: Number.parseInt(size, 16), mtime: toMillis(BigInt(`0x${mtime}`)) },
  };
  await keeper.restore(image, at(path), path !== "gone");
}

/** Each kind of operation, and the path at which a person saves other text of the same size after the cut. */
const OPERATIONS: readonly (readonly [string, (fs: Files) => unknown, string])[] = [
  ["a copy of a file", (own) => own.copyFile(at("a"), at("new")), "new"],
  ["a copy over a file", (own) => own.copyFile(at("a"), at("old"), { overwrite: true }), "old"],
  ["a copy of a tree", (own) => copyEntry(own, at("tree"), at("copied")), "copied/deep/two"],
  ["a move of a file", (own) => moveEntry(own, at("a"), at("new")), "new"],
  ["a move over a file", (own) => moveEntry(own, at("a"), at("old"), { overwrite: true }), "old"],
  ["a move of a directory", (own) => moveEntry(own, at("tree"), at("moved")), "moved/deep/two"],
  ["a write", (own) => own.writeBytes(at("old"), bytes("port 8080")), "old"],
  ["a removal of a large file", (own) => own.delete(at("large")), "large"],
  ["a write over a large file", (own) => own.writeBytes(at("large"), bytes("port 8080")), "large"],
  ["a copy over a large file", (own) => own.copyFile(at("a"), at("large"), { overwrite: true }), "large"],
  ["a move over a large file", (own) => own.rename(at("a"), at("large"), { overwrite: true }), "large"],
  ["a removal of a tree with a large file", (own) => own.removeTree(at("with")), "with"],
  ["a large file that came back", restoreLarge, "gone"],
  ["a large file that came back over another", (own) => restoreLarge(own, "old"), "old"],
  ["a new file", (own) => own.writeBytes(at("x/new"), bytes("port 8080"), { createDirs: true }), "x/new"],
];

describe.each([
  ["noted", false],
  ["not noted", true],
] as const)("a change that was cut (its last step %s as done)", (_name, untold) => {
  test.each(OPERATIONS)("keeps what a person saved after %s", async (_operation, run, path) => {
    await cut(run, { untold });
    fs.writeFileSync(at(path), "port 9090");
    const { recovery } = await reopen();
    expect(text(path)).toBe("port 9090");
    expect(recovery.conflicts.length).toBeGreaterThan(0);
    expect(hidden()).toEqual([]);
  });

  test.each(OPERATIONS)(
    "is rolled back when no other process changed anything after %s",
    async (_operation, run) => {
      const before = snapshot();
      await cut(run, { untold });
      const { recovery } = await reopen();
      expect(recovery).toMatchObject({ rolledBack: 1, conflicts: [] });
      expect(snapshot()).toEqual(before);
    },
  );

  test("has what it deleted back as it was", async () => {
    fs.utimesSync(at("old"), 1_000_000, 2_000_000);
    const facts = () => [
      fs.statSync(at("old")).ino,
      fs.statSync(at("old")).mtimeMs,
      fs.statSync(at("tree")).ino,
    ];
    const [before, tree] = [facts(), snapshot()];
    await cut(
      async (own) => {
        await own.delete(at("old"));
        await own.removeTree(at("tree"));
      },
      { untold },
    );
    expect((await reopen()).recovery).toMatchObject({ rolledBack: 1, conflicts: [] });
    expect([facts(), snapshot()]).toEqual([before, tree]);
  });
});

/** Each kind of change in the directory `tree`, the paths that cannot be put back, and a text that must not be lost. */
const INSIDE: readonly (readonly [string, (fs: Files) => unknown, readonly string[], string])[] = [
  ["a removal of a file", (own) => own.delete(at("tree/one")), ["tree/one"], "port 8080"],
  ["a write", (own) => own.writeBytes(at("tree/one"), bytes("new")), ["tree/one"], "new"],
  [
    "a removal of a tree",
    (own) => own.removeTree(at("tree/deep")),
    ["tree/deep", "tree/deep/two"],
    "port 8080",
  ],
  ["a move into it", (own) => moveEntry(own, at("a"), at("tree/a")), ["a", "tree/a"], "port 8080"],
  ["a move out of it", (own) => moveEntry(own, at("tree/one"), at("b")), ["b", "tree/one"], "port 8080"],
  [
    "a copy over a file",
    (own) => own.copyFile(at("old"), at("tree/one"), { overwrite: true }),
    ["tree/one"],
    "new text",
  ],
];
/** The ways in which another process takes the directory `tree` away. */
const TAKEN: readonly (readonly [string, () => void])[] = [
  ["is elsewhere", () => fs.renameSync(at("tree"), at("away"))],
  [
    "is a file now",
    () => {
      fs.renameSync(at("tree"), at("away"));
      fs.writeFileSync(at("tree"), "theirs");
    },
  ],
  [
    "is a link out of the workspace now",
    () => {
      fs.renameSync(at("tree"), join(base, "away"));
      fs.symlinkSync(join(base, "away"), at("tree"));
    },
  ],
];

describe.each(TAKEN)("a change that was cut in a directory that %s", (_name, take) => {
  describe.each([
    ["noted", false],
    ["not noted", true],
  ] as const)("(its last step %s as done)", (_noted, untold) => {
    test.each(INSIDE)(
      "is told, once, after %s, and the rest is rolled back",
      async (_change, run, paths, kept) => {
        await cut(
          async (own) => {
            await own.writeBytes(at("old"), bytes("new text"));
            await run(own);
          },
          { untold },
        );
        take();
        const { recovery } = await reopen();
        expect(recovery).toMatchObject({ rolledBack: 1 });
        expect([...recovery.conflicts].sort()).toEqual(paths.map(at).sort());
        expect(text("old")).toBe("old");
        if (fs.lstatSync(at("tree"), { throwIfNoEntry: false })?.isFile() === true)
          expect(text("tree")).toBe("theirs");
        const contents = (fs.readdirSync(base, { recursive: true }) as string[])
          .filter((name) => name.includes("ws/") || name.startsWith("away"))
          .map((name) => join(base, name))
          .filter((path) => fs.lstatSync(path).isFile())
          .map((path) => fs.readFileSync(path, "utf8"));
        expect(contents).toContain(kept);
        expect((await reopen()).recovery).toMatchObject({ rolledBack: 0, conflicts: [] });
      },
    );
  });
});

test("a recovery keeps a removed tree whose place a file has taken, and tells it", async () => {
  await cut((own) => own.removeTree(at("tree")));
  fs.writeFileSync(at("tree"), "theirs");
  const { recovery } = await reopen();
  expect(recovery.rolledBack).toBe(1);
  expect(recovery.conflicts).toContain(at("tree"));
  expect(text("tree")).toBe("theirs");
  const [kept] = hidden();
  expect([text(`${kept}/one`), text(`${kept}/deep/two`)]).toEqual(["port 8080", "port 8080"]);
  expect((await reopen()).recovery).toMatchObject({ rolledBack: 0, conflicts: [] });
});

/** Every entry with its content. */
function snapshot(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of fs.readdirSync(root, { recursive: true }) as string[]) {
    const stat = fs.lstatSync(at(name));
    found[name] = stat.isDirectory() ? "dir" : fs.readFileSync(at(name), "utf8");
  }
  return found;
}

describe("a damaged record", () => {
  const record = (): string =>
    join(stateDir, "journal/open", fs.readdirSync(join(stateDir, "journal/open"))[0] as string);
  const twoWrites = async (own: Files): Promise<void> => {
    await own.writeBytes(at("a"), bytes("new"));
    await own.writeBytes(at("old"), bytes("newer"));
  };

  test.each<[string, (file: Buffer) => Buffer]>([
    ["a tail of zeros", (file) => Buffer.concat([file, Buffer.alloc(300)])],
    ["a tail of noise", (file) => Buffer.concat([file, Buffer.from("noise".repeat(80))])],
  ])("is rolled back as far as it is ours, and told: %s", async (_name, damage) => {
    await cut(twoWrites);
    fs.writeFileSync(record(), damage(fs.readFileSync(record())));
    const events: WorkspaceEvent[] = [];
    const { recovery } = await reopen({ notify: (event) => events.push(event) });
    expect(recovery).toMatchObject({ rolledBack: 1, damaged: 1, ignored: 0 });
    expect([text("a"), text("old")]).toEqual(["port 8080", "old"]);
    expect(events).toMatchObject([{ type: "recovered", recovery: { damaged: 1 } }]);
    expect(fs.readdirSync(join(stateDir, "journal/damaged"))).toHaveLength(1);
    expect((await reopen()).recovery).toMatchObject({ rolledBack: 0, damaged: 0, ignored: 0 });
  });

  test("whose byte is flipped anywhere is reported unless the record says nothing yet", async () => {
    await cut(twoWrites);
    const [path, whole] = [record(), fs.readFileSync(record())];
    let told = 0;
    for (let byte = 0; byte < whole.length; byte += 7) {
      fs.mkdirSync(join(stateDir, "journal/open"), { recursive: true });
      const flipped = Buffer.from(whole);
      flipped[byte] = (flipped[byte] as number) ^ 0x10;
      fs.writeFileSync(path, flipped);
      const { ignored, damaged } = (await reopen()).recovery;
      expect(ignored + damaged, `byte ${byte}`).toBe(1);
      told += damaged;
      fs.rmSync(path, { force: true });
    }
    expect(told).toBeGreaterThan(0);
  });

  test("that was cut anywhere is no damage", async () => {
    await cut(twoWrites);
    const [path, whole] = [record(), fs.readFileSync(record())];
    for (let size = 0; size < whole.length; size += 29) {
      fs.writeFileSync(path, whole.subarray(0, size));
      expect((await reopen()).recovery, `size ${size}`).toMatchObject({ damaged: 0, ignored: 0 });
    }
  });
});

describe("the journal of a backend", () => {
  const patched = (backend: Files): Promise<void> =>
    cut(
      async (own) => {
        for (let file = 0; file < 20; file++) await own.writeBytes(at(`f${file}`), bytes("patched"));
      },
      { backend },
    );

  test("is named by its directories when it is a LocalBackend", async () => {
    await patched(new LocalBackend());
    const ws = await openWorkspace({ root, stateDir, backend: new LocalBackend() });
    open.push(ws);
    expect([ws.recovery.rolledBack, ws.capabilities().journal]).toEqual([1, "disk"]);
    expect(fs.readdirSync(root).sort()).toEqual(["a", "large", "old", "tree", "with"]);
  });

  test("is on the disk when it has a name, and is not taken for that of another", async () => {
    const backend = new MemoryBackend({ [at("f")]: "before" });
    const write = (own: Files): unknown => own.writeBytes(at("f"), bytes("half"));
    await cut(write, { backend, storage: "backend one" });
    expect((await reopen()).recovery).toMatchObject({ rolledBack: 0, conflicts: [] });
    const other = await openWorkspace({ root, stateDir, backend, backendId: "two" });
    const own = await openWorkspace({ root, stateDir, backend, backendId: "one" });
    open.push(other, own);
    expect([other.recovery.rolledBack, own.recovery.rolledBack]).toEqual([0, 1]);
    expect(await backend.readText(at("f"))).toBe("before");
  });

  test("is in memory when it has no name, and opening says so", async () => {
    const events: WorkspaceEvent[] = [];
    const notify = (event: WorkspaceEvent): number => events.push(event);
    const ws = await openWorkspace({ root: "/ws", stateDir, backend: new MemoryBackend(), notify });
    open.push(ws);
    expect(ws.capabilities().journal).toBe("memory");
    expect(events).toMatchObject([{ type: "journal_in_memory" }]);
  });

  test("is refused when its name is none", async () => {
    for (const backendId of ["", "a b", "x".repeat(201), 7 as never])
      await expect(
        openWorkspace({ root: "/ws", backend: new MemoryBackend(), backendId }),
      ).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    await expect(openWorkspace({ root, backendId: "one" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("a rollback that finds the disk full", () => {
  /** A change on a backend of which every write fails while it is full. */
  async function half(): Promise<{ readonly disk: { full: boolean }; readonly backend: Files }> {
    const disk = { full: false };
    const memory = new MemoryBackend({ "/ws/a": "a", "/ws/b": "b" });
    const backend = between(memory, {
      before(_call, name, args) {
        if (name !== "writeBytes") return;
        if (args[0] === "/ws/b") disk.full = true;
        if (disk.full) throw new FilewrightError("NO_SPACE", "full");
      },
    });
    return { disk, backend };
  }
  const operations = [
    { tool: "write_file", args: { path: "a", content: "half" } },
    { tool: "write_file", args: { path: "b", content: "half" } },
  ];

  test("is tried again before the next change of the path", async () => {
    const { disk, backend } = await half();
    const ws = await openWorkspace({ root: "/ws", backend });
    open.push(ws);
    const failed = await ws.call("batch", { operations });
    expect(failed.error?.details).toMatchObject({ rolled_back: false });
    expect(await backend.readText("/ws/a")).toBe("half");
    disk.full = false;
    const seen = await ws.call("edit_file", { path: "a", old_text: "a", new_text: "z" });
    expect(await backend.readText("/ws/a"), seen.text).toMatch(/^[az]$/u);
    expect((await ws.call("read_file", { path: "a" })).text).not.toContain("half");
  });

  test("is tried again by the next to open in the same process", async () => {
    const { disk, backend } = await half();
    const options = { root: "/ws", backend, stateDir, backendId: "one" };
    const first = await openWorkspace(options);
    await first.call("batch", { operations });
    expect(await backend.readText("/ws/a")).toBe("half");
    disk.full = false;
    open.push(first, await openWorkspace(options));
    expect(await backend.readText("/ws/a")).toBe("a");
    expect(fs.readdirSync(join(stateDir, "journal/open"))).toEqual([]);
  });

  test("is not tried in another storage with the same paths", async () => {
    const { disk, backend } = await half();
    const first = await openWorkspace({ root: "/ws", backend, stateDir, backendId: "one" });
    await first.call("batch", { operations });
    disk.full = false;
    const others = new MemoryBackend({ "/ws/c": "c" });
    const other = await openWorkspace({ root: "/ws", backend: others, stateDir, backendId: "two" });
    const made = await other.call("write_file", { path: "a", content: "theirs" });
    expect([made.ok, Object.keys(others.dump())]).toEqual([true, ["/ws", "/ws/a", "/ws/c"]]);
    expect(await others.readText("/ws/a")).toBe("theirs");
    open.push(first, other, await openWorkspace({ root: "/ws", backend, stateDir, backendId: "one" }));
    expect(await backend.readText("/ws/a")).toBe("a");
  });
});

test.each([["noted"], ["not noted"]])(
  "a move by itself that made directories is rolled back whole (%s as done)",
  async (noted) => {
    const before = snapshot();
    const move = async (own: Files): Promise<void> => {
      await own.mkdir(at("made/deep"));
      await moveEntry(own, at("tree"), at("made/deep/tree"));
    };
    await cut(move, { untold: noted === "not noted", required: false });
    expect((await reopen()).recovery).toMatchObject({ rolledBack: 1, conflicts: [] });
    expect(snapshot()).toEqual(before);
  },
);

test("a change of one operation that was cut after it was made stays made", async () => {
  const log = makeRecordLog({ store: deadJournal(), cwd: root, keep: true, durable: false });
  const about = { callId: newCallId(), tool: "move", rollback: "try" } as const;
  await log.append(new LocalBackend(), about, (own) => moveEntry(own, at("a"), at("new")));
  expect((await reopen()).recovery.rolledBack).toBe(0);
  expect([text("a"), text("new")]).toEqual([null, "port 8080"]);
});
