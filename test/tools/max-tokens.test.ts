/** `max_tokens`: no text has more, and the calls that go on give everything once. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Fixture, KINDS, place, type Seed } from "./harness.ts";

/** A tokenizer that no estimate agrees with: a token for each UTF-16 unit. */
const units = (text: string): number => text.length;

const word = fc.constantFrom(
  "needle",
  "x".repeat(300),
  "漢字かな",
  "🦀",
  "{[()]};",
  "12345678",
  "\t\t",
  "Ünïcödé",
);
const line = fc.array(word, { maxLength: 6 }).map((words) => ["needle", ...words].join(" "));
const file = fc.array(line, { maxLength: 60 }).map((lines) => lines.map((one) => `${one}\n`).join(""));
const files = fc.array(file, { minLength: 1, maxLength: 12 });
const cases = fc.record({
  files,
  most: fc.integer({ min: 400, max: 3000 }),
  tokens: fc.constantFrom(undefined, units),
});

/** The answer of a call. */
interface Told {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A case of the property, opened. */
interface Opened extends Fixture {
  call(tool: string, args: object): Promise<Told>;
}

/** Calls `check` with generated trees, budgets and tokenizers. Each call's text is compared with its budget. */
async function forAll(
  kind: (typeof KINDS)[number],
  check: (opened: Opened, texts: readonly string[]) => Promise<void>,
) {
  await fc.assert(
    fc.asyncProperty(cases, async ({ files: texts, most, tokens }) => {
      const seed: Seed = Object.fromEntries(texts.map((text, n) => [`dir${n % 3}/file ${n}.txt`, text]));
      const fixture = await place(kind, seed, tokens === undefined ? {} : { limits: { tokens } });
      const call: Opened["call"] = async (tool, args) => {
        const result = await fixture.ws.call(tool, { ...args, max_tokens: most });
        if (!result.ok) throw new Error(result.text);
        const data = result.data as Told["data"];
        if (tokens !== undefined) expect(data["tokens"]).toBe(tokens(result.text));
        expect(data["tokens"]).toBeLessThanOrEqual(most);
        return { text: result.text, data };
      };
      await check({ ...fixture, call }, texts);
      await fixture.ws.close();
    }),
    { numRuns: 12 },
  );
}

/** Calls a tool with its cursors until there is no more. */
async function pagesOf({ call }: Opened, tool: string, args: object): Promise<readonly Told[]> {
  const pages: Told[] = [];
  for (let cursor: unknown, first = true; first || cursor !== undefined; first = false) {
    const page = await call(tool, cursor === undefined ? args : { ...args, cursor });
    pages.push(page);
    cursor = page.data["next_cursor"];
  }
  return pages;
}

/** Reads a file with the arguments that each page names, and returns the contents one after the other. */
async function readThrough({ call }: Opened, path: string): Promise<string> {
  let content = "";
  for (let next: object | undefined = {}; next !== undefined; ) {
    const { data } = await call("read_file", { path, ...next });
    content += data["content"];
    const { next_start_line: from, next_start_byte: byte } = data;
    next =
      data["truncated"] !== true
        ? undefined
        : from === undefined
          ? { start_byte: byte }
          : { start_line: from };
  }
  return content;
}

describe.each(KINDS)("max_tokens on %s", (kind) => {
  test("bounds each page of read_file, and the pages have the file once", async () => {
    await forAll(kind, async (opened, texts) => {
      expect(await readThrough(opened, "dir0/file 0.txt")).toBe(texts[0]);
    });
  });

  test.each(["glob", "list_directory", "grep"])(
    "bounds each page of %s, and the pages have each result once",
    async (tool) => {
      await forAll(kind, async (opened, texts) => {
        const args = {
          glob: { pattern: "**" },
          list_directory: { depth: 3 },
          grep: { pattern: "needle", max_results: 100_000, max_line_chars: 40 },
        }[tool as "glob"];
        const pages = await pagesOf(opened, tool, args);
        const all = pages.flatMap(({ data }) => {
          const { matches = data["entries"] } = data as {
            matches?: readonly (string | { path: string; line?: number })[];
          };
          return (matches as readonly (string | { path: string; line?: number })[]).map((one) =>
            typeof one === "string" ? one : `${one.path}:${one.line}`,
          );
        });
        expect(new Set(all).size).toBe(all.length);
        const lines = texts.join("").split("\n").length - 1;
        const count = {
          glob: texts.length,
          list_directory: texts.length + Math.min(3, texts.length),
          grep: lines,
        };
        expect(all.length).toBe(count[tool as "glob"]);
      });
    },
  );

  test("bounds search_code, and what is left out is counted", async () => {
    await forAll(kind, async ({ call, ws }) => {
      const query = { query: "needle", limit: 100 };
      const whole = await ws.call("search_code", { ...query, max_tokens: 1_000_000 });
      const all = whole.data?.blocks ?? [];
      const { data } = await call("search_code", query);
      const { blocks, left_out } = data as { readonly blocks: typeof all; readonly left_out: number };
      expect(blocks.length + left_out).toBe(all.length);
      expect(Math.min(1, blocks.length)).toBe(Math.min(1, all.length));
      for (const [at, block] of blocks.entries()) {
        const lines = all[at]?.lines ?? [];
        const missing = lines.length - block.lines.length;
        // Only the first block, alone, may have fewer lines.
        expect(block).toEqual({
          ...all[at],
          lines: blocks.length > 1 ? lines : lines.slice(0, block.lines.length),
          lines_left_out: missing > 0 ? missing : undefined,
        });
      }
    });
  });

  test("bounds read_many_files, and what is left out is named", async () => {
    await forAll(kind, async ({ call }, texts) => {
      const { data } = await call("read_many_files", { paths: ["**"] });
      const { files: read, skipped } = data as {
        readonly files: readonly { path: string; content: string; truncated: boolean }[];
        readonly skipped: readonly { path: string; code: string }[];
      };
      expect(new Set([...read, ...skipped].map(({ path }) => path)).size).toBe(texts.length);
      expect(read.length + skipped.length).toBe(texts.length);
      for (const { path, content, truncated } of read) {
        const whole = texts[Number(/\d+(?=\.txt)/u.exec(path)?.[0])] as string;
        expect(truncated ? whole.startsWith(content) : whole === content).toBe(true);
      }
      for (const { code } of skipped) expect(code).toBe("LIMIT_EXCEEDED");
    });
  });
});

describe("max_tokens", () => {
  test("is refused below the room that the line about the rest needs", async () => {
    const { ws } = await place("memory", { "a.txt": "a\n" });
    const result = await ws.call("read_file", { path: "a.txt", max_tokens: 199 });
    expect(result.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { argument: "max_tokens" } });
  });

  test("tells how many tokens a result has that is larger alone", async () => {
    const { ws } = await place("memory", { "a.txt": `needle${" x1".repeat(2000)}\n` });
    const args = { pattern: "needle", max_line_chars: 0, max_tokens: 300 };
    const refused = await ws.call("grep", args);
    expect(refused.text).toMatch(/^Error: The first result has \d+ tokens; set max_tokens=\d+ or more/u);
    const needed = refused.error?.details?.["needed"];
    const again = await ws.call("grep", { ...args, max_tokens: needed as number });
    expect(again.ok).toBe(true);
  });

  test("counts by the tokenizer of the host, whose result is checked", async () => {
    const { ws } = await place("memory", { "a.txt": "a\nb\n" }, { limits: { tokens: () => 7 } });
    expect(await ws.readFile({ path: "a.txt", max_tokens: 200 })).toMatchObject({ tokens: 7 });
    const broken = await place("memory", { "a.txt": "a\n" }, { limits: { tokens: () => 0.5 } });
    const result = await broken.ws.call("read_file", { path: "a.txt", max_tokens: 200 });
    expect(result.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { option: "limits.tokens" } });
  });

  test("changes nothing where it is left out", async () => {
    const { ws } = await place("memory", { "a.txt": "a\n" });
    expect(await ws.readFile({ path: "a.txt" })).not.toHaveProperty("tokens");
  });
});
