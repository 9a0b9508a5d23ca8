/** File tools inside the agent's process: what the table of the preset `adk` does not show. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KINDS, place } from "../tools/harness.ts";

/** A call of every tool that takes paths; `$` stands for the path. */
const CALLS: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ["read_file", { path: "$" }],
  ["write_file", { path: "$", content: "taken" }],
  ["edit_file", { path: "$", old_text: "secret", new_text: "taken" }],
  ["apply_patch", { path: "$", patch: "@@ -1 +1 @@\n-secret\n+taken\n" }],
  ["apply_patch", { patch: "--- a/$\n+++ b/$\n@@ -1 +1 @@\n-secret\n+taken\n", strip: 1 }],
  ["diff", { a: "$", b: "a" }],
  ["diff", { a: "a", b: "$" }],
  ["list_directory", { path: "$" }],
  ["glob", { pattern: "*", path: "$" }],
  ["grep", { pattern: "secret", path: "$" }],
  ["search_code", { query: "secret", path: "$" }],
  ["find_symbol", { name: "secret", path: "$" }],
  ["outline", { path: "$" }],
  ["find_files", { query: "s", path: "$" }],
  ["stat", { path: "$" }],
  ["copy", { source: "$", destination: "n" }],
  ["copy", { source: "a", destination: "$", overwrite: true }],
  ["move", { source: "$", destination: "n" }],
  ["move", { source: "a", destination: "$", overwrite: true }],
  ["delete", { path: "$", recursive: true }],
  ["mkdir", { path: "$/made" }],
];
const WAYS_OUT = ["$O/s", "../out/s", "d/../../out/s", "link/s", "$O/missing", "link/missing/deep"];
const fill = (value: unknown, path: string): unknown =>
  typeof value === "string" ? value.replaceAll("$", () => path) : value;

