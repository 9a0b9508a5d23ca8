/** `list_directory` gives the same answer with one call of the storage and with one call per directory. */
import { CompleteFiles } from "../../js/backends/complete.ts";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LocalBackend, type LocalOptions, openWorkspace, type Workspace } from "../../js/index.node.ts";
import type { ListDirectoryArgs } from "../../js/tools/index.ts";
import { temporary } from "./harness.ts";

/** A disk that lists one directory at a time. */
class OneByOne extends LocalBackend {
  constructor(options: LocalOptions = {}) {
    super(options);
    Object.defineProperty(this, "listTree", { value: CompleteFiles.prototype.listTree });
    if (options.policy === undefined)
      Object.defineProperty(this, "confine", {
        value: (policy: NonNullable<LocalOptions["policy"]>) => new OneByOne({ ...options, policy }),
      });
  }
}

const seed = {
  ".gitignore": "*.log\nout/\n!keep.log\n",
  ".git/config": "x",
  ".git/objects/aa/1": "x",
  ".hid/.deep/a": "1",
  "B/x.c": "12",
  "B/X.c": "123",
  "a.log": "1",
  "a/b/c/d/e": "1234",
  "a/b/keep.log": "1",
  "a/b/z.log": "1",
  "a/.ignore": "b/c/d\n",
  "a-b": "1",
  "a.b/f": "1",
  empty: null,
  "out/x/y": "1",
  "é/ü\u{10000}": "1",
  "é/ü\uffff": "1",
  "node_modules/p/index.js": "1",
  "node_modules/p/node_modules/q/index.js": "1",
  "to-dir": { link: "a" },
  "to-file": { link: "a/b/c/d/e" },
  nowhere: { link: "gone" },
} as const;

const listings: readonly ListDirectoryArgs[] = [
  {},
  { depth: 2 },
  { depth: 32 },
  { depth: 32, limit: 7 },
  { depth: 32, respect_ignore: true },
  { depth: 3, respect_ignore: true, hidden: false, limit: 3 },
  { depth: 32, hidden: false, sort: "name" },
  { depth: 32, sort: "name", order: "desc" },
  { depth: 32, order: "desc", respect_ignore: true },
  { depth: 4, sort: "size" },
  { depth: 32, ignore: ["node_modules", "*.c", "a/b/c", "é/*"] },
  { path: "a/b", depth: 3, respect_ignore: true },
  { path: "out", depth: 3, respect_ignore: true },
  { path: "to-dir", depth: 3 },
  { path: "empty", depth: 2 },
];

const open: Workspace[] = [];
afterEach(async () => {
  for (const ws of open.splice(0)) await ws.close();
});

/** All pages of a listing. */
async function pages(ws: Workspace, args: ListDirectoryArgs): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await ws.listDirectory({ ...args, ...(cursor === undefined ? {} : { cursor }) });
    all.push(page);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return all;
}

test("the same entries, facts, pages and totals", async () => {
  const { root } = await temporary(seed);
  execFileSync("mkfifo", [join(root, "a/pipe")]);
  writeFileSync(Buffer.concat([Buffer.from(join(root, "B/")), Buffer.from([0xff, 0x61])]), "1");
  const disk = new LocalBackend();
  expect(disk.listTree).toBeDefined();
  const whole = await openWorkspace({ root, backend: disk });
  const slowly = await openWorkspace({ root, backend: new OneByOne() });
  open.push(whole, slowly);
  for (const args of listings) {
    const expected = await pages(slowly, args);
    expect(await pages(whole, args), JSON.stringify(args)).toEqual(expected);
  }
  for (const path of ["a-b", "gone", "../out"]) {
    const [one, other] = [whole, slowly].map((ws) => ws.call("list_directory", { path }));
    expect((await one)?.error).toEqual((await other)?.error);
  }
});
