/** A command line has no pages: it prints all that was asked for, results alone on standard output. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { budgetOf, pagesOf } from "../../js/cli/pages.ts";
import { type CliFixture, place } from "./running.ts";

/** More than the 200 matches, 1,000 names, 2,000 lines and 64 KiB that a model gets at once, and than one page. */
const MATCHES = 12_345;
const NAMES = 1500;
const LONG_LINE = `${"0123456789".repeat(900_000)}needle`;
const LINES = Array.from({ length: MATCHES }, (_, index) => `needle ${index + 1} ${"x".repeat(40)}`);

let at: CliFixture;
beforeAll(async () => {
  at = await place({
    "many.txt": `${LINES.join("\n")}\n`,
    "long/a.txt": `first\n${LONG_LINE}\nthird\r\n${LONG_LINE}\nlast`,
    "secret/.env": "TOKEN=1\n",
    "secret/a.txt": "needle\n",
    "empty/.keep": "",
    "blank.txt": "",
  });
  await mkdir(join(at.root, "names"));
  await Promise.all(
    Array.from({ length: NAMES }, (_, index) =>
      writeFile(join(at.root, "names", `name-${index}.txt`), "needle\n"),
    ),
  );
});
afterAll(() => at.remove());

const lines = (out: string): readonly string[] => out.split("\n").slice(0, -1);

describe("everything is printed", () => {
  test.each<[readonly string[], number]>([
    [["grep", "needle", "many.txt"], MATCHES],
    [["grep", "needle", "many.txt", "-m", "100000"], MATCHES],
    [["grep", "needle", "many.txt", "--limit", "2000000"], MATCHES],
    [["grep", "needle", "many.txt", "-m", "10001"], 10_001],
    [["grep", "needle", "many.txt", "--jsonl"], MATCHES],
    [["grep", "needle", "many.txt", "--jsonl", "-m", "300"], 300],
    [["grep", "needle", "names"], NAMES],
    [["grep", "needle", "names", "many.txt"], NAMES + MATCHES],
    [["grep", "needle", "names", "many.txt", "-m", "1600"], 1600],
    [["grep", "-l", "needle", "names"], NAMES],
    [["grep", "-l", "needle", "names", "--jsonl"], NAMES],
    [["grep", "-c", "needle", "names"], NAMES],
    [["grep", "-c", "needle", "names", "--jsonl", "-m", "7"], 7],
    [["glob", "names/*"], NAMES],
    [["glob", "names/*", "--limit", "1200"], 1200],
    [["glob", "names/*", "--jsonl"], NAMES],
    [["find", "name"], NAMES],
    [["find", "name", "names", "--recent"], NAMES],
    [["find", "name", "-m", "25"], 25],
    [["find", "name", "--jsonl"], NAMES],
    [["ls", "names"], NAMES],
    [["ls", "names", "--limit", "1001"], 1001],
    [["ls", "names", "-l"], NAMES],
    [["ls", "names", "--format", "names"], NAMES],
    [["ls", "names", "--jsonl"], NAMES],
    [["read", "many.txt"], MATCHES],
    [["read", "many.txt", "--lines", "11000"], 11_000],
    [["read", "many.txt", "--start=-10500"], 10_500],
  ])("by %j", async (args, count) => {
    const { status, out, err } = await at.run(args);
    expect([status, lines(out).length, err]).toEqual([0, count, ""]);
    expect(new Set(lines(out)).size).toBe(count);
  });

  test.each<[readonly string[], string, number]>([
    [["grep", "needle", "many.txt", "--json"], "matches", MATCHES],
    [["grep", "-l", "needle", "names", "--json"], "files", NAMES],
    [["glob", "names/*", "--json"], "matches", NAMES],
    [["find", "name", "--json"], "files", NAMES],
    [["ls", "names", "--json"], "entries", NAMES],
  ])("as one JSON result, without a cursor, by %j", async (args, list, count) => {
    const { out, err } = await at.run(args);
    const { data, meta } = JSON.parse(out) as { data: Record<string, unknown>; meta: object };
    expect(data[list]).toHaveLength(count);
    expect(data).toMatchObject({ truncated: false });
    expect(data["next_cursor"]).toBeUndefined();
    expect([meta, err]).toEqual([expect.objectContaining({ truncated: false }), ""]);
  });

  test("counts of several pages are those of the search", async () => {
    const { out } = await at.run(["grep", "needle", "many.txt", "--json"]);
    expect(JSON.parse(out).data).toMatchObject({
      total_matches: MATCHES,
      files_with_matches: 1,
      files_searched: 1,
      complete: true,
    });
  });

  test("a format of its own is one document", async () => {
    const { out } = await at.run(["ls", "names", "--format", "json"]);
    expect(JSON.parse(out)).toHaveLength(NAMES);
  });

  test("lines that are longer than a page are whole", async () => {
    const { out, err } = await at.run(["read", "long/a.txt", "--numbers", "none"]);
    expect(err).toBe("");
    expect(out === `first\n${LONG_LINE}\nthird\n${LONG_LINE}\nlast\n`).toBe(true);
    const numbered = await at.run(["read", "long/a.txt", "--numbers", "plain", "--lines", "3"]);
    expect(numbered.out === `1 first\n2 ${LONG_LINE}\n3 third\n`).toBe(true);
    const found = await at.run(["grep", "needle", "long"]);
    expect(found.out === `long/a.txt:2:${LONG_LINE}\nlong/a.txt:4:${LONG_LINE}\n`).toBe(true);
  });

  test("several files are whole, in their order", async () => {
    const { out, err } = await at.run(["cat", "many.txt", "long", "blank.txt"]);
    expect(err).toBe("");
    expect(lines(out).filter((line) => line.startsWith("--- "))).toEqual([
      "--- blank.txt ---",
      "--- long/a.txt ---",
      "--- many.txt ---",
    ]);
    const long = `first\n${LONG_LINE}\nthird\n${LONG_LINE}\nlast\n`;
    expect(
      out.replaceAll("\r", "") ===
        `--- blank.txt ---\n\n\n--- long/a.txt ---\n\n${long}\n--- many.txt ---\n\n${LINES.join("\n")}\n`,
    ).toBe(true);
  });

  test("no more than a page is asked for at once", async () => {
    const asked: number[] = [];
    const call = { tool: "grep", args: { pattern: "x" } };
    const run = async ({ args }: { readonly args: unknown }) => {
      const { max_results: most, cursor } = args as {
        readonly max_results: number;
        readonly cursor?: string;
      };
      asked.push(most);
      const data = {
        matches: Array.from({ length: most }),
        ...(cursor === "2" ? {} : { next_cursor: cursor === undefined ? "1" : "2" }),
      };
      return {
        ok: true,
        text: "",
        display: "",
        data,
        meta: { duration_ms: 0, truncated: false, undoable: false },
      } as const;
    };
    let pages = 0;
    for await (const _ of pagesOf(call, run, budgetOf(call))) pages += 1;
    expect([pages, asked]).toEqual([3, [10_000, 10_000, 10_000]]);
  });
});

