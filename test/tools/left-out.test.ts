/** Answers name what a search or a listing left out: none reads like "nothing is there" about files that it skipped. */
import { describe, expect, test } from "vitest";
import {
  FilewrightError,
  type FsBackend,
  MemoryBackend,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { KINDS, place, type Seed } from "./harness.ts";

const IGNORED: Seed = {
  ".gitignore": "dist/\n*.local\n",
  "dist/out.js": "needle\n",
  "settings.local": "y\n",
  "a.c": "hay\n",
};

describe.each(KINDS)("what ignore files leave out, on %s", (kind) => {
  test("glob says that every match is ignored, and how to see it", async () => {
    const { ws } = await place(kind, IGNORED);
    const result = await ws.call("glob", { pattern: "dist/**/*.js" });
    const note =
      "at least 1 match left out: ignored by .gitignore or the like; respect_ignore: false searches them too";
    expect(result.text).toBe(`No files match dist/**/*.js\n[${note}]`);
    expect(result.data?.warnings).toEqual([note]);
    const all = await ws.call("glob", { pattern: "dist/**/*.js", respect_ignore: false });
    expect(all.text).toBe("dist/out.js");
  });

  test("glob counts matches in large ignored directories only where nothing else matches", async () => {
    const { ws } = await place(kind, { ...IGNORED, "dist/more.js": "", "a.js": "" });
    expect(await ws.glob({ pattern: "**/*.js" })).toMatchObject({ total: 1, ignored: 2 });
    expect(await ws.glob({ pattern: "{a.js,*.local}" })).toMatchObject({ total: 1, ignored: 1 });
    expect(await ws.glob({ pattern: "dist/*.js" })).toMatchObject({ total: 0, ignored: 2 });
    const many = Array.from({ length: 1001 }, (_, at) => [`dist/${at}.css`, ""]);
    const large = await place(kind, { ...IGNORED, ...Object.fromEntries(many), "a.js": "", "b.css": "" });
    expect(await large.ws.glob({ pattern: "**/*.js" })).toMatchObject({ total: 1, ignored: 0 });
    expect(await large.ws.glob({ pattern: "dist/*.js" })).toMatchObject({ total: 0, ignored: 1 });
    expect(await large.ws.glob({ pattern: "**/*.css" })).toMatchObject({ total: 1, ignored: 0 });
  });

  test("grep says what it did not search where it found nothing, and is silent where it found something", async () => {
    const { ws } = await place(kind, IGNORED);
    const result = await ws.call("grep", { pattern: "needle" });
    expect(result.text).toContain("No matches for 'needle' in 2 files");
    expect(result.text).toContain(
      "[2 files or directories not searched: ignored by .gitignore or the like; respect_ignore: false searches them too]",
    );
    expect((await ws.call("grep", { pattern: "hay" })).text).toBe("a.c:1:hay");
  });

  test("find_files says that what fits is ignored", async () => {
    const { ws } = await place(kind, IGNORED);
    const result = await ws.call("find_files", { query: "outjs" });
    expect(result.text).toBe(
      "No files match outjs\n[1 match left out: ignored by .gitignore or the like; respect_ignore: false finds them]",
    );
    expect(result.data?.warnings).toHaveLength(1);
    expect((await ws.call("find_files", { query: "zzqqxx" })).text).toBe("No files match zzqqxx");
  });

  test("read_many_files lists a glob of which every match is ignored as skipped", async () => {
    const { ws } = await place(kind, IGNORED);
    const result = await ws.call("read_many_files", { paths: ["*.local"] });
    expect(result.data).toMatchObject({ files: [], skipped: [{ path: "*.local", code: "NOT_FOUND" }] });
    expect(result.text).toContain("every match is ignored");
  });

  test("a full page of dependencies names the files outside them that match too", async () => {
    const seed: Record<string, string> = { "src/main.js": "createServer(2)\n" };
    for (let n = 0; n < 30; n++) seed[`node_modules/p${n}/i.js`] = "createServer(1)\n";
    const { ws } = await place(kind, seed);
    const result = await ws.call("grep", { pattern: "createServer", max_results: 20 });
    expect(result.data?.matches).toHaveLength(20);
    expect(result.text).toContain(
      '[everything shown is in node_modules; other files match too: src/main.js; leave them out with exclude: ["node_modules"]]',
    );
    const whole = await ws.call("grep", { pattern: "createServer" });
    expect(whole.data).toMatchObject({ total_matches: 31, truncated: false });
    expect(whole.data?.warnings).toBeUndefined();
  });

  test("a search that its time cut never says that there is nothing", async () => {
    const seed: Record<string, string> = {};
    for (let n = 0; n < 600; n++) seed[`d${n % 50}/f${n}.txt`] = "hay\n".repeat(2000);
    const { ws } = await place(kind, seed);
    const result = await ws.call("grep", { pattern: "(n+e+)+dle$", timeout_ms: 1 });
    expect(result.data).toMatchObject({ complete: false, incomplete_reason: "timeout" });
    expect(result.text).toMatch(/^Not finished: no match for '.*' in the first \d+ files?/u);
    expect(result.text).not.toContain("No matches");
  });
});

describe("the presets say it too", () => {
  const opened = async (preset: WorkspaceOptions["preset"]): Promise<Workspace> => {
    const backend = new MemoryBackend({
      "/w/.gitignore": "dist/\n",
      "/w/dist/out.js": "needle\n",
      "/w/a.c": "hay\n",
    });
    return openWorkspace({ backend, root: "/w", preset, guard: "off" });
  };

  test.each([
    ["claude", "Glob", { pattern: "dist/*.js" }, "No files found"],
    ["claude", "Grep", { pattern: "needle" }, "No files found"],
    ["codex", "grep_files", { pattern: "needle" }, "No matches found."],
    ["gemini-cli", "glob", { pattern: "dist/*.js" }, "respect_git_ignore: false"],
    ["gemini-cli", "grep_search", { pattern: "needle" }, "no_ignore: true"],
  ] as const)("%s: %s", async (preset, tool, args, text) => {
    await using ws = await opened(preset);
    const result = await ws.call(tool, args);
    expect(result.text).toContain(text);
    expect(result.text).toContain("ignored by .gitignore or the like");
  });

  test("a preset with texts of a fixed form says it in its data", async () => {
    await using ws = await opened("gemini");
    const result = await ws.call("glob", { pattern: "dist/*.js" });
    expect(result.text).toBe("No files match dist/*.js");
    expect((result.data as { warnings?: unknown }).warnings).toHaveLength(1);
  });

  test("claude: an offset behind the results is not taken for none", async () => {
    await using ws = await opened("claude");
    const result = await ws.call("Grep", { pattern: "hay", offset: 5 });
    expect(result.text).toBe("Nothing from offset 5 on; found: 1 result");
  });

  test("gemini: recursive false stays in the directories that are named", async () => {
    const backend = new MemoryBackend({ "/w/d/a.txt": "top\n", "/w/d/deep/b.txt": "below\n" });
    for (const [preset, key] of [
      ["gemini", "paths"],
      ["gemini-cli", "include"],
    ] as const) {
      await using ws = await openWorkspace({ backend, root: "/w", preset, guard: "off" });
      for (const path of ["d", "d/**", "d/**/*.txt"]) {
        const all = await ws.call("read_many_files", { [key]: [path] });
        expect(all.text, `${preset} ${path}`).toContain("below");
        const flat = await ws.call("read_many_files", { [key]: [path], recursive: false });
        expect(flat.text, `${preset} ${path}`).toContain("top");
        expect(flat.text, `${preset} ${path}`).not.toContain("below");
      }
    }
  });

  test("gemini-cli: exclude_pattern holds for names_only too", async () => {
    const backend = new MemoryBackend({ "/w/a.txt": "hit skip\n", "/w/b.txt": "hit\n" });
    await using ws = await openWorkspace({ backend, root: "/w", preset: "gemini-cli", guard: "off" });
    const args = { pattern: "hit", exclude_pattern: "skip", names_only: true };
    expect((await ws.call("grep_search", args)).text).toBe("b.txt");
  });

  test("gemini-cli: a page has as many lines as it may, whatever exclude_pattern leaves out before them", async () => {
    const long = (word: string, count: number): string => `hit ${word} ${"x".repeat(400)}\n`.repeat(count);
    const backend = new MemoryBackend({
      "/w/a.txt": "hit skip\n".repeat(2500),
      "/w/b.txt": long("skip", 1000),
      "/w/c.txt": "hit one\nhit two\nhit three\n",
      "/w/d.txt": "hit four\n",
    });
    await using ws = await openWorkspace({ backend, root: "/w", preset: "gemini-cli", guard: "off" });
    const args = { pattern: "hit", exclude_pattern: "skip" };
    const page = await ws.call("grep_search", { ...args, total_max_matches: 2 });
    expect(page.data).toMatchObject({
      matches: [
        { path: "c.txt", line: 1 },
        { path: "c.txt", line: 2 },
      ],
      truncated: true,
      complete: false,
      incomplete_reason: "max_results",
    });
    const all = await ws.call("grep_search", { ...args, total_max_matches: 4 });
    expect(all.data).toMatchObject({
      total_matches: 4,
      files_with_matches: 2,
      complete: true,
      truncated: false,
    });
    const some = await ws.call("grep_search", { ...args, max_matches_per_file: 1 });
    expect(some.data).toMatchObject({
      matches: [{ text: "hit one" }, { text: "hit four" }],
      incomplete_reason: "max_per_file",
    });
  });
});

/** A backend in memory in which one directory cannot be listed. */
function withClosed(closed: string): FsBackend {
  class Closed extends MemoryBackend {
    override async listDir(...args: Parameters<MemoryBackend["listDir"]>) {
      if (args[0] === closed) throw new FilewrightError("PERMISSION_DENIED", "not allowed", { path: closed });
      return super.listDir(...args);
    }
  }
  return new Closed({ "/w/open/a.txt": "hay\n", "/w/closed/b.txt": "hay\n" });
}

describe("a directory that cannot be read", () => {
  const calls = [
    ["grep", { pattern: "hay" }],
    ["grep", { pattern: "nothing of it" }],
    ["glob", { pattern: "*.txt" }],
    ["find_files", { query: "txt" }],
    ["list_directory", { depth: 3 }],
    ["list_directory", { depth: 3, sort: "size" }],
    ["list_directory", { depth: 3, format: "json" }],
  ] as const;
  test.each(calls)("%s %j", async (tool, args) => {
    await using ws = await openWorkspace({ backend: withClosed("/w/closed"), root: "/w", index: "off" });
    const result = await ws.call(tool, args);
    expect(result.ok).toBe(true);
    expect(result.text).toMatch(/\bclosed not (?:listed|searched): permission denied\b/u);
    const { warnings } = result.data as { readonly warnings?: readonly string[] };
    expect(warnings).toHaveLength(1);
    if ("format" in args) expect(JSON.parse(result.text)).toHaveLength(4);
  });

  test("glob names none that exclude leaves out", async () => {
    const backend = withClosed("/w/b/closed");
    await backend.mkdir("/w/a/closed", { parents: true });
    const listDir = backend.listDir.bind(backend);
    backend.listDir = async (path, options) => {
      if (path === "/w/a/closed") throw new FilewrightError("PERMISSION_DENIED", "not allowed", { path });
      return listDir(path, options);
    };
    await backend.mkdir("/w/b/closed", { parents: true });
    await using ws = await openWorkspace({ backend, root: "/w", index: "off" });
    const { text } = await ws.call("glob", { pattern: "*.none", exclude: ["a/closed"] });
    expect(text).toContain("b/closed not listed: permission denied");
    expect(text).not.toContain("a/closed");
  });

  test("a listing of one level claims nothing about it", async () => {
    await using ws = await openWorkspace({ backend: withClosed("/w/closed"), root: "/w" });
    expect((await ws.call("list_directory", {})).text).toBe("[DIR] closed\n[DIR] open");
  });
});

describe("JSON that is cut stays JSON", () => {
  const seed = (): Seed => {
    const many: Record<string, string> = {};
    for (let n = 0; n < 3000; n++) many[`d${n}/file-number-${n}.txt`] = "";
    return many;
  };

  test.each(["mcp", "canonical"] as const)("preset %s", async (preset) => {
    const { ws } = await place("memory", seed(), { preset });
    const result =
      preset === "mcp"
        ? await ws.call("directory_tree", { path: "." })
        : await ws.call("list_directory", { depth: 3, format: "json", limit: 100_000 });
    const rows = JSON.parse(result.text) as { name?: string; notice?: string; type?: string }[];
    const last = rows.at(-1);
    expect(result.meta.truncated).toBe(true);
    expect(last?.notice ?? last?.name).toMatch(/^\d+ of 6000 entries/u);
    expect(result.text.length).toBeGreaterThan(30_000);
    expect(result.text.length).toBeLessThan(66_100);
  });
});

describe("the notice of a line that is cut", () => {
  const long = `${"0123456789".repeat(900)}THE-END\n`;

  test("names the arguments that show the rest, and they do", async () => {
    const { ws } = await place("memory", { "t.md": long, "t.json": long });
    const { text } = await ws.call("read_file", { path: "t.md" });
    expect(text.split("\n").at(-1)).toBe(
      "[line 1 is cut at 2000 characters; see the rest with max_line_chars=0 or start_byte=2000]",
    );
    expect((await ws.call("read_file", { path: "t.md", max_line_chars: 0 })).text).toContain("THE-END");
    const inside = await ws.call("read_file", { path: "t.md", start_byte: 8990 });
    expect(inside.text).toContain("THE-END");
    expect((await ws.call("read_file", { path: "t.json" })).text).toContain("or json_pointer]");
  });

  test("counts several, and is left out for a reader who has no such argument", async () => {
    const { ws } = await place("memory", { "t.md": `short\n${long}${long}` });
    const { text } = await ws.call("read_file", { path: "t.md" });
    expect(text).toContain(
      "[2 lines are cut, the first of them line 2, at 2000 characters; see the rest with",
    );
    const claude = await place("memory", { "t.md": long }, { preset: "claude" });
    expect((await claude.ws.call("Read", { file_path: "t.md" })).text).toMatch(/\.\.\. \[truncated\]$/u);
  });
});

describe("a note names what was left out, and why", () => {
  const big = "x".repeat(3000);
  const rows: readonly (readonly [string, Seed, WorkspaceOptions, string])[] = [
    ["a secret", { ".env": "needle", a: "hay" }, {}, "[.env not searched: it holds secrets]"],
    [
      "a secret below",
      { "a/b/id_rsa": "needle", a1: "hay" },
      {},
      "[a/b/id_rsa not searched: it holds secrets]",
    ],
    [
      "a place of the host's",
      { "deploy.token": "needle", a: "hay" },
      { access: { places: { secret: ["*.token"] } } },
      "[deploy.token not searched: it holds secrets]",
    ],
    [
      "several",
      { ".env": "x", "b/.env.local": "x", "c/id_rsa": "x" },
      {},
      "[3 entries not searched (.env: it holds secrets)]",
    ],
    [
      "a large file",
      { "big.log": big, a: "hay" },
      { limits: { grepFileBytes: 2048 } },
      "[big.log not searched: over 2048 bytes]",
    ],
    [
      "several large files",
      { "a.log": big, "b.log": big },
      { limits: { grepFileBytes: 1 << 10 } },
      "[2 entries not searched (a.log: over 1024 bytes)]",
    ],
    [
      "a name that could forge a line",
      { "x\n[fake]/.env": "needle" },
      {},
      "[x\\n[fake]/.env not searched: it holds secrets]",
    ],
  ];
  describe.each(KINDS)("on %s", (kind) => {
    test.each(rows)("%s", async (_, seed, options, note) => {
      const { ws } = await place(kind, seed, options);
      const { text } = await ws.call("grep", { pattern: "needle" });
      expect(text.split("\n").at(-1)).toBe(note);
    });

    test("a secret in a large tree", async () => {
      const seed: Record<string, string> = { "z/.env": "needle" };
      for (let n = 0; n < 700; n++) seed[`d${n}/f.txt`] = "hay";
      const { ws } = await place(kind, seed);
      expect((await ws.call("grep", { pattern: "needle" })).text).toContain(
        "[z/.env not searched: it holds secrets]",
      );
    });

    test("a secret that is ignored, or that the query does not cover, is not named", async () => {
      const seed = { ".gitignore": "b/\n", "b/.env": "needle", "c/.env": "needle", "c/a.ts": "hay" };
      const { ws } = await place(kind, seed);
      expect((await ws.call("grep", { pattern: "needle" })).text).toContain("[c/.env not searched");
      const narrow = await ws.call("grep", { pattern: "needle", glob: "*.ts" });
      expect(narrow.text).not.toContain(".env");
    });

    test("read_many_files gives the reason of each", async () => {
      const { ws } = await place(kind, { ".env": "x", "a.txt": "hay" });
      const result = await ws.call("read_many_files", { paths: [".env", "a.txt"] });
      expect(result.data?.skipped).toEqual([
        { path: ".env", reason: "it holds secrets", code: "GRANT_DENIED" },
      ]);
      expect(result.text).not.toContain("directory was not granted");
    });
  });
});