describe.each(KINDS)("the tools on %s", (kind) => {
  test("read, write, edit, copy, delete, list, look at and search, one after the other", async () => {
    const { ws, text } = await place(kind);
    await ws.writeFile({ path: "d/a", content: "one\n" });
    await ws.editFile({ path: "d/a", old_text: "one", new_text: "two" });
    await ws.copy({ source: "d", destination: "e" });
    await ws.delete({ path: "d", recursive: true });
    expect((await ws.listDirectory({})).entries.map(({ name }) => name)).toEqual(["e"]);
    expect(await ws.stat({ path: "e/a" })).toMatchObject({ type: "file", size: 4 });
    expect((await ws.glob({ pattern: "**/a" })).matches).toEqual(["e/a"]);
    expect((await ws.grep({ pattern: "t.o" })).matches).toMatchObject([{ path: "e/a", line: 1 }]);
    expect((await ws.readFile({ path: "e/a" })).content).toBe("two\n");
    expect([await text("d/a"), await text("e/a")]).toEqual([undefined, "two\n"]);
  });

  test("every tool is in the list, and a method under its own name", async () => {
    const { ws } = await place(kind, { a: "1\n" }, { knows: true });
    const methods = ws as unknown as Record<string, unknown>;
    for (const { name } of ws.tools) {
      expect(typeof methods[name.replace(/_(\w)/gu, (_, letter: string) => letter.toUpperCase())]).toBe(
        "function",
      );
    }
    const read = ws.tools.find(({ name }) => name === "read_file");
    expect((await read?.execute({ path: "a" }))?.data).toEqual(await ws.readFile({ path: "a" }));
  });

  test("every path of every tool is validated, however it is spelled", async () => {
    const p = await place(
      kind,
      { a: "a\n", "d/x": "", "../out/s": "secret\n", link: { link: "$O" } },
      { knows: true },
    );
    const named = new Set(CALLS.flatMap(([tool, args]) => Object.keys(args).map((key) => `${tool}.${key}`)));
    for (const { name, inputSchema } of p.ws.tools) {
      // It tells of files that were read or changed alone.
      if (name === "changes_since") continue;
      for (const key of Object.keys(inputSchema.properties)) {
        if (!["path", "source", "destination", "a", "b"].includes(key)) continue;
        expect(named, "the table has every path argument").toContain(`${name}.${key}`);
      }
    }
    for (const way of WAYS_OUT) {
      const path = way.replace("$O", p.outside);
      for (const [tool, args] of CALLS) {
        const given = Object.fromEntries(
          Object.entries(args).map(([key, value]) => [key, fill(value, path)]),
        );
        const { ok, text, error } = await p.ws.call(tool, given);
        const about = `${tool} ${JSON.stringify(given)}: ${text}`;
        expect(ok, about).toBe(false);
        expect(error?.code, about).toBe("OUTSIDE_ALLOWED");
      }
      const { files, skipped } = await p.ws.readManyFiles({ paths: [path] });
      expect([files, skipped.map(({ code }) => code)], path).toEqual([[], ["OUTSIDE_ALLOWED"]]);
    }
    expect([await p.text("../out/s"), await p.text("../out/missing"), await p.text("a")]).toEqual([
      "secret\n",
      undefined,
      "a\n",
    ]);
  });

  test("a link out is seen through, also for what does not exist yet", async () => {
    const p = await place(kind, { "../out/s": "secret", d: null, "d/link": { link: "$O" } });
    for (const path of ["d/link/new", "d/link/made/new"]) {
      const { error } = await p.ws.call("write_file", { path, content: "x" });
      expect(error?.code).toBe("OUTSIDE_ALLOWED");
    }
    expect([await p.text("../out/new"), await p.text("../out/made/new")]).toEqual([undefined, undefined]);
  });

  test("a directory whose name begins like an allowed one is not inside it", async () => {
    const seed = { "sub/a": "in", "sub2/a": "out", "su/a": "out" };
    const { ws, root } = await place(kind, seed, { access: { read: ["sub"], write: ["sub"] } });
    expect((await ws.readFile({ path: "sub/a" })).content).toBe("in");
    for (const path of ["sub2/a", "su/a", `${root}/sub2/a`, "sub/../sub2/a"]) {
      expect((await ws.call("read_file", { path })).error?.code, path).toBe("OUTSIDE_ALLOWED");
    }
  });

  test("the storage below the tools is behind the same validation", async () => {
    const { ws, outside, text } = await place(kind, {
      "../out/s": "secret",
      link: { link: "$O" },
      "../out/e": null,
    });
    for (const path of [`${outside}/s`, `${(await ws.accessInfo({})).cwd}/link/s`]) {
      const ways: Record<string, () => unknown> = {
        stat: () => ws.fs.stat(path),
        readText: () => ws.fs.readText(path),
        readBytes: () => ws.fs.readBytes(path),
        writeText: () => ws.fs.writeText(path, "taken"),
        writeBytes: () => ws.fs.writeBytes(path, new Uint8Array()),
        delete: () => ws.fs.delete(path),
        mkdir: () => ws.fs.mkdir(`${path}d`),
        listDir: () => ws.fs.listDir(path.slice(0, -2)),
      };
      for (const [name, run] of Object.entries(ways)) {
        await expect((async () => run())(), name).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
      }
      expect(await ws.fs.exists(path)).toBe(false);
    }
    expect(await text("../out/s")).toBe("secret");
  });

  const failures: readonly [string, string, Record<string, unknown>, string, string][] = [
    ["a missing file", "read_file", { path: "d/alpha.tx" }, "NOT_FOUND", "alpha.txt"],
    ["a missing directory", "list_directory", { path: "gone/deep" }, "NOT_FOUND", "gone"],
    ["a directory", "read_file", { path: "d" }, "IS_DIRECTORY", "list_directory"],
    ["a file on the way", "read_file", { path: "d/alpha.txt/x" }, "NOT_DIRECTORY", "list_directory"],
    ["a file", "list_directory", { path: "d/alpha.txt" }, "NOT_DIRECTORY", "read_file"],
    ["links in a ring", "read_file", { path: "ring" }, "LOOP", "ring"],
    ["a long name", "write_file", { path: "n".repeat(300), content: "" }, "NAME_TOO_LONG", "nnn"],
    ["a full directory", "delete", { path: "d" }, "NOT_EMPTY", "recursive"],
    ["a taken destination", "copy", { source: "d", destination: "e" }, "ALREADY_EXISTS", "'e/d'"],
  ];
  test.each(failures)("%s: its own code, the path, a remedy", async (_, tool, args, code, remedy) => {
    const { ws } = await place(kind, { "d/alpha.txt": "x", "e/b": "", ring: { link: "ring" } });
    const { error, text } = await ws.call(tool, args);
    expect(error?.code).toBe(code);
    expect(text).toContain(remedy);
    expect(text).toContain(String(args["path"] ?? args["destination"]).slice(0, 20));
    expect(text).not.toMatch(/ENOENT|EISDIR|ENOTDIR|ELOOP|errno|\n\s+at /u);
  });

  test("an edit leaves every byte that it does not mean: mark, line ends, the missing last one", async () => {
    const { ws, bytes } = await place(kind, { a: "\ufeffone\r\ntwo\r\nthree" });
    await ws.editFile({ path: "a", old_text: "two\nthree", new_text: "2\n3" });
    expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(await bytes("a"))).toBe(
      "\ufeffone\r\n2\r\n3",
    );
  });

  test("several edits give one diff, and the text is that diff and one line", async () => {
    const { ws } = await place(kind, { a: Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join("") });
    const edits = [3, 20, 35].map((at) => ({ old_text: `line ${at}\n`, new_text: `LINE ${at}\n` }));
    const { text, data } = await ws.call("edit_file", { path: "a", edits });
    const { diff } = data as { diff: string };
    expect(diff.match(/^--- a\/a$/gmu)).toHaveLength(1);
    expect(diff.match(/^@@ /gmu)).toHaveLength(3);
    expect(diff.match(/^\+LINE/gmu)).toHaveLength(3);
    const [first = "", ...rest] = text.split("\n");
    expect(first).toBe("Edited a: 3 replacements");
    expect(`${rest.join("\n")}\n`).toBe(diff);
  });

  test("every failure has the same form, and survives JSON", async () => {
    const { ws } = await place(kind, { a: "x\nx\n" });
    const calls: readonly [string, unknown, string][] = [
      ["read_file", { path: "gone" }, "NOT_FOUND"],
      ["read_file", { pat: "a" }, "INVALID_ARGUMENT"],
      ["edit_file", { path: "a", old_text: "x", new_text: "y" }, "MATCH_NOT_UNIQUE"],
      ["write_file", { path: "/elsewhere", content: "" }, "OUTSIDE_ALLOWED"],
      ["grep", { pattern: "(" }, "INVALID_REGEX"],
    ];
    for (const [tool, args, code] of calls) {
      const result = await ws.call(tool, args);
      expect(result).toMatchObject({ ok: false, text: expect.stringMatching(/^Error: ./u) });
      expect(result.error).toMatchObject({ code, message: expect.stringMatching(/./u) });
      for (const key of Object.keys(result.error ?? {})) {
        expect(["code", "message", "path", "hint", "details"]).toContain(key);
      }
      expect(JSON.parse(JSON.stringify(result)).error).toEqual(result.error);
    }
  });

  test("no path made of the usual pieces reaches the outside", async () => {
    const seed = { "a/b": "in\n", "../out/s": "secret\n", link: { link: "$O" }, "a/up": { link: ".." } };
    const { ws, outside, text } = await place(kind, seed);
    const piece = fc.constantFrom(
      ...[
        "..",
        ".",
        "",
        "a",
        "b",
        "link",
        "up",
        "s",
        "out",
        "ws",
        "~",
        "%2e%2e",
        "..\\..",
        "\u2025",
        " ",
        "a\0b",
      ],
      outside,
      `${outside}/s`,
    );
    const paths = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join("/"));
    await fc.assert(
      fc.asyncProperty(paths, async (path) => {
        const read = await ws.call("read_file", { path });
        expect(read.text).not.toContain("secret");
        const found = await ws.call("grep", { pattern: "secret", path });
        expect(found.text).not.toMatch(/:1:secret/u);
        await ws.call("write_file", { path: `${path}/s`, content: "taken" });
        await ws.call("write_file", { path, content: "taken" });
      }),
      { numRuns: 120 },
    );
    expect(await text("../out/s")).toBe("secret\n");
  });
});
