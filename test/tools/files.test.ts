import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

describe.each(KINDS)("write_file on %s", (kind) => {
  test("creates, with parents, and says how much", async () => {
    const { ws, text } = await place(kind);
    const result = await ws.call("write_file", { path: "n/m/a.txt", content: "héé\n" });
    expect(result.text).toBe("Created n/m/a.txt (1 line, 6 bytes)");
    expect(result.data).toMatchObject({
      path: "n/m/a.txt",
      operation: "create",
      bytes_written: 6,
      lines_written: 1,
    });
    expect(await text("n/m/a.txt")).toBe("héé\n");
  });

  test("replaces, and tells the difference", async () => {
    const { ws, text } = await place(kind, { a: "one\ntwo\n" });
    const result = await ws.call("write_file", { path: "a", content: "one\n2\n" });
    expect(result.text).toBe(
      "Updated a (2 lines, 6 bytes)\n[the file shrank from 2 lines, 8 bytes to 2 lines, 6 bytes]",
    );
    expect(result.data?.diff).toContain("-two\n+2\n");
    expect(await text("a")).toBe("one\n2\n");
  });

  const written: readonly [
    name: string,
    args: Record<string, unknown>,
    before: string | undefined,
    after: string,
  ][] = [
    ["appends", { content: "b\n", append: true }, "a\n", "a\nb\n"],
    ["appends to nothing", { content: "b\n", append: true }, undefined, "b\n"],
    ["appends although nothing may be replaced", { content: "b", append: true, overwrite: false }, "a", "ab"],
    ["as it is", { content: "\ufeffa\r\nb" }, undefined, "\ufeffa\r\nb"],
    ["as CRLF, once", { content: "a\nb\r\nc\n", eol: "crlf" }, undefined, "a\r\nb\r\nc\r\n"],
    ["as LF", { content: "a\r\nb\n", eol: "lf" }, undefined, "a\nb\n"],
    ["with the line ends of the file", { content: "x\ny\n", eol: "keep" }, "a\r\nb\r\n", "x\r\ny\r\n"],
    ["nothing at all", { content: "" }, "old", ""],
    ["base64", { content: "aGkK", content_encoding: "base64" }, undefined, "hi\n"],
  ];
  test.each(written)("writes %s", async (_, args, before, after) => {
    const { ws, text } = await place(kind, before === undefined ? {} : { f: before });
    expect(await ws.call("write_file", { path: "f", ...args })).toMatchObject({ ok: true });
    expect(await text("f")).toBe(after);
  });

  test("appends in the file's own encoding", async () => {
    const { ws, bytes } = await place(kind, { f: new Uint8Array([0xff, 0xfe, 0x61, 0]) });
    await ws.writeFile({ path: "f", content: "b", append: true });
    expect(await bytes("f")).toEqual(new Uint8Array([0xff, 0xfe, 0x61, 0, 0x62, 0]));
  });

  test("writes another encoding", async () => {
    const { ws, bytes } = await place(kind);
    await ws.writeFile({ path: "f", content: "é", encoding: "latin1" });
    expect(await bytes("f")).toEqual(new Uint8Array([0xe9]));
  });

  const refused: readonly [name: string, args: Record<string, unknown>, code: string, text: RegExp][] = [
    ["a directory", { path: "d", content: "x" }, "IS_DIRECTORY", /'d'/],
    ["a file as a directory", { path: "f/x", content: "x" }, "NOT_DIRECTORY", /'f\/x'/],
    ["a file with a slash behind it", { path: "f/", content: "x" }, "NOT_DIRECTORY", /'f\/'/],
    ["a new name with a slash behind it", { path: "n/", content: "x" }, "INVALID_ARGUMENT", /ends in '\/'/],
    [
      "an existing file, if nothing may be replaced",
      { path: "f", content: "x", overwrite: false },
      "ALREADY_EXISTS",
      /overwrite: true/,
    ],
    [
      "a missing parent, if none may be made",
      { path: "n/a", content: "x", create_dirs: false },
      "NOT_FOUND",
      /create_dirs/,
    ],
    [
      "outside",
      { path: "../out/x", content: "x" },
      "OUTSIDE_ALLOWED",
      /path '\.\.\/out\/x' is outside the allowed write/,
    ],
    ["half a character", { path: "f", content: "\ud800" }, "ENCODING_ERROR", /encoding.*'?f'?|'f'/],
    [
      "what is no base64",
      { path: "f", content: "%%%", content_encoding: "base64" },
      "INVALID_ARGUMENT",
      /base64/,
    ],
    [
      "a character that the encoding lacks",
      { path: "f", content: "漢", encoding: "latin1" },
      "ENCODING_ERROR",
      /'f'/,
    ],
    ["an unknown encoding", { path: "f", content: "x", encoding: "klingon" }, "INVALID_ARGUMENT", /klingon/],
    [
      "another version than expected",
      { path: "f", content: "x", expected_hash: "0".repeat(64) },
      "CONFLICT",
      /'f'/,
    ],
    [
      "a version of what is not there",
      { path: "n/m", content: "x", expected_hash: "0".repeat(64) },
      "CONFLICT",
      /'n\/m'/,
    ],
    ["an empty path", { path: "", content: "x" }, "INVALID_ARGUMENT", /'path'/],
    ["a NUL in the path", { path: "a\0b", content: "x" }, "INVALID_ARGUMENT", /'path'.*NUL/],
    ["a mode that is none", { path: "f", content: "x", mode: "rw" }, "INVALID_ARGUMENT", /'mode'/],
  ];
  test.each(refused)("refuses %s, and leaves everything as it was", async (_, args, code, words) => {
    const { ws, text } = await place(kind, { f: "old", d: null });
    const before = await ws.listDirectory({ depth: 5 });
    const result = await ws.call("write_file", args as never);
    expect(result.error?.code).toBe(code);
    expect(result.text).toMatch(words);
    expect(await text("f")).toBe("old");
    expect((await ws.listDirectory({ depth: 5 })).total).toBe(before.total);
  });

  test("writes through a link inside, not through one that leads out", async () => {
    const { ws, text, target } = await place(kind, {
      "../out/k": "KEY",
      real: "old",
      inner: { link: "real" },
      outer: { link: "$O/k" },
      fresh: { link: "made" },
    });
    expect(await ws.call("write_file", { path: "inner", content: "new" })).toMatchObject({ ok: true });
    expect(await text("real")).toBe("new");
    expect(await target("inner")).toBe("real");
    expect(await ws.call("write_file", { path: "fresh", content: "x", overwrite: false })).toMatchObject({
      error: { code: "ALREADY_EXISTS" },
    });
    expect(await ws.call("write_file", { path: "fresh", content: "new" })).toMatchObject({
      ok: true,
      data: { operation: "create" },
    });
    expect([await text("made"), await target("fresh")]).toEqual(["new", "made"]);
    expect(await ws.call("write_file", { path: "outer", content: "PWN" })).toMatchObject({
      error: { code: "OUTSIDE_ALLOWED" },
    });
    expect(await text("../out/k")).toBe("KEY");
  });
});

