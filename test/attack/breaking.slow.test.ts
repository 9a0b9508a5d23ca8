/**
 * Disks that break in the middle of every tool that writes: each call of the system
 * that can fail, does. The tool tells, what was there is whole, nothing lies about.
 * Closing is one of them: a network file system finds out then that there is no room.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const ENTRY = resolve(import.meta.dirname, "../../dist/cli/library.js");
const OLD = "old\n".repeat(4000);

type Step = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** Every tool that writes contents, and by every way there is to write them. */
const WRITES: readonly Step[] = [
  ["write_file", { path: "f", content: "new" }],
  ["write_file", { path: "new", content: "new" }],
  ["write_file", { path: "made/for/it", content: "new", create_dirs: true }],
  ["write_file", { path: "f", content: "new", append: true }],
  ["edit_file", { path: "f", old_text: "old\n", new_text: "new\n", on_multiple: "first" }],
  ["apply_patch", { path: "f", patch: "@@ -1 +1 @@\n-old\n+new\n" }],
  ["copy", { source: "tree/a", destination: "copied" }],
  ["copy", { source: "tree/a", destination: "f", overwrite: true }],
  ["copy", { source: "tree", destination: "copied" }],
  ["copy", { source: "tree", destination: "there", overwrite: true }],
  [
    "batch",
    {
      operations: [
        { tool: "write_file", args: { path: "f", content: "new" } },
        { tool: "write_file", args: { path: "new", content: "new" } },
      ],
    },
  ],
];
/** A merge into an existing directory is left out: its files exist before the sync of the directory fails. */
const SYNCED = WRITES.filter(([, args]) => args.destination !== "there");
const isTreeCopy = ([tool, { source }]: Step): boolean => tool === "copy" && source === "tree";
const MOVES: readonly Step[] = [
  ["move", { source: "f", destination: "moved" }],
  ["move", { source: "tree", destination: "moved" }],
];
/** Changes of names in the root that flush it: the flush of the record is that of removals and made directories. */
const NAMED: readonly Step[] = [
  ...WRITES.filter(([tool, args]) => tool !== "copy" && args.create_dirs !== true),
  ...MOVES,
];
const ACROSS: readonly Step[] = [
  ["move", { source: "f", destination: "other/f" }],
  ["move", { source: "tree", destination: "other/tree" }],
  ["copy", { source: "tree", destination: "other/tree" }],
];
const SPARSE: readonly Step[] = [["copy", { source: "sparse", destination: "copied" }]];

const mountable =
  process.getuid?.() === 0 &&
  (() => {
    const place = fs.mkdtempSync(join(tmpdir(), "filewright-mount-"));
    const works = spawnSync("mount", ["-t", "tmpfs", "tmpfs", place]).status === 0;
    if (works) execFileSync("umount", [place]);
    fs.rmSync(place, { recursive: true });
    return works;
  })();

let base: string;
let root: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-breaking-")));
  // A file on a device is not checked when it is closed, so the files are on none.
  if (mountable) execFileSync("mount", ["-t", "tmpfs", "tmpfs", base]);
  root = join(base, "ws");
  for (const path of ["tree/below", "there/below", "other"])
    fs.mkdirSync(join(root, path), { recursive: true });
  for (const path of ["f", "tree/a", "tree/below/b", "there/a"]) fs.writeFileSync(join(root, path), OLD);
  fs.symlinkSync("a", join(root, "tree/l"));
  fs.writeFileSync(join(root, "sparse"), "data");
  fs.truncateSync(join(root, "sparse"), 1024 * 1024);
});
afterEach(() => {
  for (const path of ["ws/other", "ws/f", ""]) spawnSync("umount", ["-l", join(base, path)]);
  fs.rmSync(base, { recursive: true, force: true });
});

/** Everything in the workspace, with its content. */
function everything(directory = root): readonly string[] {
  return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return [path, ...everything(path)];
    return [`${path}: ${entry.isFile() ? fs.readFileSync(path, "utf8") : "link"}`];
  });
}

/** How the steps are made. */
interface Making {
  readonly durability?: string;
  /** The paths at which calls fail. Default: everywhere. */
  readonly within?: readonly string[];
  /** Over `node:fs`, without the addon. */
  readonly node?: boolean;
}

const program = ({ durability = "durable", node = false }: Making, steps: readonly Step[]): string => `
  import { NodeBackend, openWorkspace } from ${JSON.stringify(ENTRY)};
  const stateDir = ${JSON.stringify(join(base, "state"))};
  const backend = ${node} ? new NodeBackend({ stateDir, durability: ${JSON.stringify(durability)} }) : undefined;
  const state = { root: ${JSON.stringify(root)}, stateDir, backend };
  const ws = await openWorkspace({ ...state, durability: ${JSON.stringify(durability)} });
  await ws.call("read_file", { path: "f" });
  console.log("ready");
  for await (const _ of process.stdin);
  const told = [];
  for (const [tool, args] of ${JSON.stringify(steps)}) {
    const result = await ws.call(tool, args);
    told.push(result.ok ? "OK" : result.error.code); 
  }
  console.log(JSON.stringify(told));
  process.exit(0);`;

/**
 * Returns the result code of each step while strace injects `fault` into `call`, at the paths `within` alone if
 * there are any. It attaches after the workspace opens.
 */
