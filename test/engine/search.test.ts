/** Search by name and content: on a disk natively, and over any backend with the same answers. */
import { findByWalk, grepByWalk } from "../../js/backends/search/search.ts";
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  FilewrightError,
  type FindQuery,
  glob,
  grepText,
  LocalBackend,
  MemoryBackend,
  SandboxPolicy,
  type SearchQuery,
  type SearchResult,
} from "../../js/index.node.ts";

let root: string;
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-search-")));
});
afterEach(() => {
  fs.rmSync(root, { recursive: true, force: true });
});

type Tree = Readonly<Record<string, string | Uint8Array>>;

/** The same tree on disk and in memory. */
function both(tree: Tree): { readonly disk: Files; readonly memory: Files } {
  const seed: Record<string, string | Uint8Array> = {};
  for (const [path, content] of Object.entries(tree)) {
    const file = join(root, path);
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
    seed[file] = content;
  }
  // Files of equal age: an order by time falls back on paths in both.
  for (const path of Object.keys(tree)) fs.utimesSync(join(root, path), 1_000, 1_000);
  const memory = new MemoryBackend(seed, { now: () => 1_000_000 });
  return { disk: new LocalBackend({ policy: SandboxPolicy.workspaceOnly(root) }), memory };
}

const code = async (run: () => unknown): Promise<string> => {
  try {
    await run();
    return "ok";
  } catch (error) {
    return error instanceof FilewrightError ? error.code : String(error);
  }
};

const REPO: Tree = {
  ".gitignore": "node_modules/\n*.log\n/build\n",
  ".git/HEAD": "ref: hit\n",
  ".github/w.yml": "on: hit\n",
  "a.ts": "one\nhit two\nthree hit hit\n",
  "a/b.ts": "hit\r\nno\r\nhit\r\n",
  "a.log": "hit\n",
  "bin.dat": Uint8Array.from([104, 105, 116, 0, 1]),
  "build/o.ts": "hit\n",
  "long.txt": `${"x".repeat(600)}hit${"y".repeat(600)}\n`,
  "node_modules/p/i.ts": "hit\n",
  "sub/.gitignore": "!keep.log\nx*\n",
  "sub/keep.log": "hit\n",
  "sub/x.ts": "hit\n",
  "sub/deep/build/y.ts": "no\nhit\n",
  "utf16.txt": Buffer.from("\ufeffé hit\n", "utf16le"),
  "z é.txt": "😀 Straße hit\n",
};

const GREPS: readonly SearchQuery[] = [
  { pattern: "hit" },
  { pattern: "HIT", case: "insensitive", output: "count" },
  { pattern: "hit", output: "files", glob: "*.ts" },
  { pattern: "hit", glob: ["sub/**", "!x*"] },
  { pattern: "hit", respectIgnore: false },
  { pattern: "hit", hidden: false, exclude: ["sub"] },
  { pattern: "hit", context: 1 },
  { pattern: "hit", before: 2, maxPerFile: 1 },
  { pattern: "hit", maxResults: 4 },
  { pattern: "hit", maxResults: 3, output: "files" },
  { pattern: "hit$" },
  { pattern: "^hit$", maxLineChars: 20 },
  { pattern: "xhity", maxLineChars: 20 },
  { pattern: "two\\nthree", multiline: true },
  { pattern: "o", word: true },
  { pattern: "h.t", regex: false },
  { pattern: "hit", fileTypes: ["ts", ".txt"] },
  { pattern: "\\w+ß" },
  { pattern: "hit", ignoreFiles: [".gitignore"], maxFileBytes: 100 },
  { pattern: "nowhere" },
];

const FINDS: readonly FindQuery[] = [
  { pattern: "**/*" },
  { pattern: "*.ts" },
  { pattern: ["*.ts", "!a.*"] },
  { pattern: "sub/**/*.ts", respectIgnore: false },
  { pattern: "*.TS", caseSensitive: false, exclude: ["sub/deep/"] },
  { pattern: "*", type: "dir" },
  { pattern: "*", type: "any", hidden: false },
  { pattern: "build", type: "any" },
  { pattern: "build/", respectIgnore: false },
  { pattern: "*", limit: 3 },
  { pattern: "*", sort: "mtime", limit: 5 },
  { pattern: "*", sort: "recent" },
];

/** A result whose hits have been read: they are made lazily. */
const lookedAt = (result: SearchResult): SearchResult => ({
  ...result,
  matches: result.matches,
  counts: result.counts,
});

