/**
 * What a developer is told who gives an adapter something else than an open workspace, such as the promise of one: words,
 * never an error of the JavaScript engine.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FilewrightError, MemoryBackend, openWorkspace, toolsFor } from "../../js/index.node.ts";
import { resolveMentions } from "../../js/workspace/index.node.ts";

type Entry = (...args: readonly unknown[]) => unknown;

const root = new URL("../../", import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  readonly exports: Readonly<Record<string, { readonly default?: string }>>;
};

/** Functions of adapters that take no workspace. */
const OTHERS: readonly string[] = [
  "toAmplifierHooks",
  "toAnthropicContent",
  "toGeminiContent",
  "toMcpContent",
  "toOpenAIChatContent",
  "toOpenAIContent",
  "toTinyAgentHooks",
];

/** All functions of the adapters that make something of a workspace. */
async function entriesOfAdapters(): Promise<readonly (readonly [string, Entry])[]> {
  const files = Object.values(exports).flatMap(({ default: file = "" }) =>
    file.startsWith("./dist/adapters/") ? [file.replace("./dist/", "js/").replace(/\.js$/u, ".ts")] : [],
  );
  const modules = await Promise.all(
    files.map((file) => import(new URL(file, root).href) as Promise<Readonly<Record<string, unknown>>>),
  );
  return modules
    .flatMap((module) => Object.entries(module))
    .filter(([name]) => /^to[A-Z]/u.test(name) && !OTHERS.includes(name)) as unknown as [string, Entry][];
}

const ENTRIES: readonly (readonly [string, Entry])[] = [
  ...(await entriesOfAdapters()),
  ["toolsFor", toolsFor as Entry],
  ["resolveMentions", resolveMentions as Entry],
];

/** Values in the place of a workspace, with what is said of each. */
const MISTAKES: readonly (readonly [name: string, given: readonly unknown[], said: RegExp])[] = [
  ["nothing", [], /no workspace was given/u],
  ["undefined", [undefined], /no workspace was given/u],
  ["null", [null], /got null/u],
  ["a promise", [openWorkspace({ backend: new MemoryBackend(), root: "/" })], /got a promise.*await/u],
  ["a directory", ["/repo"], /got a string/u],
  ["options", [{ root: "/repo" }], /no workspace/u],
  ["a URL", [new URL("file:///repo")], /class URL/u],
  ["a backend", [new MemoryBackend()], /class MemoryBackend/u],
  ["a function", [openWorkspace], /got a function/u],
];

test("the adapters have functions of a workspace", () => {
  expect(ENTRIES.length).toBeGreaterThan(18);
});

describe.each(ENTRIES)("%s", (name, entry) => {
  test.each(MISTAKES)("says in words what is wrong with %s", async (_what, given, said) => {
    const run = async (): Promise<unknown> => entry(...given);
    const error = await run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(FilewrightError);
    const { code, message } = error as FilewrightError;
    expect(code).toBe("INVALID_ARGUMENT");
    expect(message).toMatch(said);
    expect(message).toContain(`await openWorkspace("/repo"); ${name}(ws)`);
  });

  test("says in words when it misses an argument behind the workspace", async () => {
    const ws = await openWorkspace({ backend: new MemoryBackend(), root: "/" });
    const error = await Promise.resolve()
      .then(() => entry(ws))
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    if (error !== undefined)
      expect(error).toMatchObject({ name: "FilewrightError", code: "INVALID_ARGUMENT" });
    await ws.close();
  });
});