async function toldUnder(
  call: string,
  fault: string,
  steps: readonly Step[],
  making: Making = {},
): Promise<string[]> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program(making, steps)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (data: Buffer) => {
    said += data.toString();
  });
  await once(child.stdout, "data");
  const inject = [
    "-e",
    `trace=${call}`,
    "-e",
    `inject=${call}:${fault}`,
    ...(making.within ?? []).flatMap((path) => ["-P", path]),
  ];
  const tracer = spawn("strace", ["-f", "-o", "/dev/null", ...inject, "-p", `${child.pid}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(tracer, "exit");
  const [first] = (await once(tracer.stderr, "data")) as [Buffer];
  expect(first.toString()).toContain("attached");
  child.stdin.end();
  await once(child, "close");
  await ended;
  return JSON.parse(said.split("\n")[1] ?? "null") as string[];
}

const strace = spawnSync("strace", ["-V"]).status === 0;

const [CONTENT, RENAME] = ["pwrite64,copy_file_range", "rename,renameat,renameat2"];

describe.skipIf(!strace || !mountable)("told, the old content whole, nothing left", () => {
  test.each([
    ["close", "error=EIO", "IO_ERROR", WRITES],
    ["close", "error=EDQUOT", "NO_SPACE", WRITES],
    ["close", "error=ENOSPC", "NO_SPACE", WRITES],
    ["fsync,syncfs", "error=EIO", "IO_ERROR", SYNCED],
    ["fsync,syncfs", "error=EDQUOT", "NO_SPACE", SYNCED.filter((step) => !isTreeCopy(step))],
    // Its files are there before it is flushed: no code may say that nothing was changed.
    ["fsync,syncfs", "error=EDQUOT", "IO_ERROR", SYNCED.filter(isTreeCopy)],
    [CONTENT, "error=EIO", "IO_ERROR", WRITES],
    [CONTENT, "error=EDQUOT", "NO_SPACE", WRITES],
    // A disk that says it took a byte, each time, and took none.
    ["pwrite64", "retval=1", "IO_ERROR", WRITES.slice(0, 6)],
    [RENAME, "error=EIO", "IO_ERROR", [...WRITES, ...MOVES]],
    [RENAME, "error=EDQUOT", "NO_SPACE", [...WRITES, ...MOVES]],
    ["ftruncate", "error=EIO", "IO_ERROR", SPARSE],
  ] as const)("%s, %s", async (call, fault, code, steps) => {
    const before = everything();
    const told = await toldUnder(call, fault, steps);
    expect(steps.map(([tool], n) => `${tool} ${told[n]}`)).toEqual(steps.map(([tool]) => `${tool} ${code}`));
    expect(everything()).toEqual(before);
  });

  // The names change before their directory is flushed: what was made is taken back, and no code says that nothing was made.
  test.each([
    ["EINVAL", false],
    ["EROFS", false],
    ["EDQUOT", false],
    ["EROFS", true],
  ])("the flush of a directory: %s, without the addon: %s", async (errno, node) => {
    const before = everything();
    const told = await toldUnder("fsync", `error=${errno}`, NAMED, { node, within: [root] });
    expect(NAMED.map(([tool], n) => `${tool} ${told[n]}`)).toEqual(NAMED.map(([tool]) => `${tool} IO_ERROR`));
    expect(everything()).toEqual(before);
  });

  // With the addon each thread counts its own calls, so that no count tells the first flush from that of the rollback.
  test("a flush that fails while what was made is taken back, without the addon", async () => {
    const before = everything();
    const operations = [
      { tool: "move", args: { source: "sparse", destination: "f", overwrite: true } },
      { tool: "move", args: { source: "tree", destination: "moved" } },
    ];
    // Those of the first move succeed.
    const making = { node: true, within: [root, join(root, "tree"), join(root, "there")] };
    const told = await toldUnder("fsync", "error=EIO:when=3+", [["batch", { operations }]], making);
    expect(told).toEqual(["IO_ERROR"]);
    expect(everything()).toEqual(before);
  });

  test.each(["none", "atomic"])("closing, where nothing waits for the disk: %s", async (durability) => {
    const before = everything();
    const told = await toldUnder("close", "error=EDQUOT", WRITES, { durability });
    expect(told).toEqual(WRITES.map(() => "NO_SPACE"));
    expect(everything()).toEqual(before);
  });

  test.skipIf(!mountable).each([
    ["close", "error=EDQUOT", "NO_SPACE"],
    [CONTENT, "error=EIO", "IO_ERROR"],
    ["fsync,syncfs", "error=EIO", "IO_ERROR"],
  ] as const)("between two disks: %s, %s", async (call, fault, code) => {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(root, "other")]);
    const before = everything();
    const told = await toldUnder(call, fault, ACROSS);
    expect(told).toEqual(ACROSS.map(() => code));
    expect(everything()).toEqual(before);
  });

  // The first content is that of the temporary file, which cannot replace a mounted one.
  test.skipIf(!mountable).each([
    ["pwrite64", "error=EIO:when=2"],
    ["ftruncate", "error=EIO:when=1"],
    ["close", "error=EIO"],
  ])("in place: %s, %s", async (call, fault) => {
    fs.writeFileSync(join(base, "mounted"), OLD);
    execFileSync("mount", ["--bind", join(base, "mounted"), join(root, "f")]);
    const before = everything();
    expect(await toldUnder(call, fault, [WRITES[0]!])).toEqual(["IO_ERROR"]);
    expect(everything()).toEqual(before);
    expect(fs.readFileSync(join(base, "mounted"), "utf8")).toBe(OLD);
  });
});