describe.each(KINDS)("copy, move, delete and mkdir on %s", (kind) => {
  const seed = {
    a: "1",
    b: "2",
    "s/x/y": "deep",
    "s/l": { link: "x/y" },
    "../out/k": "KEY",
    "s/out": { link: "$O/k" },
    e: null,
  };

  test("a copy of a tree keeps links as links, and reads nothing through them", async () => {
    const { ws, text, target } = await place(kind, seed);
    const result = await ws.call("copy", { source: "s", destination: "n/d" });
    expect(result).toMatchObject({ ok: true, data: { destination: "n/d", directories: 2 } });
    expect(result.text).toMatch(/^Copied s -> n\/d \(\d files, \d+ bytes\)$/);
    expect(await text("n/d/x/y")).toBe("deep");
    expect(await target("n/d/l")).toBe("x/y");
    expect(await ws.call("read_file", { path: "n/d/out" })).toMatchObject({ ok: false });
  });

  test("a copy of a link is a copy of what it leads to", async () => {
    const { ws, text, target } = await place(kind, seed);
    await ws.copy({ source: "s/l", destination: "c" });
    expect(await text("c")).toBe("deep");
    expect(await target("c")).toBeUndefined();
  });

  test("a move makes parents and takes the source away", async () => {
    const { ws, text } = await place(kind, seed);
    expect((await ws.call("move", { source: "a", destination: "n/m/a" })).text).toBe("Moved a -> n/m/a");
    expect(await text("n/m/a")).toBe("1");
    expect(await text("a")).toBeUndefined();
  });

  const refused: readonly [name: string, tool: string, args: Record<string, unknown>, code: string][] = [
    ["copy onto a file", "copy", { source: "a", destination: "b" }, "ALREADY_EXISTS"],
    ["copy onto itself", "copy", { source: "a", destination: "./a" }, "SAME_FILE"],
    [
      "copy onto itself through a link",
      "copy",
      { source: "s/l", destination: "s/x/y", overwrite: true },
      "SAME_FILE",
    ],
    ["copy into itself", "copy", { source: "s", destination: "s/x/new" }, "INVALID_ARGUMENT"],
    ["copy what is missing", "copy", { source: "zz", destination: "p/q" }, "NOT_FOUND"],
    ["copy from outside", "copy", { source: "../out/k", destination: "c" }, "OUTSIDE_ALLOWED"],
    ["copy to outside", "copy", { source: "a", destination: "../out/c" }, "OUTSIDE_ALLOWED"],
    [
      "copy a file over a directory",
      "copy",
      { source: "a", destination: "e", overwrite: true },
      "IS_DIRECTORY",
    ],
    [
      "copy a directory over a file",
      "copy",
      { source: "s", destination: "a", overwrite: true },
      "NOT_DIRECTORY",
    ],
    [
      "copy without the parents",
      "copy",
      { source: "a", destination: "p/q", create_dirs: false },
      "NOT_FOUND",
    ],
    ["copy through a link that leads out", "copy", { source: "s/out", destination: "c" }, "OUTSIDE_ALLOWED"],
    ["move into itself", "move", { source: "s", destination: "s/x/new" }, "INVALID_ARGUMENT"],
    ["move onto a file", "move", { source: "a", destination: "b" }, "ALREADY_EXISTS"],
    [
      "move a directory over one that holds something",
      "move",
      { source: "e", destination: "s", overwrite: true },
      "NOT_EMPTY",
    ],
    ["move the root", "move", { source: ".", destination: "x" }, "PROTECTED_PATH"],
    ["delete the root", "delete", { path: ".", recursive: true }, "PROTECTED_PATH"],
    ["delete what is missing", "delete", { path: "zz" }, "NOT_FOUND"],
    ["delete a directory that holds something", "delete", { path: "s" }, "NOT_EMPTY"],
    ["delete a file as a directory", "delete", { path: "a/" }, "NOT_DIRECTORY"],
    ["delete outside", "delete", { path: "../out/k" }, "OUTSIDE_ALLOWED"],
    ["make what is there, strictly", "mkdir", { path: "e", exist_ok: false }, "ALREADY_EXISTS"],
    ["make a directory over a file", "mkdir", { path: "a" }, "ALREADY_EXISTS"],
    ["make one without its parents", "mkdir", { path: "p/q", parents: false }, "NOT_FOUND"],
    ["make one below a file", "mkdir", { path: "a/q" }, "NOT_DIRECTORY"],
  ];
  test.each([
    ["move", { source: "s", destination: "t", overwrite: true }, "NOT_EMPTY"],
    ["move", { source: "a", destination: "b" }, "ALREADY_EXISTS"],
    ["copy", { source: "a", destination: "b" }, "ALREADY_EXISTS"],
  ])("names the destination of a %s where that is in the way", async (tool, args, code) => {
    const { ws } = await place(kind, { ...seed, "t/full": "x" });
    const { error, text } = await ws.call(tool, args);
    expect(error).toMatchObject({ code, path: args.destination });
    expect(text).toContain(`'${args.destination}'`);
  });

  test.each(refused)("refuses to %s, and leaves everything as it was", async (_, tool, args, code) => {
    const { ws, text } = await place(kind, seed);
    const before = (await ws.listDirectory({ depth: 5 })).total;
    const result = await ws.call(tool, args);
    expect(result.error?.code).toBe(code);
    expect(result.text.split("\n")[0]!.length).toBeLessThanOrEqual(200 + "Error: ".length);
    expect((await ws.listDirectory({ depth: 5 })).total).toBe(before);
    expect([await text("a"), await text("b"), await text("../out/k")]).toEqual(["1", "2", "KEY"]);
  });

  test("a destination is replaced when that is wanted", async () => {
    const { ws, text } = await place(kind, seed);
    await ws.copy({ source: "a", destination: "b", overwrite: true });
    expect(await text("b")).toBe("1");
    await ws.move({ source: "s", destination: "e", overwrite: true });
    expect(await text("e/x/y")).toBe("deep");
  });

  test("a directory copied over another is merged into it", async () => {
    const { ws, text } = await place(kind, { "s/a": "1", "s/b": "2", "d/b": "old", "d/c": "3" });
    await ws.copy({ source: "s", destination: "d", overwrite: true });
    expect([await text("d/a"), await text("d/b"), await text("d/c")]).toEqual(["1", "2", "3"]);
  });

  test("delete counts what went, and a link goes without its target", async () => {
    const { ws, text } = await place(kind, seed);
    expect(await ws.call("delete", { path: "s/out" })).toMatchObject({
      ok: true,
      text: "Deleted s/out (1 file)",
    });
    expect(await text("../out/k")).toBe("KEY");
    expect(await ws.call("delete", { path: "s", recursive: true })).toMatchObject({
      data: { files: 2, directories: 2 },
    });
    expect(await ws.call("delete", { path: "s", missing_ok: true })).toMatchObject({
      ok: true,
      data: { files: 0 },
    });
  });

  test("mkdir makes parents, and says when there was nothing to do", async () => {
    const { ws } = await place(kind, seed);
    expect(await ws.call("mkdir", { path: "p/q/r" })).toMatchObject({
      text: "Created directory p/q/r",
      data: { created: true },
    });
    expect(await ws.call("mkdir", { path: "p/q" })).toMatchObject({ ok: true, data: { created: false } });
  });
});
