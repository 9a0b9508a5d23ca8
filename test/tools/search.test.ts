import { describe, expect, test } from "vitest";
import type { GlobArgs, GrepArgs } from "../../js/tools/index.ts";
import { KINDS, place } from "./harness.ts";

const tree = {
  "a.txt": "alpha\nbeta foo\ngamma\ndelta\nfoo end\n",
  "src/m.ts": "const foo = 1;\nconst Foo = 2;\n",
  "src/n.js": "foo\nfood\n",
  "src/deep/d.ts": "foo\n",
  "README.MD": "foo\n",
  ".hidden/h.ts": "foo\n",
  ".gitignore": "*.log\nnode_modules/\n",
  "e.log": "foo\n",
  "node_modules/p/i.ts": "foo\n",
  "bin.dat": new Uint8Array([102, 111, 111, 0, 102]),
  "../out/secret.ts": "foo SECRET\n",
  out: { link: "$O" },
};

describe.each(KINDS)("glob on %s", (kind) => {
  const found: readonly [name: string, args: GlobArgs, matches: readonly string[]][] = [
    ["at any depth", { pattern: "*.ts" }, [".hidden/h.ts", "src/deep/d.ts", "src/m.ts"]],
    ["within one directory", { pattern: "src/*.ts" }, ["src/m.ts"]],
    ["several patterns", { pattern: ["src/*.js", "a.*"] }, ["a.txt", "src/n.js"]],
    ["alternatives", { pattern: "src/*.{ts,js}" }, ["src/m.ts", "src/n.js"]],
    ["without what is excluded", { pattern: "*.ts", exclude: ["deep"] }, [".hidden/h.ts", "src/m.ts"]],
    ["directories", { pattern: "*", type: "dir" }, [".hidden", "src", "src/deep"]],
    [
      "below a path, shown from the workspace",
      { pattern: "*.ts", path: "src" },
      ["src/deep/d.ts", "src/m.ts"],
    ],
    ["letter case aside", { pattern: "readme.md", case_sensitive: false }, ["README.MD"]],
    ["without dot files", { pattern: "*.ts", hidden: false }, ["src/deep/d.ts", "src/m.ts"]],
    ["ignored files on request", { pattern: "*.log", respect_ignore: false }, ["e.log"]],
    ["nothing beyond a link that leads out", { pattern: "**/secret.ts" }, []],
  ];
  test.each(found)("finds %s", async (_, args, matches) => {
    const { ws } = await place(kind, tree);
    const result = await ws.call("glob", args);
    expect(result.data?.matches).toEqual(matches);
    const links = String(args.pattern).startsWith("**/secret")
      ? "\n[1 symbolic link was not followed: out]"
      : "";
    expect(result.text).toBe(
      matches.length === 0 ? `No files match ${args.pattern}${links}` : matches.join("\n"),
    );
  });

  test("an absolute pattern below the workspace", async () => {
    const { ws, root } = await place(kind, tree);
    expect((await ws.glob({ pattern: `${root}/src/*.ts` })).matches).toEqual(["src/m.ts"]);
  });

  test("counts what ignore files hide", async () => {
    const { ws } = await place(kind, tree);
    expect(await ws.glob({ pattern: "*.log" })).toMatchObject({ total: 0, ignored: 1 });
  });

  test("goes on where it was cut, without gap or overlap", async () => {
    const { ws } = await place(kind, tree);
    const all = await ws.glob({ pattern: "**/*" });
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const result = await ws.call("glob", {
        pattern: "**/*",
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(result.data?.total).toBe(all.total);
      if (result.data?.truncated) expect(result.text).toMatch(/\[2 of \d+ matches; continue with cursor="/);
      pages.push(...(result.data?.matches ?? []));
      cursor = result.data?.next_cursor;
    } while (cursor !== undefined);
    expect(pages).toEqual(all.matches);
  });

  const refused: readonly [name: string, args: GlobArgs, code: string, words: RegExp][] = [
    ["a glob that does not parse", { pattern: "[z" }, "INVALID_GLOB", /\[z/],
    ["one that climbs out", { pattern: "../*.ts" }, "INVALID_GLOB", /climbs out/],
    ["a file as the place", { pattern: "*", path: "a.txt" }, "NOT_DIRECTORY", /'a\.txt'/],
    ["a place that is missing", { pattern: "*", path: "scr" }, "NOT_FOUND", /'src'/],
    ["a place outside", { pattern: "*", path: "../out" }, "OUTSIDE_ALLOWED", /outside/],
    ["a link out as the place", { pattern: "*", path: "out" }, "OUTSIDE_ALLOWED", /outside/],
    ["an empty pattern", { pattern: "" }, "INVALID_ARGUMENT", /'pattern'/],
    ["no pattern", { pattern: [] }, "INVALID_ARGUMENT", /'pattern'/],
    ["a cursor of its own making", { pattern: "*", cursor: "zzz" }, "INVALID_ARGUMENT", /cursor/],
  ];
  test.each(refused)("refuses %s", async (_, args, code, words) => {
    const { ws } = await place(kind, tree);
    const result = await ws.call("glob", args);
    expect(result.error?.code).toBe(code);
    expect(result.text).toMatch(words);
  });
});

describe.each(KINDS)("grep on %s", (kind) => {
  const found: readonly [name: string, args: GrepArgs, text: string][] = [
    [
      "lines, by path and line",
      { pattern: "foo", path: "src" },
      "src/deep/d.ts:1:foo\nsrc/m.ts:1:const foo = 1;\nsrc/n.js:1:foo\nsrc/n.js:2:food",
    ],
    ["whole words", { pattern: "foo", path: "src/n.js", word: true }, "src/n.js:1:foo"],
    [
      "context, shared lines once",
      { pattern: "foo|delta", path: "a.txt", context: 1 },
      "a.txt-1-alpha\na.txt:2:beta foo\na.txt-3-gamma\na.txt:4:delta\na.txt:5:foo end",
    ],
    [
      "letter case aside",
      { pattern: "FOO", case: "insensitive", glob: "*.ts", path: "src/m.ts" },
      "src/m.ts:1:const foo = 1;\nsrc/m.ts:2:const Foo = 2;",
    ],
    ["with a capital, exactly", { pattern: "Foo", case: "smart", path: "src" }, "src/m.ts:2:const Foo = 2;"],
    ["files only", { pattern: "foo", output: "files", path: "src" }, "src/deep/d.ts\nsrc/m.ts\nsrc/n.js"],
    ["counts", { pattern: "foo", output: "count", path: "src" }, "src/deep/d.ts:1\nsrc/m.ts:1\nsrc/n.js:2"],
    ["only some files", { pattern: "foo", glob: "*.js" }, "src/n.js:1:foo\nsrc/n.js:2:food"],
    ["only some types", { pattern: "foo", file_types: ["js"] }, "src/n.js:1:foo\nsrc/n.js:2:food"],
    [
      "not what is excluded",
      { pattern: "foo", path: "src", exclude: ["*.ts"] },
      "src/n.js:1:foo\nsrc/n.js:2:food",
    ],
    ["plain text", { pattern: "= 1;", regex: false }, "src/m.ts:1:const foo = 1;"],
    ["across lines", { pattern: "foo\\ngamma", multiline: true }, "a.txt:2:beta foo\na.txt:3:gamma"],
    [
      "across lines with context after the last line of the match",
      { pattern: "foo\\ngamma", multiline: true, context: 1 },
      "a.txt-1-alpha\na.txt:2:beta foo\na.txt:3:gamma\na.txt-4-delta",
    ],
    ["a named file, ignored or not", { pattern: "foo", path: "e.log" }, "e.log:1:foo"],
    ["nothing", { pattern: "zzz", path: "src" }, "No matches for 'zzz' in 3 files"],
    [
      "nothing outside",
      { pattern: "SECRET" },
      "No matches for 'SECRET' in 7 files (passed over: 1 binary)\n[2 files or directories not searched: ignored by .gitignore or the like; respect_ignore: false searches them too]\n[1 symbolic link was not followed: out]",
    ],
  ];
  test.each(found)("finds %s", async (_, args, text) => {
    const { ws } = await place(kind, tree);
    const result = await ws.call("grep", args);
    expect(result.ok).toBe(true);
    expect(result.text).toBe(text);
  });

  test("columns are characters", async () => {
    const { ws } = await place(kind, { f: "😀 Straße ÉCOLE\n" });
    const data = await ws.grep({ pattern: "école", case: "insensitive" });
    expect(data.matches).toEqual([{ path: "f", line: 1, column: 10, text: "😀 Straße ÉCOLE" }]);
  });

  test("says that there is more, and goes on", async () => {
    const { ws } = await place(kind, tree);
    const all = await ws.grep({ pattern: "foo" });
    const pages: unknown[] = [];
    let cursor: string | undefined;
    do {
      const result = await ws.call("grep", {
        pattern: "foo",
        max_results: 3,
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (result.data?.truncated) {
        expect(result.text.split("\n").at(-1)).toMatch(
          /limit of 3 matches reached, there is more; continue with cursor=/,
        );
        expect(result.data).toMatchObject({ complete: false, incomplete_reason: "max_results" });
      }
      pages.push(...(result.data?.matches ?? []));
      cursor = result.data?.next_cursor;
    } while (cursor !== undefined);
    expect(pages).toEqual(all.matches);
  });

  test("an answer beyond the output budget is cut at a line, counts stay exact, and it goes on", async () => {
    const lines = Array.from({ length: 500 }, (_, n) => `hit ${n}\n`).join("");
    const { ws } = await place(kind, { f: lines }, { limits: { outputBytes: 1000 } });
    const result = await ws.call("grep", { pattern: "hit", max_results: 1000 });
    expect(new TextEncoder().encode(result.text).length).toBeLessThanOrEqual(1500);
    expect(result.data).toMatchObject({ truncated: true, total_matches: 500 });
    expect(result.meta.truncated).toBe(true);
    const last = result.data?.matches?.at(-1)?.line as number;
    const next = await ws.grep({
      pattern: "hit",
      max_results: 1000,
      cursor: result.data?.next_cursor as string,
    });
    expect(next.matches?.[0]?.line).toBe(last + 1);
  });

  const refused: readonly [name: string, args: GrepArgs, code: string, words: RegExp][] = [
    ["an empty pattern", { pattern: "" }, "INVALID_ARGUMENT", /'pattern'/],
    ["a regex that does not parse", { pattern: "(foo" }, "INVALID_REGEX", /[Ii]nvalid regex.*regex:? ?false/],
    ["look-around", { pattern: "(?=x)" }, "INVALID_REGEX", /look-around/],
    ["a place that is missing", { pattern: "x", path: "nope" }, "NOT_FOUND", /'nope'/],
    ["a place outside", { pattern: "x", path: "../out/secret.ts" }, "OUTSIDE_ALLOWED", /outside/],
    ["a glob that does not parse", { pattern: "x", glob: "[z" }, "INVALID_GLOB", /\[z/],
    ["too much context", { pattern: "x", context: 51 }, "INVALID_ARGUMENT", /'context'/],
  ];
  test.each(refused)("refuses %s", async (_, args, code, words) => {
    const { ws } = await place(kind, tree);
    const result = await ws.call("grep", args);
    expect(result.error?.code).toBe(code);
    expect(result.text).toMatch(words);
  });

  test("a name with a line break forges no line", async () => {
    const { ws } = await place(kind, { "a\nsrc/fake.ts:1:pwned": "x\n" });
    expect((await ws.call("grep", { pattern: "x" })).text.split("\n")).toHaveLength(1);
    expect((await ws.call("glob", { pattern: "**/*" })).text.split("\n")).toHaveLength(1);
    expect((await ws.call("list_directory", {})).text.split("\n")).toHaveLength(1);
  });
});

describe.each(KINDS)("read_many_files on %s", (kind) => {
  const seed = {
    ...tree,
    "dist/o.ts": "O\n",
    ".env.example": "K=1\n",
    "[a].txt": "brackets\n",
    "p.png": png(),
  };

  test("each file behind its path, in path order, once", async () => {
    const { ws } = await place(kind, seed);
    const result = await ws.call("read_many_files", { paths: ["src/n.js", "src/*.js", "./a.txt"] });
    expect(result.text).toBe(
      "--- a.txt ---\n\nalpha\nbeta foo\ngamma\ndelta\nfoo end\n\n--- src/n.js ---\n\nfoo\nfood\n",
    );
  });

  const read: readonly [name: string, args: Record<string, unknown>, files: readonly string[]][] = [
    ["a directory", { paths: ["src"] }, ["src/deep/d.ts", "src/m.ts", "src/n.js"]],
    [
      "globs without the usual clutter",
      { paths: ["**/*.ts"] },
      [".hidden/h.ts", "src/deep/d.ts", "src/m.ts"],
    ],
    [
      "clutter on request",
      { paths: ["**/*.ts"], use_default_excludes: false, respect_ignore: false },
      [".hidden/h.ts", "dist/o.ts", "node_modules/p/i.ts", "src/deep/d.ts", "src/m.ts"],
    ],
    [
      "ignored and excluded files by their names",
      { paths: ["e.log", ".env.example", "dist/o.ts"] },
      [".env.example", "dist/o.ts", "e.log"],
    ],
    ["a file whose name looks like a glob", { paths: ["[a].txt"] }, ["[a].txt"]],
    ["further globs", { paths: ["a.txt"], include: ["*.js"] }, ["a.txt", "src/n.js"]],
    ["not what is excluded", { paths: ["src"], exclude: ["*.ts"] }, ["src/n.js"]],
    [
      "no images by the way",
      { paths: ["src", "?.*"] },
      [".hidden/h.ts", "a.txt", "src/deep/d.ts", "src/m.ts", "src/n.js"],
    ],
  ];
  test.each(read)("reads %s", async (_, args, files) => {
    const { ws } = await place(kind, seed);
    const data = await ws.readManyFiles(args as never);
    expect(data.files.map((file) => file.path)).toEqual(files);
  });

  test("an image that is asked for comes as a block", async () => {
    const { ws } = await place(kind, seed);
    const result = await ws.call("read_many_files", { paths: ["*.png"] });
    expect(result.content).toMatchObject([{ type: "image", source: { media_type: "image/png" } }]);
  });

  test("what cannot be read is told, and fails nothing", async () => {
    const { ws } = await place(kind, seed);
    const result = await ws.call("read_many_files", {
      paths: ["a.txt", "nope", "../out/secret.ts", "bin.dat", "out/secret.ts", "zz/*"],
    });
    expect(result.ok).toBe(true);
    expect(result.data?.files.map((file) => file.path)).toEqual(["a.txt"]);
    expect(result.data?.skipped.map(({ path, code }) => [path, code])).toEqual(
      expect.arrayContaining([
        ["nope", "NOT_FOUND"],
        ["../out/secret.ts", "OUTSIDE_ALLOWED"],
        ["bin.dat", "BINARY_FILE"],
        ["out/secret.ts", "OUTSIDE_ALLOWED"],
      ]),
    );
    expect(result.text).not.toContain("SECRET");
    expect(result.text).toContain("Skipped 5:");
  });

  test("budgets leave out whole files and say so", async () => {
    const { ws } = await place(kind, { f0: "q".repeat(1000), f1: "q".repeat(1000), f2: "q".repeat(1000) });
    expect(await ws.readManyFiles({ paths: ["f*"], max_total_bytes: 1500 })).toMatchObject({
      files: [{ path: "f0", truncated: false }],
      skipped: [
        { path: "f1", code: "LIMIT_EXCEEDED" },
        { path: "f2", code: "LIMIT_EXCEEDED" },
      ],
      truncated: true,
    });
    expect((await ws.readManyFiles({ paths: ["f*"], max_files: 1 })).skipped).toHaveLength(2);
    expect((await ws.readManyFiles({ paths: ["f0"], max_total_bytes: 100 })).files).toMatchObject([
      { truncated: true },
    ]);
  });

  test("nothing read is a success that says so", async () => {
    const { ws } = await place(kind, seed);
    const result = await ws.call("read_many_files", { paths: ["*.zzz"] });
    expect(result).toMatchObject({ ok: true, data: { files: [] } });
    expect(result.text).toContain("No files");
  });
});

function png(): Uint8Array {
  const base64 =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

describe.each(KINDS)("grep by rank on %s", (kind) => {
  test("puts a definition first that lies behind more matches than a page holds", async () => {
    const calls = Array.from({ length: 2900 }, (_, n) => `call(needle, ${n}); // ${"x".repeat(33)}\n`).join(
      "",
    );
    const { ws } = await place(kind, { "a.js": `${calls}function needle() {}\n` });
    const { data } = await ws.call("grep", { pattern: "needle", rank: "definitions", max_results: 5 });
    expect(data).toMatchObject({ matches: [{ line: 2901 }, {}, {}, {}, {}] });
  });
});