describe("native and generic searches agree", () => {
  it.each(GREPS)("grep %j", async (query) => {
    const { disk, memory } = both(REPO);
    for (const path of [root, join(root, "sub"), join(root, "a.ts")]) {
      // How the files are known to be as they are differs; what is found does not.
      const { fresh, ...ours } = lookedAt(await disk.grep!(path, query));
      const { fresh: same, ...generic } = await grepByWalk(memory, path, query, { top: root });
      expect([fresh, same]).toContain("scan");
      if (ours.truncated) {
        // Threads that looked ahead have seen more files.
        const { filesSearched: _, skippedBinary: __, ignored: ___, ...rest } = ours;
        expect(generic).toMatchObject(rest);
      } else expect(generic).toEqual(ours);
    }
  });

  it.each(FINDS)("find %j", async (query) => {
    const { disk, memory } = both(REPO);
    for (const path of [root, join(root, "sub")]) {
      const [ours, generic] = [
        await disk.find!(path, query),
        await findByWalk(memory, path, query, { top: root }),
      ];
      const { nextCursor: a, ...rest } = ours;
      const { nextCursor: b, ...others } = generic;
      expect(others).toEqual(rest);
      expect(a === undefined).toBe(b === undefined);
    }
  });

  it("whatever the tree, the rules and the pattern", async () => {
    const name = fc.constantFrom("a", "b", "a.x", "b.y", ".h", "A");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const piece = fc.constantFrom("a", "*", "**", "*.x", "?", "[ab]*", "{a,b.y}", ".h");
    const pattern = fc
      .tuple(
        fc.constantFrom("", "/", "!"),
        fc.array(piece, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("", "/"),
      )
      .map(([head, names, tail]) => head + names.join("/") + tail);
    const rules = fc.array(fc.tuple(fc.constantFrom("", "a/", "b/"), fc.array(pattern, { maxLength: 4 })), {
      maxLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { maxLength: 20 }),
        rules,
        pattern,
        async (paths, lists, wanted) => {
          const tree: Record<string, string> = {};
          // A name is a file's or a directory's, not both.
          const isFree = (path: string) =>
            !Object.keys(tree).some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
          for (const path of paths) if (isFree(path)) tree[path] = "a\nb a\n";
          for (const [place, lines] of lists) {
            if (isFree(`${place}.gitignore`)) tree[`${place}.gitignore`] = lines.join("\n");
          }
          fs.rmSync(root, { recursive: true, force: true });
          fs.mkdirSync(root);
          const { disk, memory } = both(tree);
          if (Object.keys(tree).length === 0) return;
          const query = { pattern: wanted, type: "any" } as const;
          const result = await code(() => memory.find(root, query));
          expect(await code(() => disk.find!(root, query))).toBe(result);
          if (result !== "ok") return;
          expect(await memory.find(root, query)).toEqual(await disk.find!(root, query));
          const contents = { pattern: "a", glob: wanted, context: 1 };
          const { fresh: _, ...generic } = await memory.grep(root, contents);
          expect(lookedAt(await disk.grep!(root, contents))).toMatchObject(generic);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe.each(["disk", "memory"] as const)("searches on %s", (kind) => {
  const grep = (backends: { disk: Files; memory: Files }, query: SearchQuery & { signal?: AbortSignal }) =>
    kind === "disk"
      ? backends.disk.grep(root, query)
      : grepByWalk(backends.memory, root, query, { top: root });
  const find = (backends: { disk: Files; memory: Files }, query: FindQuery) =>
    kind === "disk"
      ? backends.disk.find(root, query)
      : findByWalk(backends.memory, root, query, { top: root });

  it("gives lines, columns and counts", async () => {
    const result = await grep(both(REPO), { pattern: "hit" });
    expect(result.matches.map(({ path, line, column }) => `${path}:${line}:${column}`)).toEqual([
      ".github/w.yml:1:5",
      "a.ts:2:1",
      "a.ts:3:7",
      "a/b.ts:1:1",
      "a/b.ts:3:1",
      "long.txt:1:601",
      "sub/deep/build/y.ts:2:1",
      "sub/keep.log:1:1",
      "utf16.txt:1:3",
      "z é.txt:1:10",
    ]);
    expect(result).toMatchObject({
      totalMatches: 10,
      filesWithMatches: 8,
      skippedBinary: 1,
      truncated: false,
      complete: true,
    });
    const long = result.matches.find(({ path }) => path === "long.txt");
    expect(long).toMatchObject({ cut: true, text: expect.stringContaining("hit") });
    expect([...long!.text].length).toBe(500);
  });

  it("gives lines of any length whole, as they are", async () => {
    // Of the length, the letters and the mark nothing must be lost on the way; short ones lie between.
    const lines: Record<string, string> = {
      "a.txt": `${"é😀".repeat(40_000)} hit`,
      "b.txt": "short hit",
      "c.txt": `x hit ${"y".repeat(200_000)}`,
      "d.txt": `hit \ufeff${"z".repeat(70_000)}`,
      "e.txt": "hit",
    };
    const result = await grep(both(lines), { pattern: "hit", maxLineChars: 0 });
    expect(Object.fromEntries(result.matches.map(({ path, text }) => [path, text]))).toEqual(lines);
    expect(result.counts.map(({ path, count }) => `${path} ${count}`)).toEqual(
      Object.keys(lines).map((path) => `${path} 1`),
    );
  });

  it("continues where it was cut, to the end and without gap", async () => {
    const backends = both(REPO);
    for (const output of ["content", "files"] as const) {
      const all = await grep(backends, { pattern: "hit", output });
      const parts: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await grep(backends, { pattern: "hit", output, maxResults: 3, cursor });
        parts.push(...(output === "content" ? page.matches : page.counts));
        expect(page.complete).toBe(page.nextCursor === undefined);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(parts).toEqual(output === "content" ? all.matches : all.counts);
    }
    for (const sort of ["path", "mtime", "recent"] as const) {
      const all = await find(backends, { pattern: "*", sort });
      const paths: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await find(backends, { pattern: "*", sort, limit: 4, cursor });
        expect(page.total).toBe(all.total);
        paths.push(...page.paths);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(paths).toEqual(all.paths);
    }
  });

  it("refuses what cannot be", async () => {
    const backends = both(REPO);
    const cases: readonly (readonly [SearchQuery, string])[] = [
      [{ pattern: "" }, "INVALID_ARGUMENT"],
      [{ pattern: "(" }, "INVALID_REGEX"],
      [{ pattern: "a(?=b)" }, "INVALID_REGEX"],
      [{ pattern: "(a{1000}){1000}" }, "LIMIT_EXCEEDED"],
      [{ pattern: "a", glob: "../*" }, "INVALID_GLOB"],
      [{ pattern: "a", glob: "[a" }, "INVALID_GLOB"],
      [{ pattern: "a", context: 51 }, "INVALID_ARGUMENT"],
      [{ pattern: "a", maxResults: 0 }, "INVALID_ARGUMENT"],
      [{ pattern: "a", maxPerFile: -1 }, "INVALID_ARGUMENT"],
      [{ pattern: "a", cursor: "zzz" }, "INVALID_ARGUMENT"],
      [{ pattern: "a", output: "lines" as "content" }, "INVALID_ARGUMENT"],
      [{ pattern: "a", fileTypes: ["*/*"] }, "INVALID_ARGUMENT"],
      [{ pattern: 5 as unknown as string }, "INVALID_ARGUMENT"],
    ];
    for (const [query, expected] of cases) {
      expect([query, await code(() => grep(backends, query))]).toEqual([query, expected]);
    }
    expect(await code(() => find(backends, { pattern: "../**" }))).toBe("INVALID_GLOB");
    expect(await code(() => backends[kind].grep(join(root, "none"), { pattern: "a" }))).toBe("NOT_FOUND");
    expect(await code(() => findByWalk(backends[kind], join(root, "a.ts"), { pattern: "*" }))).toBe(
      "NOT_DIRECTORY",
    );
  });

  it("ends when it is told to", async () => {
    const tree = Object.fromEntries(Array.from({ length: 800 }, (_, i) => [`m/f${i}.txt`, "some text\n"]));
    const backends = both(tree);
    const before = AbortSignal.abort();
    expect(await code(() => grep(backends, { pattern: "s", signal: before }))).toBe("CANCELLED");
    const soon = new AbortController();
    const search = code(() => grep(backends, { pattern: "(s|t)+x", signal: soon.signal }));
    soon.abort();
    expect(await search).toBe("CANCELLED");
    const late = await grep(backends, { pattern: "some", timeoutMs: 0 });
    expect(late).toMatchObject({ complete: false, incompleteReason: "timeout" });
    const rest = await grep(backends, { pattern: "some", cursor: late.nextCursor });
    expect(late.totalMatches + rest.totalMatches).toBe(800);
  });
});

describe("texts and globs by themselves", () => {
  it("searches a text", () => {
    expect(grepText("a\nbc\n", { pattern: "c" })).toEqual({
      matches: [{ line: 2, column: 2, text: "bc" }],
      total: 1,
      binary: false,
      more: false,
    });
    expect(grepText("a\0c", { pattern: "c" })).toMatchObject({ binary: true, matches: [] });
    expect(grepText("x\ny\nz", { pattern: "y", context: 1 }).matches).toEqual([
      { line: 2, column: 1, text: "y", before: ["x"], after: ["z"] },
    ]);
  });

  it("says where a regex is wrong and what to do", async () => {
    try {
      grepText("", { pattern: "é(" });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "INVALID_REGEX", details: { position: 2 } });
      expect((error as FilewrightError).hint).toContain("regex:false");
    }
  });

  it("matches paths", () => {
    const sources = glob(["src/**/*.ts", "!*.test.ts"], { exclude: ["dist/"] });
    expect(["src/a/b.ts", "src/a.test.ts", "src/dist/a.ts"].map((path) => sources.matches(path))).toEqual([
      true,
      false,
      false,
    ]);
    expect([sources.mayContain("src/x"), sources.mayContain("lib")]).toEqual([true, false]);
  });
});
