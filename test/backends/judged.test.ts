/**
 * The searches, listings, pages and hashes of a user's storage behind a policy: they are asked, and no answer of a
 * broken or hostile one reaches the caller.
 */
import { afterEach, describe, expect, it } from "vitest";
import { type FsBackend, FilewrightError, MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { walkedTree } from "../../js/backends/fallback/tree-page.ts";
import { findBackend, grepBackend } from "../../js/backends/search/search.ts";
import { decodeCursor, encodeCursor } from "../../js/engine/wire/cursor.ts";
import { engine } from "../../js/engine/current.ts";

const KEY = `-----BEGIN PRIVATE KEY-----\n${"x".repeat(64)} needle\n-----END PRIVATE KEY-----\n`;
const SEED = {
  "/ws/a.txt": "one needle\ntwo\n",
  "/ws/b/c.txt": "needle\nneedle again\n",
  "/ws/b/d.md": "none\n",
  "/ws/b/key.txt": KEY,
  "/ws/hidden/no.txt": "needle\n",
  "/ws/z.txt": "last needle\n",
  "/ws/link": { type: "symlink", target: "/out" },
  "/ws/link.txt": { type: "symlink", target: "a.txt" },
  "/out/secret.txt": "needle SECRET\n",
} as const;

type Own = Pick<FsBackend, "grep" | "find" | "listTree" | "readLines" | "hash">;
/** A storage of eleven methods and links, with searches of its own. */
function storage(own: (plain: FsBackend) => Own): FsBackend {
  const memory = new MemoryBackend(SEED);
  const plain = new Proxy(memory, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  }) as FsBackend;
  const methods = own(plain) as Record<string, unknown>;
  return new Proxy(plain, {
    get: (target, name) => methods[name as string] ?? Reflect.get(target, name),
  });
}
/** The answers of an honest storage, which knows no policy. */
const honest = (plain: FsBackend): Required<Own> => ({
  grep: (root, query) => grepBackend(plain, root, query),
  find: (root, query) => findBackend(plain, root, query),
  listTree: (root, request) => walkedTree(plain, root, request),
  readLines: async (path, request) =>
    Object.assign(engine().readPage(await plain.readBytes(path), request, path), { version: "v" }),
  hash: async (path) => ({ hash: engine().sha256(await plain.readBytes(path)), version: "v" }),
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const ws of opened.splice(0)) await ws.close();
});
async function workspace(own: (plain: FsBackend) => Own) {
  const backend = storage(own);
  const access = { deny: ["hidden"] };
  const ws = await openWorkspace({ backend, root: "/ws", access, history: false });
  opened.push(ws);
  return ws;
}

/** Calls whose answers must be the same, however the storage answers. */
const CALLS: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["grep", { pattern: "needle" }],
  ["grep", { pattern: "needle", path: "b", output: "count" }],
  ["grep", { pattern: "needle", output: "files", limit: 1 }],
  ["glob", { pattern: "**" }],
  ["glob", { pattern: "*.txt", limit: 1 }],
  ["glob", { pattern: "**", type: "any", path: "b" }],
  ["list_directory", { depth: 3 }],
  ["list_directory", { depth: 2, limit: 2, sort: "name", order: "desc" }],
  ["read_file", { path: "b/c.txt" }],
  ["stat", { path: "a.txt", hash: true }],
];

