/** Commands with several paths: what is found in all of them, what is left out, and what fails. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({
    "a/x.txt": "one\ntwo\none\n",
    "b/y.txt": "one\n",
    "c/z.txt": "three\n",
    "it's.txt": Array.from({ length: 9 }, (_, index) => `line ${index + 1}\n`).join(""),
  });
});
afterAll(() => at.remove());

interface SearchOutput {
  readonly ok: boolean;
  readonly data: {
    readonly total_matches: number;
    readonly files_searched: number;
    readonly truncated: boolean;
    readonly complete: boolean;
    readonly incomplete_reason?: string;
    readonly matches?: readonly { readonly path: string }[];
    readonly counts?: readonly object[];
  };
}
const found = async (...args: readonly string[]): Promise<SearchOutput["data"]> =>
  (JSON.parse((await at.run([...args, "--json"])).out) as SearchOutput).data;

describe("grep", () => {
  test("searches all of them as one search", async () => {
    const { out, status } = await at.run(["grep", "one", "b", "a", "c"]);
    expect([out, status]).toEqual(["b/y.txt:1:one\na/x.txt:1:one\na/x.txt:3:one\n", 0]);
    expect(await found("grep", "one", "a", "b", "c")).toMatchObject({
      total_matches: 3,
      files_searched: 3,
      truncated: false,
      complete: true,
    });
    expect((await found("grep", "one", "a", "b", "-c")).counts).toEqual([
      { path: "a/x.txt", count: 2 },
      { path: "b/y.txt", count: 1 },
    ]);
  });

  test.each<[string, string, readonly string[], number, boolean]>([
    ["within the first", "1", ["a", "b"], 1, true],
    ["at the end of the first, with more in another", "2", ["a", "c", "b"], 2, true],
    ["at the end of the first, with nothing in the others", "2", ["a", "c"], 2, false],
    ["beyond the last", "3", ["a", "b"], 3, false],
    ["within the last", "2", ["b", "a"], 2, true],
  ])("has one limit, reached %s", async (_, limit, paths, shown, truncated) => {
    const data = await found("grep", "one", ...paths, "-m", limit);
    expect([data.matches?.length, data.truncated, data.complete]).toEqual([shown, truncated, !truncated]);
    const { out, err } = await at.run(["grep", "one", ...paths, "-m", limit]);
    expect([out.trim().split("\n").length, err]).toEqual([shown, ""]);
  });

  test("finds nothing in any of them with 1, and tells how many files that were", async () => {
    const { out, err, status } = await at.run(["grep", "absent", "a", "b"]);
    expect([out, err, status]).toEqual(["", "No matches for 'absent' in 2 files\n", 1]);
  });

  test("prints what it found beside a path that is missing, and ends with 2", async () => {
    const { out, err, status } = await at.run(["grep", "one", "nowhere", "b"]);
    expect([out, status]).toEqual(["b/y.txt:1:one\n", 2]);
    expect(err).toContain("'nowhere' does not exist");
    expect((await at.run(["grep", "-q", "one", "nowhere", "b"])).status).toBe(0);
    expect((await at.run(["grep", "-q", "absent", "nowhere", "b"])).status).toBe(2);
    const none = await at.run(["grep", "one", "nowhere", "nothing", "--json"]);
    expect([JSON.parse(none.out).ok, none.status]).toEqual([false, 2]);
    expect(none.err).toContain("'nothing' does not exist");
  });

  test("ranks the results of one path alone", async () => {
    const { err, status } = await at.run(["grep", "one", "a", "b", "--rank", "recent"]);
    expect([err, status]).toEqual(["filewright: --rank goes with one path\n", 2]);
  });
});

describe("ls", () => {
  test("lists each below its name", async () => {
    const { out, status } = await at.run(["ls", "a", "b"]);
    expect([out, status]).toEqual(["a:\n[FILE] x.txt\n\nb:\n[FILE] y.txt\n", 0]);
  });

  test("lists the others beside one that is missing, and ends with 2", async () => {
    const { out, err, status } = await at.run(["ls", "nowhere", "b"]);
    expect([out, status]).toEqual(["b:\n[FILE] y.txt\n", 2]);
    expect(err).toContain("'nowhere' does not exist");
  });

  test("gives a list of results as JSON, and entry after entry as lines", async () => {
    const { out } = await at.run(["ls", "a", "b", "--json"]);
    expect((JSON.parse(out) as { data: { path: string } }[]).map(({ data }) => data.path)).toEqual([
      "a",
      "b",
    ]);
    const { out: lines } = await at.run(["ls", "a", "b", "--jsonl"]);
    const rows = lines.trim().split("\n");
    expect(rows.map((line) => (JSON.parse(line) as { path?: string }).path)).toEqual(["a/x.txt", "b/y.txt"]);
  });
});

describe("read", () => {
  test("prints several files as cat does", async () => {
    const cat = await at.run(["cat", "a/x.txt", "b/y.txt"]);
    expect(cat.out).toContain("b/y.txt");
    expect(await at.run(["read", "a/x.txt", "b/y.txt"])).toEqual(cat);
  });

  test("takes the options of a page with one file alone", async () => {
    const { err, status } = await at.run(["read", "a/x.txt", "b/y.txt", "--limit", "1"]);
    expect([err, status]).toEqual(["filewright: --lines goes with one path\n", 2]);
  });
});
