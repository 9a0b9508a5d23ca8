/** Searches by an index: the answers of a scan, as the disk is now. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  grepEach,
  LocalBackend,
  MemoryBackend,
  openWorkspace,
  SandboxPolicy,
  type SearchQuery,
} from "../../js/index.node.ts";

let root: string;
let disk: LocalBackend;
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-index-")));
  disk = new LocalBackend({ policy: SandboxPolicy.workspaceOnly(root) });
});
afterEach(() => {
  fs.rmSync(root, { recursive: true, force: true });
});

function write(path: string, content: string): void {
  const file = join(root, path);
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

/** A tree that is old enough to be known for good, with its index. */
async function warmTree(): Promise<void> {
  write(".gitignore", "*.log\n/out/\n");
  for (let i = 0; i < 60; i++)
    write(`src/${i % 7}/f${i}.ts`, `line\nconst needle${i} = ${2000 + i};\n`.repeat(20));
  write("out/o.ts", "needle\n");
  write("a.log", "needle\n");
  await new Promise((done) => setTimeout(done, 150));
  await disk.warm(root);
}

/** Both ways, which must say the same. */
async function both(query: SearchQuery): Promise<readonly string[]> {
  const found = await disk.grep(root, query);
  const { fresh, ...indexed } = found;
  const { fresh: _, ...scanned } = await disk.grep(root, { ...query, index: "off" });
  expect(fresh).not.toBe("scan");
  expect({ ...indexed, matches: found.matches, counts: found.counts }).toEqual(scanned);
  return found.matches.map(({ path, line }) => `${path}:${line}`);
}

const QUERIES: readonly SearchQuery[] = [
  { pattern: "needle7 " },
  { pattern: "NEEDLE1\\b", case: "insensitive" },
  { pattern: "needle", glob: "src/3/**", context: 1 },
  { pattern: "[0-9]{4};$", output: "count" },
  { pattern: "line\nconst needle5 ", multiline: true },
  { pattern: "absent" },
  { patterns: ["needle3 ", "2033"] },
  { pattern: "needle", maxResults: 30 },
];

