/** Ignore files by name: those a workspace minds, and the one that Gemini's presets add. */
import { describe, expect, test } from "vitest";
import { type Kind, KINDS, place } from "../tools/harness.ts";

const SEED = {
  ".gitignore": "*.git.ts\n",
  ".geminiignore": "*.own.ts\n",
  ".mineignore": "*.mine.ts\n",
  "a.ts": "x\n",
  "a.git.ts": "x\n",
  "a.own.ts": "x\n",
  "a.mine.ts": "x\n",
};
const paths = (data: unknown): readonly string[] => {
  const { matches = [], files = [] } = data as {
    readonly matches?: readonly (string | { readonly path: string })[];
    readonly files?: readonly { readonly path: string }[];
  };
  return [...matches, ...files].map((one) => (typeof one === "string" ? one : one.path)).sort();
};

describe.each(KINDS)("on %s", (kind: Kind) => {
  const cases: readonly [
    string,
    "gemini" | "gemini-cli",
    string,
    Record<string, unknown>,
    readonly string[],
  ][] = [
    ["a search", "gemini", "search_file_content", { pattern: "x", include: "*.ts" }, ["a.mine.ts", "a.ts"]],
    ["names", "gemini", "glob", { pattern: "*.ts" }, ["a.mine.ts", "a.ts"]],
    [
      "names, git aside",
      "gemini",
      "glob",
      { pattern: "*.ts", respect_git_ignore: false },
      ["a.git.ts", "a.mine.ts", "a.ts"],
    ],
    ["many files", "gemini", "read_many_files", { paths: ["*.ts"] }, ["a.mine.ts", "a.ts"]],
    [
      "many files, its own aside",
      "gemini",
      "read_many_files",
      { paths: ["*.ts"], file_filtering_options: { respect_gemini_ignore: false } },
      ["a.mine.ts", "a.own.ts", "a.ts"],
    ],
    ["by name", "gemini", "read_many_files", { paths: ["a.own.ts"] }, ["a.own.ts"]],
    [
      "a search today",
      "gemini-cli",
      "grep_search",
      { pattern: "x", include_pattern: "*.ts" },
      ["a.mine.ts", "a.ts"],
    ],
    [
      "a search today, of everything",
      "gemini-cli",
      "grep_search",
      { pattern: "x", include_pattern: "*.ts", no_ignore: true },
      ["a.git.ts", "a.mine.ts", "a.own.ts", "a.ts"],
    ],
    ["names today", "gemini-cli", "glob", { pattern: "*.ts" }, ["a.mine.ts", "a.ts"]],
    [
      "names today, none minded",
      "gemini-cli",
      "glob",
      { pattern: "*.ts", respect_git_ignore: false, respect_gemini_ignore: false },
      ["a.git.ts", "a.mine.ts", "a.own.ts", "a.ts"],
    ],
  ];
  test.each(cases)("%s minds .geminiignore (%s)", async (_, preset, tool, args, expected) => {
    const { ws } = await place(kind, SEED, { preset });
    const { data, text } = await ws.call(tool, args);
    expect(paths(data), text).toEqual(expected);
  });

  test("our own tools leave .geminiignore alone, unless the workspace names it", async () => {
    const plain = await place(kind, SEED);
    expect((await plain.ws.glob({ pattern: "*.ts" })).matches).toEqual(["a.mine.ts", "a.own.ts", "a.ts"]);
    const named = await place(kind, SEED, { ignoreFiles: [".gitignore", ".mineignore"] });
    expect((await named.ws.glob({ pattern: "*.ts" })).matches).toEqual(["a.own.ts", "a.ts"]);
    expect((await named.ws.grep({ pattern: "x", glob: "*.ts", output: "files" })).files).toEqual([
      "a.own.ts",
      "a.ts",
    ]);
    expect(
      (await named.ws.listDirectory({ respect_ignore: true })).entries.map(({ name }) => name),
    ).not.toContain("a.mine.ts");
  });

  test.each([[["a/b"]], [[""]], [[".ignore", ".gitignore"]]])("refuses the names %j", async (ignoreFiles) => {
    await expect(place(kind, {}, { ignoreFiles })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
