/** Names and contents of many files, as the reference tools of 002 give them. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const HOUR = 3_600_000;

describe("the order of glob", () => {
  /** Files by the hours since they were changed. */
  async function aged(ages: Readonly<Record<string, number>>) {
    let clock = 0;
    const backend = new MemoryBackend({ "/w": { type: "dir" } }, { now: () => clock });
    const started = Date.now();
    for (const [name, hours] of Object.entries(ages)) {
      clock = started - hours * HOUR;
      await backend.writeText(`/w/${name}`, "");
    }
    clock = started;
    return backend;
  }
  const AGES = { "old-b.ts": 30, "old-a.ts": 90, "z-new.ts": 1, "m-new.ts": 20, "a-new.ts": 5 };

  test("what changed within a day comes first, the newest first, then the others by path", async () => {
    await using ws = await openWorkspace({ backend: await aged(AGES), root: "/w", preset: "gemini" });
    const { text } = await ws.call("glob", { pattern: "*.ts" });
    expect(text.split("\n")).toEqual(["z-new.ts", "a-new.ts", "m-new.ts", "old-a.ts", "old-b.ts"]);
  });

  test("how long a file counts as new is a choice", async () => {
    await using ws = await openWorkspace({ backend: await aged(AGES), root: "/w" });
    const glob = (recency_ms: number) => ws.glob({ pattern: "*.ts", sort: "recent", recency_ms });
    expect((await glob(6 * HOUR)).matches).toEqual([
      "z-new.ts",
      "a-new.ts",
      "m-new.ts",
      "old-a.ts",
      "old-b.ts",
    ]);
    expect((await glob(31 * HOUR)).matches.slice(-2)).toEqual(["old-b.ts", "old-a.ts"]);
  });
});

describe.each(KINDS)("many files on %s", (kind) => {
  const DIRECTORIES =
    "node_modules .git .vscode .idea dist build coverage __pycache__ deep/node_modules".split(" ");
  const EXTENSIONS =
    "pyc pyo bin exe dll so dylib class jar war zip tar gz bz2 rar 7z doc docx xls xlsx ppt pptx odt ods odp".split(
      " ",
    );
  const LEFT_OUT = [
    ...DIRECTORIES.map((name) => `${name}/x.txt`),
    ...EXTENSIONS.map((extension) => `a.${extension}`),
    ".DS_Store",
    "deep/.env",
  ];
  const seed = Object.fromEntries([...LEFT_OUT, "kept.txt", "deep/kept.md"].map((path) => [path, "x\n"]));

  test("directories of tools, built files, archives, office files and .env are left out", async () => {
    const { ws } = await place(kind, seed, { preset: "gemini" });
    const read = async (more: object) => {
      const { data } = await ws.call("read_many_files", { paths: ["**/*"], ...more });
      return (data as unknown as { files: { path: string }[] }).files.map(({ path }) => path);
    };
    expect(await read({})).toEqual(["deep/kept.md", "kept.txt"]);
    const all = await read({ useDefaultExcludes: false });
    for (const extension of EXTENSIONS) expect(all).toContain(`a.${extension}`);
  });

  test("each file that was left out is told with its reason, and all of them are counted", async () => {
    const { ws, outside } = await place(
      kind,
      { "a.txt": "1\n", "b.bin2": Uint8Array.of(0, 1, 2, 0), "../out/s": "secret", d: null },
      { preset: "gemini" },
    );
    const { data, text } = await ws.call("read_many_files", {
      paths: ["a.txt", "b.bin2", "gone.txt", `${outside}/s`],
    });
    const { files, skipped } = data as unknown as {
      files: { path: string }[];
      skipped: { path: string; reason: string; code: string }[];
    };
    expect(files.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(skipped.map(({ path, code }) => [path, code])).toEqual([
      ["gone.txt", "NOT_FOUND"],
      [`${outside}/s`, "OUTSIDE_ALLOWED"],
      ["b.bin2", "BINARY_FILE"],
    ]);
    for (const { path, reason } of skipped) {
      expect(reason).not.toBe("");
      expect(text).toContain(`- ${path}: ${reason}`);
    }
    expect(text).toContain("Skipped 3:");
  });
});
