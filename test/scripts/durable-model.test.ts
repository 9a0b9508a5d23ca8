/** The model of a disk in `npm run deep -- durable`: it reports each planted omission, and nothing without one. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { unlistedCalls } from "../deep/crash/calls.mjs";
import { Disk, everyChoice, treeOf } from "../deep/crash/disk.mjs";
import { boundEntries, reboundRecord } from "../deep/crash/journal.mjs";
import { type Operation, readOperations } from "../deep/crash/trace.mjs";

const OLD = "old";
const NEW = "n".repeat(5000);
const TEMP = "/d/.temp";

/** The operations of a replacement that is durable. */
const REPLACEMENT = {
  create: { kind: "create", path: TEMP, truncate: false, mode: 0o600 },
  write: { kind: "write", path: TEMP, data: Buffer.from(NEW), offset: 0 },
  flushFile: { kind: "flush", path: TEMP, covers: 2, everything: false },
  rename: { kind: "rename", from: TEMP, path: "/d/f", exchange: false },
  flushDirectory: { kind: "flush", path: "/d", covers: 4, everything: false },
} satisfies Record<string, Operation>;

/** Returns a disk that holds `/d/f` with the old content, after these operations. */
function diskAfter(operations: readonly Operation[]): Disk {
  const disk = new Disk("/d");
  disk.apply({ kind: "create", path: "/d/f", truncate: false, mode: 0o600 });
  disk.apply({ kind: "write", path: "/d/f", data: Buffer.from(OLD), offset: 0 });
  disk.settle();
  for (const operation of operations) disk.apply(operation);
  return disk;
}

/** Returns every content of `f` that a power cut after `point` operations can leave. */
function contentsAfter(disk: Disk, point: number, rule: "journal" | "posix"): Set<string | undefined> {
  const found = new Set<string | undefined>();
  for (const choose of everyChoice()) found.add(treeOf(disk.stateAfter(point, rule, choose))["f"]);
  return found;
}

describe.each(["journal", "posix"] as const)("the model of a disk by the rule %s", (rule) => {
  test("keeps the old or the new content when a replacement is durable", () => {
    const operations = Object.values(REPLACEMENT);
    const disk = diskAfter(operations);
    for (let point = 0; point < 4; point++)
      expect([...contentsAfter(disk, point, rule)], `after ${point}`).toEqual([OLD]);
    expect(contentsAfter(disk, 4, rule)).toEqual(new Set([OLD, NEW]));
    expect(contentsAfter(disk, 5, rule)).toEqual(new Set([NEW]));
  });

  test("loses the new name when the flush of the directory is missing", () => {
    const { flushDirectory: _, ...rest } = REPLACEMENT;
    expect(contentsAfter(diskAfter(Object.values(rest)), 4, rule)).toContain(OLD);
  });

  test("shows a part of the content when the flush of the file is missing", () => {
    const { flushFile: _, flushDirectory, ...rest } = REPLACEMENT;
    const operations = [...Object.values(rest), { ...flushDirectory, covers: 3 }];
    const found = contentsAfter(diskAfter(operations), 4, rule);
    expect(found).toContain("");
    expect(found).toContain("n".repeat(4096));
    expect(found).toContain("\0".repeat(4096) + NEW.slice(4096));
  });

  test("shows a mixture when a file is written without a rename", () => {
    const write: Operation = { kind: "write", path: "/d/f", data: Buffer.from(NEW), offset: 0 };
    const found = contentsAfter(diskAfter([write]), 1, rule);
    expect(found).toContain(OLD);
    expect(found).toContain(NEW);
    expect(found).toContain("n".repeat(4096));
  });

  test("loses nothing of a file when the whole file system is flushed", () => {
    const { flushFile: _, flushDirectory, ...rest } = REPLACEMENT;
    const disk = diskAfter([...Object.values(rest), { ...flushDirectory, covers: 3, everything: true }]);
    expect(contentsAfter(disk, 4, rule)).toEqual(new Set([NEW]));
  });
});

test("the model loses the name of a flushed new file by the rule posix, and not by the rule journal", () => {
  const flush: Operation = { kind: "flush", path: TEMP, covers: 2, everything: false };
  const disk = diskAfter([REPLACEMENT.create, REPLACEMENT.write, flush]);
  const named = (rule: "journal" | "posix"): Set<boolean> => {
    const found = new Set<boolean>();
    for (const choose of everyChoice()) found.add(".temp" in treeOf(disk.stateAfter(3, rule, choose)));
    return found;
  };
  expect(named("posix")).toEqual(new Set([true, false]));
  expect(named("journal")).toEqual(new Set([true]));
});

