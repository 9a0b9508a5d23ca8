/** `search_code`: the same blocks on every kind of storage, and never an old one. */
import { describe, expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../../js/index.node.ts";
import { minimalBackend } from "../backends/minimal.ts";
import { KINDS, place } from "./harness.ts";

const SESSION = `import { log } from "./log.ts";

/** Opens one. */
export function openSession(token: string) {
  check(token);
}

export function closeSession(reason: string) {
  log("closed", reason);
}
`;

const tree = {
  "auth/session.ts": SESSION,
  "auth/token.ts": 'export function parse(text: string) {\n  return text.split(".");\n}\n',
  "log.ts": "export const log = (...words: string[]) => console.log(words);\n",
  "test/session.test.ts": 'import { closeSession } from "../auth/session.ts";\ncloseSession("reason");\n',
  "docs/guide.md": "# Guide\nA session is closed with a reason.\n",
  ".gitignore": "dist/\n",
  "dist/session.js": 'function closeSession(reason) { log("closed", reason); }\n',
  ".env": "REASON=closed session\n",
  "image.bin": new Uint8Array([0, 1, 2, 0x63, 0x6c, 0x6f, 0x73, 0x65]),
  "../out/session.ts": "export function closeSession() {}\n",
  out: { link: "$O" },
};

/** Returns `path:first-last` of each block. */
const placesOf = (data: { readonly blocks: readonly Block[] } | undefined): readonly string[] =>
  (data?.blocks ?? []).map(({ path, first_line, last_line }) => `${path}:${first_line}-${last_line}`);
interface Block {
  readonly path: string;
  readonly first_line: number;
  readonly last_line: number;
}

describe.each(KINDS)("search_code on %s", (kind) => {
  test("gives the blocks that fit a question, best first", async () => {
    const { ws } = await place(kind, tree);
    const { ok, text, data } = await ws.call("search_code", { query: "why was the session closed" });
    expect(ok, text).toBe(true);
    const places = placesOf(data);
    expect(places[0]).toBe("auth/session.ts:8-10");
    expect(
      /^auth\/session\.ts:8-10 #[0-9a-f]{6}\n8:export function closeSession\(reason: string\) \{\n9: {2}log\("closed"/u.test(
        text,
      ),
    ).toBe(true);
    expect(places.some((one) => /dist|env|out|image/u.test(one))).toBe(false);
  });

  test("gives definitions alone, tests alone, and files of a glob alone", async () => {
    const { ws } = await place(kind, tree);
    const ask = async (args: object) =>
      placesOf((await ws.call("search_code", { query: "closeSession", ...args } as never)).data as never);
    expect(await ask({ kind: "definition" })).toEqual(["auth/session.ts:8-10"]);
    expect((await ask({ kind: "test" })).map((one) => one.split(":")[0])).toEqual(["test/session.test.ts"]);
    expect(await ask({ glob: "*.md" })).toEqual(["docs/guide.md:1-2"]);
    expect(await ask({ path: "auth", query: "parse" })).toEqual(["auth/token.ts:1-3"]);
    const { text } = await ws.call("search_code", { query: "kubernetes" });
    // The file of secrets is told.
    expect(text).toBe("Nothing fits kubernetes\n[1 entry could not be read]");
  });

  test("finds a changed file by its new words and no longer by the old", async () => {
    const { ws, foreign } = await place(kind, tree);
    const files = async (query: string) =>
      placesOf((await ws.call("search_code", { query })).data).map((one) => one.split(":")[0]);
    expect(await files("parse")).toEqual(["auth/token.ts"]);
    for (let round = 0; round < 3; round++) {
      await foreign(
        "auth/token.ts",
        `export function decode${round}() {}\nexport const zebra${round} = 1;\n`,
      );
      expect(await files(`zebra${round}`)).toContain("auth/token.ts");
      expect(await files("parse")).toEqual([]);
    }
  });

  test("is at most as long as asked, and says what it left out", async () => {
    const seed = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [
        `f${at}.py`,
        `def wanted_${at}():\n    return "${"wanted ".repeat(20)}"\n`,
      ]),
    );
    const { ws } = await place(kind, seed);
    const { text, data } = await ws.call("search_code", { query: "wanted", max_tokens: 200 });
    expect(data?.tokens).toBeLessThanOrEqual(200);
    expect(data?.left_out).toBe(9 - (data?.blocks.length ?? 0));
    expect(text.endsWith(`[${data?.left_out} more blocks; a larger max_tokens gives them]`)).toBe(true);
  });

  test("shows nothing of what a rule hides", async () => {
    const rules = [{ tool: "*", path: "auth/**", decision: "deny" }] as const;
    const { ws } = await place(kind, tree, { rules });
    const { data } = await ws.call("search_code", { query: "close session reason" });
    expect(placesOf(data).filter((one) => one.startsWith("auth"))).toEqual([]);
    expect(placesOf(data)).toContain("docs/guide.md:1-2");
  });

  test("counts by the tokenizer of the host, and shows the first block as far as it fits", async () => {
    const lines = Array.from({ length: 9 }, (_, at) => `  wanted(${at}); // ${"wanted ".repeat(9)}\n`);
    const seed = { "f.ts": `export function wanted() {\n${lines.join("")}}\n`, "g.md": "wanted\n" };
    const { ws } = await place(kind, seed, { limits: { tokens: (text) => text.length } });
    const { text, data } = await ws.call("search_code", { query: "wanted", max_tokens: 300 });
    expect(data?.tokens).toBe(text.length);
    expect(text.length).toBeLessThanOrEqual(300);
    expect(data?.blocks.map(({ path }) => path)).toEqual(["f.ts"]);
    expect(data?.blocks[0]?.lines.length).toBeGreaterThan(1);
    expect(data?.blocks[0]?.lines.length).toBeLessThan(10);
    expect(data?.left_out).toBe(1);
    const whole = await ws.call("search_code", { query: "wanted", max_tokens: 5000 });
    expect(whole.data?.blocks[0]?.lines_left_out).toBe(undefined);
    const missing = (whole.data?.blocks[0]?.lines.length ?? 0) - (data?.blocks[0]?.lines.length ?? 0);
    expect(data?.blocks[0]?.lines_left_out).toBe(missing);
    expect(text).toContain(`\n[${missing} lines of this block left out]\n`);
  });

  test("says that lines of the only block are left out, by either limit", async () => {
    const lines = Array.from({ length: 7 }, (_, at) => `  wanted(${at}); // ${"wanted ".repeat(20)}\n`);
    const seed = { "f.ts": `export function wanted() {\n${lines.join("")}}\n` };
    for (const [limits, max_tokens, remedy] of [
      [{}, 200, "a larger max_tokens"],
      [{ outputBytes: 1000 }, 100_000, "a narrower path or glob"],
    ] as const) {
      const { ws } = await place(kind, seed, { limits });
      const { text, data } = await ws.call("search_code", { query: "wanted", max_tokens });
      expect(data?.left_out).toBe(0);
      const missing = 8 - (data?.blocks[0]?.lines.length ?? 0);
      expect(text).toContain(
        `[${missing} lines of this block left out]\n\n[${remedy} gives the lines that are left out]`,
      );
    }
  });

  test("each caller sees by its own access and rules, also in a fork", async () => {
    const { ws } = await place(kind, tree, { access: { deny: ["docs/**"] } });
    const files = async (one: Pick<Workspace, "call">) => {
      const { ok, text, data } = await one.call("search_code", { query: "close session reason" });
      expect(ok, text).toBe(true);
      return new Set(placesOf(data).map((place) => place.split(":")[0]));
    };
    const all = ["auth/session.ts", "test/session.test.ts"];
    const denied = await ws.agent("denied", { access: { deny: ["auth/**"] } });
    const ruled = await ws.agent("ruled", { rules: [{ path: "**/*.test.ts", decision: "deny" }] });
    const asked = await ws.agent("asked", { rules: [{ path: "auth/**", decision: "ask" }] });
    // Every caller twice: none gets what another one has found.
    for (let round = 0; round < 2; round++) {
      expect(await files(ws)).toEqual(new Set(all));
      expect(await files(denied)).toEqual(new Set(["test/session.test.ts"]));
      expect(await files(ruled)).toEqual(new Set(["auth/session.ts"]));
      expect(await files(asked)).toEqual(new Set(["test/session.test.ts"]));
    }
    const fork = await ws.fork();
    await fork.call("write_file", { path: "auth/new.ts", content: "// a session is closed for a reason\n" });
    expect(await files(fork)).toEqual(new Set([...all, "auth/new.ts"]));
    expect(await files(await fork.agent("b", { access: { deny: ["auth/**"] } }))).toEqual(
      new Set(["test/session.test.ts"]),
    );
    expect(await files(ws)).toEqual(new Set(all));
  });

  test("tells of texts that are too large, with the first and the remedy", async () => {
    const large = `-- wanted\n${"insert into t values (1);\n".repeat(50_000)}`;
    const { ws } = await place(kind, {
      "dump.sql": large,
      "small.ts": "wanted();\n",
      "large.bin": new Uint8Array(2 << 20),
    });
    // The second query knows the file without reading it.
    for (let round = 0; round < 2; round++) {
      const { text, data } = await ws.call("search_code", { query: "wanted" });
      expect(text).toMatch(/\[dump\.sql not searched: over 1 MiB; grep searches it\]$/u);
      expect(placesOf(data)).toEqual(["small.ts:1-1"]);
    }
  });

  test("names the first of many texts that are too large, wherever it is", async () => {
    const large = "insert into t values (1);\n".repeat(50_000);
    const small = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`a/${at}.ts`, "wanted();\n"]));
    const { ws } = await place(kind, { ...small, "b/dump.sql": large, "b-a.sql": large });
    for (let round = 0; round < 2; round++) {
      const { text } = await ws.call("search_code", { query: "wanted" });
      expect(text).toContain("[2 entries not searched (b-a.sql: over 1 MiB); grep searches them]");
    }
  });

  test("finds a word that is only in the path of a file, after those with it in the text", async () => {
    const { ws } = await place(kind, {
      "billing/refund.ts": "\nexport const rate = 1;\n",
      "a.ts": "export const x = billing;\n",
    });
    const refund = await ws.call("search_code", { query: "refund" });
    expect(placesOf(refund.data)).toEqual(["billing/refund.ts:2-2"]);
    const billing = await ws.call("search_code", { query: "billing" });
    expect(new Set(placesOf(billing.data))).toEqual(new Set(["a.ts:1-1", "billing/refund.ts:2-2"]));
  });

  test("blocks that the caller has come back as one line, until they change", async () => {
    const { ws, foreign } = await place(kind, tree);
    const query = { query: "why was the session closed", limit: 2 };
    const first = await ws.call("search_code", query);
    const [best] = first.data?.blocks ?? [];
    const again = await ws.call("search_code", { ...query, known: [best?.hash as string] });
    expect(again.text.split("\n").slice(0, 2)).toEqual([`auth/session.ts:8-10 #${best?.hash} (known)`, ""]);
    expect(again.data?.blocks[0]).toEqual({ ...best, known: true, lines: [] });
    expect(again.data?.blocks[1]).toEqual(first.data?.blocks[1]);
    await foreign("auth/session.ts", SESSION.replace('log("closed"', 'log("session closed"'));
    const changed = await ws.call("search_code", { ...query, known: [best?.hash as string] });
    expect(changed.data?.blocks[0]?.known).toBe(false);
    expect(changed.data?.blocks[0]?.lines.length).toBeGreaterThan(1);
    const { ok, error } = await ws.call("search_code", { ...query, known: ["xyz"] });
    expect([ok, error?.code]).toEqual([false, "INVALID_ARGUMENT"]);
  });

  test("a larger max_tokens is no remedy where the size of an answer is the limit", async () => {
    const seed = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [
        `f${at}.py`,
        `def wanted_${at}():\n    return "${"wanted ".repeat(20)}"\n`,
      ]),
    );
    const { ws } = await place(kind, seed, { limits: { outputBytes: 1000 } });
    const { text, data } = await ws.call("search_code", { query: "wanted", max_tokens: 100_000 });
    expect(data?.left_out).toBeGreaterThan(0);
    expect(text).toContain(`[${data?.left_out} more blocks; a narrower path or glob gives them]`);
  });

  test("answers with what it has when its time is up", async () => {
    const seed = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [
        `d${at % 20}/f${at}.py`,
        `def wanted_${at}():\n${"    wanted(1)\n".repeat(800)}`,
      ]),
    );
    const { ws } = await place(kind, seed);
    const { ok, text, data } = await ws.call("search_code", { query: "wanted", timeout_ms: 1 });
    expect(ok, text).toBe(true);
    if (data?.complete === false)
      expect(text).toContain(
        "[the time was up before every file was searched; a larger timeout_ms searches all]",
      );
  });

  test("refuses a query without a word", async () => {
    const { ws } = await place(kind, tree);
    const { ok, error } = await ws.call("search_code", { query: "?!" });
    expect([ok, error?.code]).toEqual([false, "INVALID_ARGUMENT"]);
  });
});