describe("an index", () => {
  it("answers as a scan does", async () => {
    await warmTree();
    for (const { maxResults, ...query } of QUERIES) await both(query);
    const { matches } = await disk.grep(root, { pattern: "needle", maxResults: 30 });
    const scanned = await disk.grep(root, { pattern: "needle", maxResults: 30, index: "off" });
    expect(matches).toEqual(scanned.matches);
    const status = await disk.indexStatus(root);
    expect(status).toMatchObject({ files: 61, unsigned: 0, ready: true });
  });

  it("sees what was written a moment ago, here and elsewhere", async () => {
    await warmTree();
    await disk.writeText(join(root, "src/0/f0.ts"), "fresh here\n");
    expect(await both({ pattern: "fresh here" })).toEqual(["src/0/f0.ts:1"]);
    execFileSync("sh", [
      "-c",
      `mkdir -p "$1/new/deep" && echo "fresh there" > "$1/new/deep/x.ts"`,
      "sh",
      root,
    ]);
    expect(await both({ pattern: "fresh there" })).toEqual(["new/deep/x.ts:1"]);
    fs.renameSync(join(root, "new"), join(root, "moved"));
    expect(await both({ pattern: "fresh there" })).toEqual(["moved/deep/x.ts:1"]);
    write(".gitignore", "moved\n");
    expect(await both({ pattern: "fresh there" })).toEqual([]);
    expect(await both({ pattern: "^needle$" })).toEqual(["a.log:1", "out/o.ts:1"]);
  });

  it("is not made of everything", async () => {
    const everything = new LocalBackend();
    await everything.grep(root, { pattern: "x" });
    expect(await everything.indexStatus("/")).toBeUndefined();
  });

  it("finds names from the same tree", async () => {
    await warmTree();
    fs.utimesSync(join(root, "src/3/f31.ts"), 1, 1);
    const query = { pattern: ["**/f1*.ts", "*.log"], type: "any" } as const;
    const found = await disk.find(root, query);
    expect(found).toEqual(await disk.find(root, { ...query, index: "off" }));
    // A file, and a directory that could contain matches.
    expect([found.ignored, found.ignoredDirectories]).toEqual([1, 0]);
    for (const more of [
      { pattern: "**/*", hidden: false },
      { pattern: "f1*.ts", exclude: ["3", "src/4/**"] },
      { pattern: "src/*/f2?.ts", type: "file" },
      { pattern: ["*.TS", "!f1*"], caseSensitive: false },
      { pattern: "/src/2/*" },
      { pattern: "**/f*", sort: "mtime" },
      { pattern: "**/f*", type: "any", sort: "recent", recencyMs: 3_600_000 },
    ] as const) {
      for (const at of [root, join(root, "src"), join(root, "src/3")]) {
        const paged = { ...more, limit: 7 };
        const first = await disk.find(at, paged);
        const walked = await disk.find(at, { ...paged, index: "off" });
        // A cursor holds the time of its first page.
        expect({ ...first, nextCursor: "" }).toEqual({ ...walked, nextCursor: "" });
        if (first.nextCursor === undefined) continue;
        const next = { ...paged, cursor: first.nextCursor };
        expect(await disk.find(at, next)).toEqual(await disk.find(at, { ...next, index: "off" }));
      }
    }
    write("src/3/f1-é.ts", "");
    write("src/3/f1-new.ts", "");
    const files = { pattern: "**/f1*.ts" } as const;
    expect(await disk.find(root, files)).toEqual(await disk.find(root, { ...files, index: "off" }));
    write("out/f1-hidden.ts", "");
    expect((await disk.find(root, query)).paths).toContain("src/3/f1-new.ts");
    write("out/f1-other.ts", "");
    for (const index of ["auto", "off"] as const) {
      expect((await disk.find(root, { ...query, index })).ignored).toBe(3);
    }
  });

  it("finds files by some letters", async () => {
    await warmTree();
    write("src/server/http-listener.ts", "");
    const best = async (query: string) => (await disk.findFiles(root, { query })).files[0]?.path;
    expect(await best("srvhttpli")).toBe("src/server/http-listener.ts");
    expect(await best("http-listenr.ts")).toBe("src/server/http-listener.ts");
    expect(await best("htxp-listener")).toBe("src/server/http-listener.ts");
    expect(await best("qqqq")).toBeUndefined();
    fs.rmSync(join(root, "src/server"), { recursive: true });
    expect(await best("srvhttpli")).toBeUndefined();
  });
});

describe("an index in a state directory", () => {
  it("serves the next one, with what changed meanwhile", async () => {
    const stateDir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-state-")));
    const opened = () => new LocalBackend({ policy: SandboxPolicy.workspaceOnly(root), stateDir });
    try {
      disk = opened();
      await warmTree();
      const kept = join(stateDir, "indexes");
      const there = () => fs.existsSync(kept) && fs.readdirSync(kept).some((name) => !name.endsWith(".new"));
      while (!there()) await new Promise((done) => setTimeout(done, 5));
      disk.dispose();
      write("src/3/f3.ts", "const needle3 = 'changed';\n");
      fs.rmSync(join(root, "src/4/f4.ts"));
      disk = opened();
      expect(await disk.warm(root)).toMatchObject({ files: 60 });
      for (const { maxResults, ...query } of QUERIES) await both(query);
      expect(await both({ pattern: "changed" })).toEqual(["src/3/f3.ts:1"]);
    } finally {
      fs.rmSync(stateDir, { recursive: true, force: true });
    }
  });
});