async function answers(own: (plain: FsBackend) => Own): Promise<unknown[]> {
  const ws = await workspace(own);
  const given: unknown[] = [];
  for (const [tool, args] of CALLS) {
    let next: unknown;
    do {
      const result = await ws.call(tool, next === undefined ? args : { ...args, cursor: next });
      const data = { ...(result.data as Record<string, unknown>) };
      // Counts of what was passed over are not those of a walk.
      for (const name of ["files_searched", "skipped_binary", "unreadable", "version"]) delete data[name];
      next = (result.data as { next_cursor?: string } | undefined)?.next_cursor;
      // The cursor of a search for names has the time of the search.
      if (tool === "glob" && next !== undefined)
        data["next_cursor"] = decodeCursor("find", next as string).path;
      given.push([tool, args, result.ok, data, result.error?.code]);
    } while (next !== undefined && given.length < 50);
  }
  return JSON.parse(JSON.stringify(given).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")) as unknown[];
}

describe("a user's storage", () => {
  it("each of its searches is asked, with the answers of a walk", async () => {
    const calls = new Set<string>();
    const counted = (plain: FsBackend): Own =>
      Object.fromEntries(
        Object.entries(honest(plain)).map(([name, method]) => [
          name,
          (...args: unknown[]) => {
            calls.add(name);
            return (method as (...args: unknown[]) => unknown)(...args);
          },
        ]),
      ) as Own;
    const walked = await answers(() => ({}));
    expect(JSON.stringify(walked)).toContain("last needle");
    expect(JSON.stringify(walked)).not.toMatch(/SECRET|hidden|BEGIN PRIVATE/);
    expect(await answers(counted)).toEqual(walked);
    expect([...calls].sort()).toEqual(["find", "grep", "hash", "listTree", "readLines"]);
  });

  it("is asked without what is denied", async () => {
    const asked: unknown[] = [];
    const ws = await workspace((plain) => ({
      grep: (root, query) => {
        asked.push([root, query.exclude]);
        return grepBackend(plain, root, query);
      },
      listTree: (root, request) => {
        asked.push([root, request.exclude]);
        return walkedTree(plain, root, request);
      },
    }));
    await ws.call("grep", { pattern: "x", exclude: ["*.md"] });
    await ws.call("list_directory", { depth: 2 });
    expect(asked).toEqual([
      ["/ws", ["*.md", "hidden"]],
      ["/ws", ["hidden"]],
    ]);
  });

  it("capabilities() lists what is used", async () => {
    const ws = await workspace((plain) => ({
      ...honest(plain),
      ...({ findFiles: () => ({ files: [], total: 0 }), listPage: () => ({ entries: [] }) } as object),
    }));
    const used = ws.capabilities().backend;
    expect(used).toEqual(expect.arrayContaining(["read", "readLines", "hash", "grep", "find", "listTree"]));
    expect(used).not.toEqual(expect.arrayContaining(["findFiles"]));
    expect(used).not.toEqual(expect.arrayContaining(["listPage"]));
  });

  it("that refuses a query is walked; any other error is told", async () => {
    const refuse = (code: "UNSUPPORTED_OPERATION" | "IO_ERROR") => () => {
      throw new FilewrightError(code, "not now");
    };
    const walked = await answers(() => ({}));
    const no = refuse("UNSUPPORTED_OPERATION");
    expect(await answers(() => ({ grep: no, find: no, listTree: no, readLines: no, hash: no }))).toEqual(
      walked,
    );
    const ws = await workspace(() => ({ grep: refuse("IO_ERROR") }));
    expect((await ws.call("grep", { pattern: "needle" })).error?.code).toBe("IO_ERROR");
  });
});

/** What no answer may bring to the caller. */
const FORBIDDEN = /SECRET|secret|hidden|BEGIN PRIVATE|EVIL|passwd|999|\.git\b/;
const EVIL_PATHS = [
  "../out/secret.txt",
  "/etc/passwd",
  "hidden/no.txt",
  "hidden",
  "link/secret.txt",
  "b/../hidden/no.txt",
  "./hidden/no.txt",
  "b//EVIL",
  "b/\0EVIL",
  "",
  ".",
  "..",
  ".git/EVIL",
  ".filewright-0000EVIL",
  "\ud800EVIL",
  `${"x".repeat(300)}EVIL`,
];
const WRONG: readonly unknown[] = [
  undefined,
  null,
  999,
  "EVIL",
  [],
  {},
  { paths: "EVIL" },
  { paths: [999, null] },
];
const counts = { total: 999, totalMatches: 999, filesWithMatches: 999, filesSearched: 999, ignored: 999 };

/** Storages whose answers are wrong, with the walk of the same tree as the right answer. */
const BROKEN: Record<string, (plain: FsBackend) => Own> = {
  ...Object.fromEntries(
    WRONG.map((answer, i) => [
      `wrong type ${i}: ${JSON.stringify(answer)}`,
      () => {
        const give = () => answer as never;
        return { grep: give, find: give, listTree: give, readLines: give, hash: give };
      },
    ]),
  ),
  "fields of the wrong type": (plain) => {
    const own = honest(plain);
    return {
      grep: async (root, query) =>
        ({ ...(await own.grep(root, query)), counts: [{ path: { EVIL: 1 } }] }) as never,
      find: async (root, query) => ({ ...(await own.find(root, query)), nextCursor: 999 }) as never,
      listTree: async (root, request) => {
        const { entries, total } = await own.listTree(root, request);
        return { total, entries: entries.map((entry) => ({ ...entry, type: "EVIL" })) } as never;
      },
      readLines: async (path, request) =>
        ({ ...(await own.readLines(path, request)), content: { EVIL: 1 } }) as never,
      hash: () => ({ hash: "EVIL", version: 999 }) as never,
    };
  },
  "counts that are wrong": (plain) => {
    const own = honest(plain);
    return {
      grep: async (root, query) => {
        const answer = await own.grep(root, query);
        return { ...answer, ...counts, counts: answer.counts.map((one) => ({ ...one, count: 999 })) };
      },
      find: async (root, query) => ({ ...(await own.find(root, query)), ...counts }),
      listTree: async (root, request) => ({ ...(await own.listTree(root, request)), total: 999 }),
    };
  },
  "the wrong order, and names twice": (plain) => {
    const own = honest(plain);
    return {
      grep: async (root, query) => {
        const answer = await own.grep(root, query);
        return { ...answer, counts: [...answer.counts, ...answer.counts].reverse() };
      },
      find: async (root, query) => {
        const answer = await own.find(root, query);
        return { ...answer, paths: [...answer.paths, ...answer.paths] };
      },
      listTree: async (root, request) => {
        const { entries, total } = await own.listTree(root, request);
        return { entries: [...entries, ...entries], total };
      },
    };
  },
  "entries of a directory in the wrong order": (plain) => ({
    listTree: (root, request) => walkedTree(plain, root, { ...request, order: "asc", sort: "name" }),
  }),
  "files that do not match": (plain) => ({
    grep: (root, query) => grepBackend(plain, root, { ...query, pattern: "none|needle" }),
    find: (root, query) => findBackend(plain, root, { ...query, pattern: "**" }),
  }),
  "a cursor that comes back": (plain) => {
    const own = honest(plain);
    return {
      grep: async (root, { cursor: _, ...query }) => ({
        ...(await own.grep(root, query)),
        nextCursor: "again",
      }),
      find: async (root, { cursor: _, ...query }) => ({
        ...(await own.find(root, query)),
        nextCursor: "again",
      }),
    };
  },
  "pages without end and without content": () => ({
    grep: () => ({ counts: [], nextCursor: "more" }) as never,
    find: () => ({ paths: [], nextCursor: "more" }) as never,
  }),
  "more, and no cursor": (plain) => ({
    grep: async (root, query) => {
      const { nextCursor: _, ...answer } = await grepBackend(plain, root, { ...query, maxResults: 1 });
      return answer;
    },
    find: async (root, query) => {
      const { nextCursor: _, ...answer } = await findBackend(plain, root, { ...query, limit: 1 });
      return answer;
    },
  }),
  "pages of one": (plain) => ({
    grep: (root, query) => grepBackend(plain, root, { ...query, maxResults: 1 }),
    find: (root, query) => findBackend(plain, root, { ...query, limit: 1 }),
  }),
  "paths that may not be seen": (plain) => {
    const own = honest(plain);
    const entry = { isDir: false, isFile: true, type: "file", size: 1, mtime: 1 };
    return {
      grep: async (root, query) => {
        const answer = await own.grep(root, query);
        const evil = EVIL_PATHS.map((path) => ({ path, count: 999 }));
        const all = [
          ...answer.counts,
          ...evil,
          { path: "link.txt", count: 1 },
          { path: "b/key.txt", count: 1 },
        ];
        const sorted = [...new Map(all.map((one) => [one.path, one])).values()].sort((a, b) =>
          a.path < b.path ? -1 : 1,
        );
        const matches = sorted.map(({ path }) => ({ path, line: 1, column: 1, text: "EVIL" }));
        return { ...answer, counts: sorted, matches };
      },
      find: async (root, query) => {
        const answer = await own.find(root, query);
        return { ...answer, paths: [...new Set([...answer.paths, ...EVIL_PATHS])].sort() };
      },
      listTree: async (root, request) => {
        const { entries, total } = await own.listTree(root, request);
        const evil = EVIL_PATHS.map((path) => ({
          ...entry,
          name: "EVIL",
          path: path.startsWith("/") ? path : `${root}/${path}`,
        }));
        return { entries: [...entries, ...evil], total } as never;
      },
    };
  },
};

describe("an answer that is wrong", () => {
  it.each(Object.keys(BROKEN))("%s", async (name) => {
    const walked = await answers(() => ({}));
    const given = await answers(BROKEN[name] as (plain: FsBackend) => Own);
    expect(JSON.stringify(given)).not.toMatch(FORBIDDEN);
    expect(given).toEqual(walked);
  });

  // Each hidden path alone: an answer whose form is right is not thrown away as a whole.
  it.each(["hidden/no.txt", "hidden", "link/secret.txt", "link.txt", ".git/EVIL"])(
    "%s is left out",
    async (path) => {
      const ws = await workspace(() => ({
        grep: () =>
          ({
            counts: [
              { path, count: 1 },
              { path: "z.txt", count: 1 },
            ],
          }) as never,
        find: () => ({ paths: [path, "z.txt"] }) as never,
        listTree: (root) => {
          const entry = (name: string) => ({
            name,
            path: `${root}/${name}`,
            type: "file",
            size: 1,
            mtime: 1,
          });
          const top = path.split("/")[0] as string;
          return {
            entries: [{ ...entry(top), type: "dir" }, entry(path), entry("z.txt")].slice(
              top === path ? 1 : 0,
            ),
            total: 999,
          } as never;
        },
      }));
      const found = await ws.call("grep", { pattern: "needle" });
      expect(found.text).toContain("z.txt");
      expect(found.text).not.toContain(path);
      expect(found.data).toMatchObject({ total_matches: 1, files_with_matches: 1 });
      const named = await ws.call("glob", { pattern: "**" });
      expect(named.data).toMatchObject(path === "link.txt" ? {} : { matches: ["z.txt"], total: 1 });
      const listed = await ws.call("list_directory", { depth: 3 });
      expect(listed.text).toContain("z.txt");
      if (!/^link.txt|^.git/.test(path)) expect(listed.text).not.toContain(path);
    },
  );

  it("a storage that names paths without end is stopped, and its call can be cancelled", async () => {
    let n = 0;
    const ws = await workspace(() => ({
      find: () => ({ paths: [`n${String(n++).padStart(9, "0")}`], nextCursor: `c${n}` }) as never,
    }));
    expect((await ws.call("glob", { pattern: "*.none" })).error?.code).toBe("LIMIT_EXCEEDED");
    const abort = new AbortController();
    const running = ws.call("glob", { pattern: "*.none" }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 1);
    expect((await running).error?.code).toBe("CANCELLED");
  });

  it("a storage that runs out of time leaves a cursor to go on with", async () => {
    const ws = await workspace(() => ({
      grep: () =>
        ({ counts: [{ path: "a.txt", count: 1 }], complete: false, incompleteReason: "timeout" }) as never,
    }));
    const found = await ws.call("grep", { pattern: "needle" });
    expect(found.data).toMatchObject({ total_matches: 1, complete: false, incomplete_reason: "timeout" });
    expect((found.data as { next_cursor: string }).next_cursor).toBe(
      encodeCursor("grep", { path: "a.txt", number: Number.MAX_SAFE_INTEGER }),
    );
  });

  it("the content of a secret is not shown, whoever reads it", async () => {
    const ws = await workspace(honest);
    for (const [tool, args] of [
      ["read_file", { path: "b/key.txt" }],
      ["stat", { path: "b/key.txt", hash: true }],
    ] as const) {
      const { error, text } = await ws.call(tool, args);
      expect(error?.code ?? text).toMatch(/GRANT_DENIED|GRANT_NEEDED/);
    }
  });
});