test("the answer is the same on every kind of storage", async () => {
  const answers = await Promise.all(
    KINDS.map(async (kind) => {
      const { ws } = await place(kind, tree);
      return Promise.all(
        ["session reason", "log", "parse text", "closeSession"].map(
          async (query) => (await ws.call("search_code", { query })).text,
        ),
      );
    }),
  );
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});

test("models are offered the tool with any list, and what else knows the repository where the host wants it", async () => {
  const { ws } = await place("memory", tree);
  const known = ["search_code", "find_symbol", "outline", "changes_since", "find_files"];
  const offered = ({ tools }: Pick<typeof ws, "tools">): readonly string[] =>
    known.filter((name) => tools.some((tool) => tool.name === name));
  expect(offered(ws)).toEqual(["search_code"]);
  expect(offered((await place("memory", tree, { knows: true })).ws)).toEqual(known);
});

describe("search_code while a file of a host's backend changes", () => {
  /** Returns the blocks that are found while each of the first `changes` reads of a file is followed by another content. */
  const blocksWhile = async (changes: number) => {
    const backend = minimalBackend({ "/w/a.ts": "export function parseToken() {}\n" });
    let reads = 0;
    const readBytes = async (path: string): Promise<Uint8Array> => {
      const bytes = await backend.readBytes(path);
      reads += 1;
      if (reads <= changes)
        await backend.writeText("/w/a.ts", `// ${reads}\nexport function parseToken() {}\n`);
      return bytes;
    };
    await using ws = await openWorkspace({ backend: { ...backend, readBytes }, root: "/w" });
    const { text, data } = await ws.call("search_code", { query: "parseToken" });
    return { text, data, reads };
  };

  test("ranks it again as it is now", async () => {
    const { text } = await blocksWhile(1);
    expect(text).toContain("2:export function parseToken");
  });

  test("gives up on one that changes after each read", async () => {
    const { data, reads } = await blocksWhile(Number.POSITIVE_INFINITY);
    expect(data?.blocks).toEqual([]);
    expect(reads).toBe(6);
  });
});
