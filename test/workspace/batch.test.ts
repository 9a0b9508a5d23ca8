/** `batch`: several calls as one, on memory and on the disk. */
import { describe, expect, test } from "vitest";
import type { Confirmation, ToolResult } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const write = (path: string, content: string) => ({ tool: "write_file", args: { path, content } });
const edit = (path: string, old_text: string, new_text: string) => ({
  tool: "edit_file",
  args: { path, old_text, new_text },
});

function failed(result: ToolResult): { code: string; index: unknown; message: string; rolledBack: unknown } {
  if (result.ok) throw new Error(`it succeeded: ${result.text}`);
  const { code, details, message } = result.error;
  return { code, index: details?.["index"], message, rolledBack: details?.["rolled_back"] };
}

describe.each(KINDS)("batch on %s", (kind) => {
  test("says of each operation who changed it", async () => {
    const hook = {
      stage: "before" as const,
      tool: "write_file",
      run: () => ({ modified_args: { content: "h" } }),
    };
    const confirm = ({ changes }: Confirmation) => {
      const path = changes.find(({ display }) => display === "b")?.path ?? "";
      const payload = { contents: [{ path, content: "r" }], final: true };
      return { outcome: "modify_with_editor" as const, payload };
    };
    const { ws, text } = await place(kind, { b: "1" }, { hooks: [hook], confirm });
    const operations = [write("a", "x"), edit("b", "1", "2"), edit("a", "h", "i")];
    const result = await ws.call("batch", { operations });
    expect(result.data?.results.map(({ modified_by }) => modified_by)).toEqual([
      "hook",
      "reviewer",
      undefined,
    ]);
    expect(result.text).toMatch(
      /^1\. .*\[modified by a hook\]\n2\. .*\[modified by the reviewer\]\n[\s\S]*\n3\. [^[]*$/,
    );
    expect([await text("a"), await text("b")]).toEqual(["i", "r"]);
  });

  test("all operations apply, later ones on the results of earlier ones", async () => {
    const { ws, text } = await place(kind, { a: "1", b: "2" });
    const result = await ws.call("batch", {
      operations: [
        write("new/c", "3"),
        edit("new/c", "3", "4"),
        { tool: "move", args: { source: "new/c", destination: "d" } },
        { tool: "copy", args: { source: "d", destination: "e" } },
        { tool: "read_file", args: { path: "e", line_numbers: "none" } },
        { tool: "delete", args: { path: "b" } },
        edit("a", "1", "9"),
      ],
    });
    expect(result.ok, result.text).toBe(true);
    expect(result.data).toMatchObject({ applied: true, rolled_back: false });
    expect(result.data?.results.map(({ ok }) => ok)).toEqual([true, true, true, true, true, true, true]);
    expect(result.data?.results[4]).toMatchObject({ tool: "read_file", text: "4", data: { content: "4" } });
    expect(result.text.split("\n")).toHaveLength(7);
    expect([await text("a"), await text("b"), await text("new/c"), await text("d"), await text("e")]).toEqual(
      ["9", undefined, undefined, "4", "4"],
    );
  });

  const refusals: Record<string, { operations: unknown[]; code: string; index: number }> = {
    "an edit that does not fit": {
      operations: [write("n", "x"), edit("a", "no such", "y")],
      code: "MATCH_NOT_FOUND",
      index: 1,
    },
    "a tool that does not exist": {
      operations: [write("n", "x"), { tool: "wrte_file", args: {} }],
      code: "UNKNOWN_TOOL",
      index: 1,
    },
    "arguments that make no sense": {
      operations: [write("n", "x"), { tool: "write_file", args: { path: "m" } }],
      code: "INVALID_ARGUMENT",
      index: 1,
    },
    "a batch in a batch": {
      operations: [{ tool: "batch", args: { operations: [write("n", "x")] } }],
      code: "INVALID_ARGUMENT",
      index: 0,
    },
    "a path outside": {
      operations: [write("n", "x"), write("m", "y"), write("../out/x", "z")],
      code: "OUTSIDE_ALLOWED",
      index: 2,
    },
    "a file that an earlier operation took away": {
      operations: [{ tool: "delete", args: { path: "a" } }, edit("a", "1", "2")],
      code: "NOT_FOUND",
      index: 1,
    },
    "a destination that an earlier operation made": {
      operations: [write("n", "x"), { tool: "move", args: { source: "a", destination: "n" } }],
      code: "ALREADY_EXISTS",
      index: 1,
    },
    "a read that fails": {
      operations: [write("n", "x"), { tool: "read_file", args: { path: "missing" } }],
      code: "NOT_FOUND",
      index: 1,
    },
    "a directory that is not empty": {
      operations: [write("d/x", "1"), { tool: "delete", args: { path: "d" } }],
      code: "NOT_EMPTY",
      index: 1,
    },
    "a hash that is not the file's": {
      operations: [
        write("n", "x"),
        { tool: "write_file", args: { path: "a", content: "y", expected_hash: "0".repeat(64) } },
      ],
      code: "CONFLICT",
      index: 1,
    },
  };
  test.each(Object.entries(refusals))("%s changes nothing", async (_name, { operations, code, index }) => {
    const { ws, text } = await place(kind, { a: "1" });
    const result = await ws.call("batch", { operations });
    expect(failed(result)).toMatchObject({ code, index, rolledBack: true });
    expect(result.text.split("\n")[0]?.length).toBeLessThanOrEqual(207);
    expect([await text("a"), await text("n"), await text("d/x"), await text("m")]).toEqual([
      "1",
      undefined,
      undefined,
      undefined,
    ]);
    expect((await ws.listDirectory({ path: "." })).entries).toHaveLength(1);
  });

  test.each([
    ["none", []],
    ["more than a hundred", Array.from({ length: 101 }, (_, at) => write(`f${at}`, "x"))],
  ])("%s operations are INVALID_ARGUMENT", async (_name, operations) => {
    const { ws } = await place(kind);
    const result = await ws.call("batch", { operations });
    expect(result.ok).toBe(false);
    expect(result.error?.code).toBe("INVALID_ARGUMENT");
    expect(result.error?.message).toContain("operations");
  });

  test("a hundred operations are one change", async () => {
    const { ws, text } = await place(kind);
    const operations = Array.from({ length: 100 }, (_, at) => write(`f${at}`, `${at}`));
    expect((await ws.call("batch", { operations })).ok).toBe(true);
    expect(await text("f99")).toBe("99");
    expect(await ws.history()).toHaveLength(1);
  });

  test("a dry run tells what would happen, and writes nothing", async () => {
    const { ws, text } = await place(kind, { a: "1\n", "d/x": "x", "d/y/z": "z" });
    const result = await ws.call("batch", {
      dry_run: true,
      operations: [
        edit("a", "1", "2"),
        { tool: "copy", args: { source: "d", destination: "e" } },
        { tool: "delete", args: { path: "d", recursive: true } },
        { tool: "list_directory", args: { path: "e", depth: 2 } },
        { tool: "grep", args: { pattern: "2" } },
        { tool: "mkdir", args: { path: "q/r" } },
        { tool: "stat", args: { path: "q/r" } },
      ],
    });
    expect(result.ok, result.text).toBe(true);
    expect(result.data).toMatchObject({ applied: false, rolled_back: false });
    expect(result.data?.results[1]).toMatchObject({ data: { files: 2, directories: 2 } });
    expect(result.data?.results[3]?.text).toBe("[DIR] e/y\n[FILE] e/y/z\n[FILE] e/x");
    expect(result.data?.results[4]?.text).toBe("a:1:2");
    expect([await text("a"), await text("d/x"), await text("e/x"), await text("q")]).toEqual([
      "1\n",
      "x",
      undefined,
      undefined,
    ]);
    expect(await ws.history()).toEqual([]);
  });

  test("says under each operation what it said besides", async () => {
    const { ws } = await place(kind, { a: "1\n2\n3\n", b: "x\n" });
    const result = await ws.call("batch", { operations: [edit("b", "x", "y"), write("a", "1\n")] });
    expect(result.text).toBe(
      "1. edit_file: Edited b: 1 replacement\n2. write_file: Updated a (1 line, 2 bytes)\n   [the file shrank from 3 lines, 6 bytes to 1 line, 2 bytes]",
    );
  });

  test("without atomic each operation stands for itself", async () => {
    const { ws, text } = await place(kind, { a: "1" });
    const result = await ws.call("batch", {
      atomic: false,
      operations: [write("n", "x"), edit("a", "no such", "y"), write("m", "z")],
    });
    expect(failed(result)).toMatchObject({ code: "MATCH_NOT_FOUND", index: 1, rolledBack: false });
    expect((result as { data?: unknown }).data).toMatchObject({
      applied: true,
      results: [{ ok: true }, { ok: false, error: { code: "MATCH_NOT_FOUND" } }, { ok: true }],
    });
    expect([await text("n"), await text("a"), await text("m")]).toEqual(["x", "1", "z"]);
  });

  test("each operation has its own hooks, rules and approvals, and nothing is written before all agree", async () => {
    const seen: string[] = [];
    const asked: Confirmation[] = [];
    const written: (string | undefined)[] = [];
    const { ws, text } = await place(
      kind,
      { a: "1" },
      {
        hooks: [
          {
            stage: "before",
            tool: "*",
            run: ({ tool_name }) => {
              seen.push(`before ${tool_name}`);
              return undefined;
            },
          },
          {
            stage: "after",
            tool: "*",
            run: ({ tool_name, result }) => {
              seen.push(`after ${tool_name} ${result?.ok}`);
              return undefined;
            },
          },
        ],
        rules: [{ tool: "mkdir", decision: "allow" }],
        confirm: async (details) => {
          asked.push(details);
          written.push(await text("b"));
          const isRefused = details.changes.some(({ display }) => display === "refused");
          return { outcome: isRefused ? "cancel" : "proceed_once" };
        },
      },
    );
    const good = await ws.call("batch", {
      operations: [write("b", "one\n"), { tool: "mkdir", args: { path: "d" } }, edit("b", "one", "two")],
    });
    expect(good.ok, good.text).toBe(true);
    expect(asked.map(({ title, tool }) => [title, tool])).toEqual([
      ["2 operations: Create b; Edit b", "batch"],
    ]);
    expect(
      asked[0]!.changes.map(({ display, kind, before, after }) => [display, kind, before, after]),
    ).toEqual([["b", "create", null, "two\n"]]);
    expect(written).toEqual([undefined]);
    expect(seen).toEqual([
      "before batch",
      "before write_file",
      "before mkdir",
      "before edit_file",
      "after write_file true",
      "after mkdir true",
      "after edit_file true",
      "after batch true",
    ]);
    expect(await text("b")).toBe("two\n");
    const bad = await ws.call("batch", { operations: [edit("a", "1", "2"), write("refused", "x")] });
    expect(failed(bad)).toMatchObject({ code: "APPROVAL_DENIED", index: 0 });
    expect([await text("a"), await text("refused")]).toEqual(["1", undefined]);
  });

  test("the reviewer's own content is what is written", async () => {
    const { ws, text } = await place(
      kind,
      { a: "1" },
      {
        confirm: ({ changes }) => ({
          outcome: "modify_with_editor",
          payload: { contents: changes.map(({ path }) => ({ path, content: "mine" })), final: true },
        }),
      },
    );
    const result = await ws.call("batch", { operations: [write("a", "theirs"), write("b", "theirs")] });
    expect(result.ok, result.text).toBe(true);
    expect([await text("a"), await text("b")]).toEqual(["mine", "mine"]);
    expect(result.data?.results[0]?.text).toContain("modified");
  });

  test("a change during the question is a CONFLICT", async () => {
    const files = await place(
      kind,
      { a: "1", b: "2" },
      {
        confirm: async () => {
          await files.foreign("a", "changed");
          return { outcome: "proceed_once" };
        },
      },
    );
    const result = await files.ws.call("batch", { operations: [edit("a", "1", "x"), edit("b", "2", "y")] });
    expect(failed(result)).toMatchObject({ code: "CONFLICT", index: 0 });
    expect([await files.text("a"), await files.text("b")]).toEqual(["changed", "2"]);
  });

  test("a hook that blocks one operation blocks the batch in its own words", async () => {
    const { ws, text } = await place(
      kind,
      {},
      {
        hooks: [
          {
            stage: "before",
            tool: "delete",
            run: () => ({ proceed: false, alternative_response: "Not on a Friday." }),
          },
        ],
      },
    );
    const result = await ws.call("batch", {
      operations: [write("n", "x"), { tool: "delete", args: { path: "n" } }],
    });
    expect(failed(result)).toMatchObject({ code: "HOOK_BLOCKED", index: 1 });
    expect(result.text).toBe("Not on a Friday.");
    expect(await text("n")).toBe(undefined);
  });

  test("batches over the same files in opposite orders do not wait for each other for ever", async () => {
    const { ws, text } = await place(kind, { a: "", b: "" });
    const one = [write("a", "1"), write("b", "1")];
    const calls = Array.from({ length: 20 }, (_, at) =>
      ws.call("batch", { operations: at % 2 === 0 ? one : [write("b", "2"), write("a", "2")] }),
    );
    for (const result of await Promise.all(calls)) expect(result.ok, result.text).toBe(true);
    expect(await text("a")).toBe(await text("b"));
  });

  test("a signal in the middle takes back what was done", async () => {
    const stop = new AbortController();
    const { ws, text } = await place(
      kind,
      { a: "1" },
      {
        hooks: [
          {
            stage: "before",
            tool: "stat",
            run: () => {
              stop.abort();
              return undefined;
            },
          },
        ],
      },
    );
    const operations = [edit("a", "1", "2"), { tool: "stat", args: { path: "a" } }, write("n", "x")];
    const result = await ws.call("batch", { operations }, { signal: stop.signal });
    expect(failed(result)).toMatchObject({ code: "CANCELLED" });
    expect([await text("a"), await text("n")]).toEqual(["1", undefined]);
  });
});

test("what fails on storage alone is taken back: an operation that the overlay let pass", async () => {
  const { ws, text } = await place("memory", { a: "1", "p/.git/config": "c" }, { access: { protect: true } });
  const result = await ws.call("batch", {
    operations: [
      edit("a", "1", "2"),
      write("new/deep/file", "x"),
      { tool: "move", args: { source: "p", destination: "q" } },
    ],
  });
  expect(failed(result)).toMatchObject({ code: "PROTECTED_PATH", index: 2, rolledBack: true });
  expect([await text("a"), await text("new/deep/file"), await text("p/.git/config")]).toEqual([
    "1",
    undefined,
    "c",
  ]);
  expect((await ws.listDirectory({ path: "." })).entries.map(({ name }) => name)).toEqual(["p", "a"]);
});