describe("what searches cost", () => {
  it("an index is given back, and nothing depends on it", async () => {
    await warmTree();
    expect(await disk.indexStatus(root)).toMatchObject({ ready: true });
    disk.dispose();
    expect(await disk.indexStatus(root)).toBeUndefined();
    expect((await disk.grep(root, { pattern: "needle7 " })).fresh).toBe("scan");
    const ws = await openWorkspace({ root, stateDir: `${root}-state` });
    try {
      expect((await ws.findFiles({ query: "f12.ts" })).files[0]?.path).toBe("src/5/f12.ts");
    } finally {
      await ws.close();
      fs.rmSync(`${root}-state`, { recursive: true, force: true });
    }
  });

  // Whether it was made already when that was said is a matter of luck; what a thread does then is not.
  it("one that is not wanted any more is not waited for, and can be had later", async () => {
    await warmTree();
    disk.dispose();
    const aborting = new AbortController();
    const made = disk.warm(root, { signal: aborting.signal });
    aborting.abort();
    await expect(made).rejects.toMatchObject({ code: "CANCELLED" });
    // An index is not ready while the kernel still reports the writes of this test.
    await expect.poll(() => disk.warm(root), { timeout: 20_000 }).toMatchObject({ files: 61, ready: true });
  });

  it("sixty-four at once share a few threads and give the answers of one", async () => {
    await warmTree();
    const threads = () =>
      Number(/^Threads:\s+(\d+)$/mu.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1]);
    const linux = process.platform === "linux";
    const kinds: readonly (() => Promise<unknown>)[] = [
      async () => (await disk.grep(root, { pattern: "needle", index: "off" })).counts,
      async () => (await disk.grep(root, { pattern: "needle1\\b" })).matches,
      async () => (await disk.find(root, { pattern: "*.ts" })).paths,
      async () => (await disk.findFiles(root, { query: "f12" })).files,
    ];
    const alone: unknown[] = [];
    for (const kind of kinds) alone.push(await kind());
    const before = linux ? threads() : 0;
    let most = 0;
    const searches = Array.from({ length: 64 }, async (_, at) => {
      const found = await kinds[at % kinds.length]?.();
      if (linux) most = Math.max(most, threads());
      expect(found).toEqual(alone[at % kinds.length]);
    });
    await Promise.all(searches);
    // Four serve, and each has as many helpers as there are processors.
    if (linux) expect(most).toBeLessThanOrEqual(before + 4 * (1 + availableParallelism()));
  });
});

describe("matches one by one", () => {
  it("are those of one search, and end when the consumer stops", async () => {
    const tree: Record<string, string> = {};
    for (let i = 0; i < 40; i++) tree[`/ws/d${i % 3}/f${i}.txt`] = "hit a\nno\nhit b\n".repeat(10);
    const memory = new MemoryBackend(tree);
    for (const [path, content] of Object.entries(tree)) write(path.slice(4), content);
    for (const [backend, top] of [
      [memory, "/ws"],
      [disk, root],
    ] as const) {
      const found: string[] = [];
      for await (const { path, line } of grepEach(backend, top, { pattern: "hit" }))
        found.push(`${path}:${line}`);
      expect(found).toHaveLength(800);
      expect(new Set(found).size).toBe(800);
      const stream = grepEach(backend, top, { pattern: "hit", maxResults: 3 });
      const ends = [await stream.next(), await stream.next(), await stream.next(), await stream.next()];
      expect(ends.map(({ done }) => done)).toEqual([false, false, false, true]);
      expect(ends[3]?.value).toMatchObject({ complete: false, incompleteReason: "max_results" });
    }
  });
});

it("tells several patterns apart, on every backend", async () => {
  const text = "foo bar\nno\nBAR\nfoo\n";
  write("a.txt", text);
  const memory = new MemoryBackend({ [join(root, "a.txt")]: text });
  const query: SearchQuery = { patterns: ["foo", "bar"], case: "insensitive", context: 1 };
  const ours = await disk.grep(root, query);
  expect(ours.matches.map(({ line, patterns }) => [line, patterns])).toEqual([
    [1, [0, 1]],
    [3, [1]],
    [4, [0]],
  ]);
  expect((await memory.grep(root, query)).matches).toEqual(ours.matches);
});
