/** Every answer stays within `limits.outputBytes`, whatever the tool, and says how to go on. */
import { describe, expect, test } from "vitest";
import type { ReadFileArgs } from "../../js/tools/index.ts";
import { KINDS, type Seed, place } from "./harness.ts";

const BUDGET = 3000;
/** Bytes that closing lines may take beyond it. */
const GRACE = 500;

const lines = (count: number, text: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${text(n)}\n`).join("");
const many = lines(2000, (n) => `line ${n} 漢字`);
const changed = lines(2000, (n) => `LINE ${n} 漢字`);
const files = Object.fromEntries(
  Array.from({ length: 300 }, (_, n) => [`d/a file with a name ${n}.txt`, `x${n}\n`]),
);
const notebook = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: {},
  cells: Array.from({ length: 300 }, (_, n) => ({
    cell_type: "code",
    source: `cell ${n}`,
    outputs: [{ output_type: "stream", name: "stdout", text: "y".repeat(500) }],
  })),
});

const seed: Seed = {
  many,
  crlf: many.replaceAll("\n", "\r\n"),
  one: "z".repeat(100_000),
  wide: "漢".repeat(100_000),
  emoji: `${"😀".repeat(1500)}\n`.repeat(50),
  changed,
  object: JSON.stringify({ list: Array.from({ length: 3000 }, (_, n) => n) }, null, 1),
  "book.ipynb": notebook,
};

/** The three hundred files only for calls that come across them: they take most of the time. */
const seedFor = (args: object): Seed =>
  /"d"|"d\/|"\."|\*\*|"pattern"/.test(JSON.stringify(args)) ? { ...seed, ...files } : seed;

/** Calls whose whole answer would be far larger. */
const calls: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ["read_file", { path: "many" }],
  ["read_file", { path: "many", line_numbers: "none" }],
  ["read_file", { path: "many", line_numbers: "arrow", anchors: true }],
  ["read_file", { path: "many", max_lines: null }],
  ["read_file", { path: "many", start_line: -1500 }],
  ["read_file", { path: "crlf", line_numbers: "plain" }],
  ["read_file", { path: "one", max_line_chars: 0 }],
  ["read_file", { path: "wide", max_line_chars: 0 }],
  ["read_file", { path: "wide" }],
  ["read_file", { path: "wide", start_byte: 30_000 }],
  ["read_file", { path: "emoji", max_line_chars: 0 }],
  ["read_file", { path: "object", json_pointer: "/list" }],
  ["read_file", { path: "book.ipynb" }],
  ["read_many_files", { paths: ["many", "crlf", "one"] }],
  ["read_many_files", { paths: ["d"] }],
  ["read_many_files", { paths: Array.from({ length: 500 }, (_, n) => `missing/${n}`) }],
  ["diff", { a: "many", b: "changed" }],
  ["diff", { a: "many", b: "changed", format: "json" }],
  ["diff", { a: "many", b: "changed", format: "html" }],
  ["diff", { a: "one", b: "wide" }],
  ["edit_file", { path: "many", old_text: "line", new_text: "LINE", replace_all: true }],
  ["edit_file", { path: "one", old_text: "zz", new_text: "y", on_multiple: "first", dry_run: true }],
  ["edit_file", { path: "many", old_text: "line", new_text: "LINE" }],
  ["edit_file", { path: "many", old_text: `${"q".repeat(50_000)}\nline 7 漢字`, new_text: "" }],
  ["write_file", { path: "many", content: "gone\n" }],
  ["write_file", { path: "new", content: many }],
  ["write_file", { path: "many", content: "x", overwrite: false }],
  ["list_directory", { path: "d" }],
  ["list_directory", { path: ".", depth: 3 }],
  ["list_directory", { path: "d", format: "json" }],
  ["list_directory", { path: "d", format: "names" }],
  ["list_directory", { path: ".", depth: 3, format: "tree" }],
  ["glob", { pattern: "**/*" }],
  ["grep", { pattern: "line", max_results: 100_000 }],
  ["grep", { pattern: "line", path: "many", context: 2, max_results: 100_000 }],
  ["grep", { pattern: "x", output: "files", max_results: 100_000 }],
  ["grep", { pattern: "x", output: "count", max_results: 100_000 }],
  ["grep", { pattern: "z+", path: "one", max_line_chars: 50_000 }],
  ["delete", { path: "d", recursive: true }],
  ["copy", { source: "d", destination: "e" }],
  ["stat", { path: "many" }],
  ["access_info", {}],
  ["stat", { path: "n".repeat(20_000) }],
  ["glob", { pattern: "{".repeat(20_000) }],
  ["grep", { pattern: "(".repeat(20_000) }],
  ["read_file", { path: "many", ["v".repeat(20_000)]: 1 }],
  ["read_file", { path: "many", encoding: "e".repeat(20_000) }],
  ["t".repeat(20_000), {}],
];

describe.each(KINDS)("on %s", (kind) => {
  const named = calls.map(([tool, args]) => [JSON.stringify([tool, args]).slice(0, 90), tool, args] as const);
  test.each(named)("%s", async (_, tool, args) => {
    const { ws } = await place(kind, seedFor(args), { limits: { outputBytes: BUDGET } });
    const { ok, text, data, meta } = await ws.call(tool, args as never);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BUDGET + GRACE);
    // What is left out is said, and how to go on where there is a way.
    if (ok && meta.truncated) {
      expect(data).toMatchObject({ truncated: true });
      // JSON stays JSON: the notice is its last entry.
      const lastLine = text.replace(/\n\]$/u, "").trimEnd().split("\n").at(-1);
      expect(lastLine).toMatch(/continue with|truncated|cut|left out|skipped|more/);
    }
  });
});

describe.each(KINDS)("cut answers go on without a gap on %s", (kind) => {
  const options = { limits: { outputBytes: BUDGET } };

  const pages: readonly (readonly [name: string, path: string, args: Omit<ReadFileArgs, "path">])[] = [
    ["many lines", "many", {}],
    ["with anchors and arrows", "many", { anchors: true, line_numbers: "arrow" }],
    ["CRLF", "crlf", { line_numbers: "none" }],
    ["one line of 100,000 characters", "one", { max_line_chars: 0 }],
    ["one line of 300,000 bytes", "wide", { max_line_chars: 0 }],
    ["pairs of surrogates", "emoji", { max_line_chars: 0 }],
  ];
  test.each(pages)("read_file: %s", async (_, path, args) => {
    const { ws, text } = await place(kind, seed, options);
    let content = "";
    let next: object = {};
    for (let page = 0; page < 300; page++) {
      const data = await ws.readFile({ path, ...args, ...next });
      content += data.content;
      if (!data.truncated) break;
      next =
        data.next_start_line === undefined
          ? { start_byte: data.next_start_byte }
          : { start_line: data.next_start_line };
    }
    expect(content === (await text(path))).toBe(true);
  });

  test.each([
    ["glob", { pattern: "d/*" }, "matches"],
    ["list_directory", { path: "d" }, "entries"],
    ["list_directory", { path: "d", format: "json" }, "entries"],
    ["grep", { pattern: "x", path: "d", max_results: 1000 }, "matches"],
    ["grep", { pattern: "x", path: "d", output: "files", max_results: 1000 }, "files"],
    ["grep", { pattern: "x", path: "d", output: "count", max_results: 1000 }, "counts"],
  ])("%s %o", async (tool, args, key) => {
    const { ws } = await place(kind, files, options);
    const seen: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 100; page++) {
      const { data } = await ws.call(tool, { ...args, ...(cursor === undefined ? {} : { cursor }) } as never);
      const found = data as Record<string, unknown>;
      seen.push(...(found[key] as unknown[]));
      cursor = found["next_cursor"] as string | undefined;
      if (cursor === undefined) break;
    }
    const names = seen.map((one) =>
      typeof one === "string" ? one : (one as { readonly path: string }).path,
    );
    expect(new Set(names).size).toBe(300);
    expect(names).toHaveLength(300);
  });
});