test("the model moves a file between two directories wholly or not when one of them is flushed", () => {
  const disk = new Disk("/d");
  disk.apply({ kind: "mkdir", path: "/d/a", mode: 0o700 });
  disk.apply({ kind: "mkdir", path: "/d/b", mode: 0o700 });
  disk.apply({ kind: "create", path: "/d/a/f", truncate: false, mode: 0o600 });
  disk.settle();
  disk.apply({ kind: "rename", from: "/d/a/f", path: "/d/b/f", exchange: false });
  const states = (point: number): Set<string> => {
    const found = new Set<string>();
    for (const choose of everyChoice())
      found.add(Object.keys(treeOf(disk.stateAfter(point, "posix", choose))).join());
    return found;
  };
  expect(states(1)).toEqual(new Set(["a/,a/f,b/", "a/,b/,b/f"]));
  disk.apply({ kind: "flush", path: "/d/a", covers: 1, everything: false });
  expect(states(2)).toEqual(new Set(["a/,b/,b/f"]));
});

/** Returns the text that strace prints with `-xx`. */
const hex = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");

test("the reader of traces gives the operations below one directory in the order of their returns", () => {
  const [dir, file, temp] = [`3<${hex("/d")}>`, hex("f"), `4<${hex("/d/t")}>`];
  const record = [
    `7  openat(${dir}, "${hex("t")}", O_WRONLY|O_CREAT|O_EXCL, 0600) = ${temp}`,
    `7  fsync(${temp} <unfinished ...>`,
    `8  writev(${temp}, [{iov_base="${hex("ab,")}", iov_len=3}, {iov_base="${hex("cd")}", iov_len=2}], 2) = 5`,
    `7  <... fsync resumed>) = 0`,
    `7  renameat2(${dir}, "${hex("t")}", ${dir}, "${file}", RENAME_NOREPLACE) = 0`,
    `7  unlinkat(${dir}, "${hex("gone")}", 0) = -1 ENOENT (No such file or directory)`,
    `7  mkdir("${hex("/elsewhere")}", 0777) = 0`,
    `7  access("${hex("/d/mark/end-0")}", F_OK) = -1 ENOENT (No such file or directory)`,
  ].join("\n");
  expect(readOperations(record, { base: "/d", marks: "/d/mark" })).toEqual([
    { kind: "create", path: "/d/t", truncate: false, mode: 0o600 },
    { kind: "write", path: "/d/t", data: Buffer.from("ab,cd"), offset: undefined },
    // It began before the write, which it need not have met.
    { kind: "flush", path: "/d/t", covers: 1, everything: false },
    { kind: "rename", from: "/d/t", path: "/d/f", exchange: false },
    { kind: "mark", name: "end-0" },
  ]);
});

test.each([
  [`7  fallocate(4<${hex("/d/t")}>, 0, 0, 9) = 0`, /model of the disk lacks fallocate/u],
  [`7  swapcontents(4<${hex("/d/t")}>) = 0`, /lists of calls lack swapcontents/u],
])("the reader of traces refuses a call that it does not know: %s", (record, message) => {
  expect(() => readOperations(record, { base: "/d", marks: "/d/mark" })).toThrow(message);
});

test("the lists of calls name a call that neither has", () => {
  expect(unlistedCalls(["openat", "read", "swapcontents"])).toEqual(["swapcontents"]);
});

test("the rewritten journal tells files of one time apart below a moved directory", () => {
  const disk = new Disk("/d");
  const tick = 1_700_000_000_000_000_000n.toString(16);
  const identify = (path: string, ino: string): void =>
    disk.apply({ kind: "identify", path, ino, mtime: tick, ctime: tick });
  // The clock of the traced file system had not ticked between the files; that of the replayed one has.
  const files = ["other", "moved/a", "moved/below/b"];
  for (const directory of ["moved", "moved/below"])
    disk.apply({ kind: "mkdir", path: `/d/${directory}`, mode: 0o700 });
  for (const path of files) disk.apply({ kind: "create", path: `/d/${path}`, truncate: false, mode: 0o600 });
  disk.settle();
  identify("/d/moved", "9");
  for (const [at, path] of files.entries()) identify(`/d/${path}`, String(at + 1));
  const folder = mkdtempSync(join(tmpdir(), "filewright-durable-model-"));
  try {
    mkdirSync(join(folder, "moved/below"), { recursive: true });
    for (const [at, path] of files.entries()) {
      writeFileSync(join(folder, path), "");
      utimesSync(join(folder, path), 1, 1000 + at);
    }
    const shown = disk.stateAfter(0, "journal", () => 0);
    const recorded = "0 1700000000000";
    const step = {
      kind: "move",
      moved: { type: "dir", fileId: "1.9" },
      below: [
        ["a", recorded],
        ["below", "dir"],
        ["below/b", recorded],
        ["gone", recorded],
      ],
    };
    expect(reboundRecord(step, boundEntries(shown, folder))).toMatchObject({
      below: [
        ["a", "0 1001000"],
        ["below", "dir"],
        ["below/b", "0 1002000"],
        ["gone", recorded],
      ],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
