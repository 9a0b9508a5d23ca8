/** `@mentions` in prompts. */
import { describe, expect, test } from "vitest";
import { resolveMentions } from "../../js/index.node.ts";
import { place } from "../tools/harness.ts";

const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (c) => c.charCodeAt(0),
);
const SEED = { "a.ts": "one\n", "d/b.md": "two\n", "my file": "three\n", "s.png": PNG, "../out/secret": "s" };

describe("mentions", () => {
  test.each([
    ["none", "mail me at ada@example.org, or not", []],
    ["one", "look at @a.ts", ["a.ts"]],
    ["several, each once", "@a.ts and (@d/b.md), then @a.ts again", ["a.ts", "d/b.md"]],
    ["behind a sentence", "Is it in @a.ts? No, in @d/b.md.", ["a.ts", "d/b.md"]],
    ["quoted", 'read @"my file" now', ["my file"]],
  ])("%s", async (_title, prompt, paths) => {
    const { ws } = await place("memory", SEED);
    const { mentions, text } = await resolveMentions(ws, prompt);
    expect(mentions.map(({ path, ok }) => [path, ok])).toEqual(paths.map((path) => [path, true]));
    expect(text.startsWith(prompt)).toBe(true);
    for (const path of paths) expect(text).toContain(`${path}${path === "my file" ? '"' : ""} ---\n\n1\t`);
  });

  test("a directory is listed, an image comes as a block", async () => {
    const { ws } = await place("memory", SEED);
    const { mentions, content } = await resolveMentions(ws, "@d and @s.png");
    expect(mentions[0]?.text).toBe("[FILE] b.md");
    expect(content).toHaveLength(1);
    expect(content[0]).toMatchObject({ type: "image", source: { media_type: "image/png" } });
  });

  test("what is not there, or out of bounds, is told in the same words", async () => {
    const { ws, outside } = await place("memory", SEED);
    const { mentions } = await resolveMentions(ws, `@gone @${outside}/secret @${outside}/gone`);
    expect(mentions.map(({ ok, text }) => [ok, text])).toEqual([
      [false, "@mention not found: @gone"],
      [false, `@mention not found: @${outside}/secret`],
      [false, `@mention not found: @${outside}/gone`],
    ]);
  });

  test("resolvers decide where a mention leads, the first that knows wins", async () => {
    const { ws } = await place("memory", SEED);
    const resolvers = [
      (name: string) => (name.startsWith("docs:") ? `d/${name.slice(5)}` : undefined),
      async (name: string) => (name === "nobody" ? null : undefined),
    ];
    const { mentions } = await resolveMentions(ws, "@docs:b.md @nobody @a.ts", { resolvers });
    expect(mentions.map(({ mention, path, ok }) => [mention, path, ok])).toEqual([
      ["@docs:b.md", "d/b.md", true],
      ["@nobody", "nobody", false],
      ["@a.ts", "a.ts", true],
    ]);
  });

  test("whatever preset the workspace speaks", async () => {
    const { ws } = await place("memory", SEED, { preset: "codex" });
    expect((await resolveMentions(ws, "@a.ts")).mentions[0]?.text).toBe("1\tone");
  });

  test("hooks see the reads", async () => {
    const seen: unknown[] = [];
    const { ws } = await place("memory", SEED, {
      hooks: [{ stage: "before", tool: "read_file", run: ({ args }) => void seen.push(args["path"]) }],
    });
    await resolveMentions(ws, "@a.ts");
    expect(seen).toEqual(["a.ts"]);
  });
});