describe("notices are on standard error", () => {
  test.each<[readonly string[], string, RegExp]>([
    [
      ["grep", "needle", "secret"],
      "secret/a.txt:1:needle\n",
      /^\[secret\/\.env not searched: it holds secrets; --secrets searches such files\]\n$/u,
    ],
    [["grep", "needle", "secret", "--jsonl"], "", /^\[.+\]\n$/u],
    [["grep", "needle", "secret", "--color", "always"], "", /^\[.+\]\n$/u],
    [["ls", "empty", "--no-hidden"], "", /^\[empty is empty\]\n$/u],
    [["read", "blank.txt"], "", /^\[blank\.txt is empty\]\n$/u],
    [["read", "many.txt", "--start", "99999"], "", /^\[nothing to print: many\.txt has 12345 lines\]\n$/u],
    [
      ["cat", "secret/a.txt", "secret/.env"],
      "--- secret/a.txt ---\n\nneedle\n",
      /^\[secret\/\.env holds secrets; add --secrets to print it\]\n$/u,
    ],
  ])("of %j", async (args, out, err) => {
    const ran = await at.run(args);
    expect(ran).toMatchObject({ status: 0, err: expect.stringMatching(err) });
    if (out !== "") expect(ran.out).toBe(out);
    expect(ran.out).not.toMatch(/^\[/mu);
  });

  test("-q prints neither", async () => {
    expect(await at.run(["grep", "needle", "secret", "-q"])).toEqual({ status: 0, out: "", err: "" });
  });
});
