/** Directories granted by the user, and changes one after another: what the table of the preset `go` does not show. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AskGrant, MemoryBackend, openWorkspace, type WorkspaceEvent } from "../../js/index.node.ts";
import { makePathLocker } from "../../js/backends/path-locker.ts";
import { KINDS, type Kind, place, type Seed, temporary } from "../tools/harness.ts";

/** An `ask` that grants these directories, and the directories of its questions. */
function granting(...yes: readonly string[]) {
  const asked: string[] = [];
  const ask: AskGrant = (question, options, { dir }) => {
    expect(options).toEqual(["yes", "no"]);
    expect(question).toBe(`Allow filesystem access to ${dir}?`);
    asked.push(dir);
    return yes.some((end) => dir.endsWith(end)) ? "Yes" : "no";
  };
  return { ask, asked };
}

const SEED: Seed = { "d/a": "1", "d/e/f/b": "2", "d2/c": "3", "l/link": { link: "../d2" } };

async function workspaceAsking(kind: Kind, ...yes: readonly string[]) {
  const { ask, asked } = granting(...yes);
  const events: WorkspaceEvent[] = [];
  const p = await place(kind, SEED, {
    preset: "go",
    permissions: { mode: "prompt", ask },
    notify: (event) => void events.push(event),
  });
  const told = () => asked.map((dir) => dir.slice(p.root.length + 1));
  const read = async (path: string) => (await p.ws.call("fs_read", { path })).error?.code;
  return { ...p, told, read, events };
}

describe.each(KINDS)("grants on %s", (kind) => {
  test("the directory of a file is asked for, and a directory itself; each new one, once", async () => {
    const { ws, told, read } = await workspaceAsking(kind, "/d", "/d2");
    expect(await read("d/a")).toBeUndefined();
    expect((await ws.call("fs_list", { path: "d2" })).ok).toBe(true);
    expect(await Promise.all([read("d/a"), read("d2/c")])).toEqual([undefined, undefined]);
    expect(told()).toEqual(["d", "d2"]);
  });

  test("calls at the same time that need one directory ask one question", async () => {
    const { told, read } = await workspaceAsking(kind, "/d");
    expect(await Promise.all([read("d/a"), read("d/a"), read("d/gone")])).toEqual([
      undefined,
      undefined,
      "NOT_FOUND",
    ]);
    expect(told()).toEqual(["d"]);
  });

  test("a grant covers what lies below, not a directory whose name begins alike", async () => {
    const { told, read } = await workspaceAsking(kind, "/d");
    expect([await read("d/a"), await read("d/e/f/b"), await read("d2/c")]).toEqual([
      undefined,
      undefined,
      "GRANT_DENIED",
    ]);
    expect(told()).toEqual(["d", "d2"]);
  });

  test("a refusal is not remembered: the next access asks again", async () => {
    const { told, read, ws } = await workspaceAsking(kind);
    expect([await read("d/a"), await read("d/a")]).toEqual(["GRANT_DENIED", "GRANT_DENIED"]);
    expect([told(), await ws.grants.list()]).toEqual([["d", "d"], []]);
  });

  test("who is to be notified hears of questions, grants and refusals, and delays nothing", async () => {
    const { read, events, root } = await workspaceAsking(kind, "/d");
    await read("d/a");
    await read("d2/c");
    expect(events).toMatchObject([
      { type: "grant_asked", dir: `${root}/d` },
      { type: "grant_given", dir: `${root}/d` },
      { type: "grant_asked", dir: `${root}/d2` },
      { type: "grant_denied", dir: `${root}/d2` },
      { type: "call_denied", code: "GRANT_DENIED" },
    ]);
  });

  test("for a link both are asked for: where it stands and where it leads", async () => {
    for (const [yes, code] of [
      [["/l/link", "/d2"], undefined],
      [["/l/link"], "GRANT_DENIED"],
      [["/d2"], "GRANT_DENIED"],
    ] as const) {
      const { read } = await workspaceAsking(kind, ...yes);
      expect(await read("l/link/c"), yes.join()).toBe(code);
    }
  });

  test("eleven tools, as many as there are operations", async () => {
    const { ws } = await place(kind, {}, { preset: "go", permissions: { mode: "off" } });
    const operations = "read write edit list delete move copy stat diff patch mkdir".split(" ");
    expect(ws.tools.map(({ name }) => name).sort()).toEqual(operations.map((name) => `fs_${name}`).sort());
  });

  test("yes, no, and trust for this session", async () => {
    const outcomes = ["cancel", "proceed_once", "proceed_always_server"] as const;
    let asked = 0;
    const { ws, text } = await place(
      kind,
      {},
      {
        preset: "go",
        permissions: { mode: "off" },
        confirm: () => ({ outcome: outcomes[asked++] ?? "cancel" }),
      },
    );
    const write = async (content: string) => (await ws.call("fs_write", { path: "a", content })).error?.code;
    expect([await write("no"), await text("a")]).toEqual(["APPROVAL_DENIED", undefined]);
    expect([await write("once"), await write("trusted"), await write("still")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect((await ws.call("fs_delete", { path: "a" })).ok).toBe(true);
    expect(asked).toBe(3);
  });
});

test("grants are written to a JSON file that the next process reads, with the older forms", async () => {
  const { root, base, stateDir } = await temporary({ "d/a": "1", "d2/c": "3" });
  const file = join(base, "state", "grants.json");
  const open = (ask: AskGrant) =>
    openWorkspace({ root, stateDir, preset: "go", permissions: { grantsFile: file, ask } });
  const read = async (ask: AskGrant, path: string) => {
    await using ws = await open(ask);
    return (await ws.call("fs_read", { path })).error?.code;
  };
  expect(await read(() => "yes", "d/a")).toBeUndefined();
  expect(await read(() => "no", "d2/c")).toBe("GRANT_DENIED");
  expect(JSON.parse(await readFile(file, "utf8")).grants).toMatchObject([
    { dir: `${root}/d`, access: "write" },
  ]);
  expect(await read(() => "no", "d/a")).toBeUndefined();
  for (const older of [{ fs_directories: [`${root}/d2`], trusted_commands: ["ls"] }, [`${root}/d2`]]) {
    await writeFile(file, JSON.stringify(older), { mode: 0o600 });
    expect([await read(() => "no", "d2/c"), await read(() => "no", "d/a")]).toEqual([
      undefined,
      "GRANT_DENIED",
    ]);
  }
});

const open = (kind: Kind, seed: Seed, limits = {}) =>
  place(kind, seed, { preset: "go", permissions: { mode: "off" }, limits });

describe.each(KINDS)("changes one after another on %s", (kind) => {
  test("fifty edits at once lose nothing, under two names of one file", async () => {
    const lines = Array.from({ length: 50 }, (_, at) => `<${at}>`);
    const { ws, text } = await open(kind, { "d/a": lines.join("\n"), alias: { link: "d" } });
    const done = await Promise.all(
      lines.map((line, at) =>
        ws.call("fs_edit", { path: at % 2 ? "d/a" : "alias/a", old_text: line, new_text: `[${at}]` }),
      ),
    );
    expect(done.filter(({ ok }) => !ok)).toEqual([]);
    expect(await text("d/a")).toBe(lines.map((_, at) => `[${at}]`).join("\n"));
  });

  test("two that copy both ways at once do not wait for each other for ever", async () => {
    const { ws, text } = await place(kind, { a: "1", b: "2" }, { limits: { lockTimeoutMs: 5000 } });
    const ways = Array.from({ length: 20 }, (_, at) =>
      at % 2 ? (["a", "b"] as const) : (["b", "a"] as const),
    );
    const done = await Promise.all(
      ways.map(([source, destination]) => ws.call("copy", { source, destination, overwrite: true })),
    );
    expect(done.map(({ text, ok }) => (ok ? "ok" : text))).toEqual(ways.map(() => "ok"));
    expect(await text("a")).toBe(await text("b"));
  });

  test("one path named twice is locked once", async () => {
    const { ws, text } = await place(
      kind,
      { a: "1", link: { link: "a" } },
      { limits: { lockTimeoutMs: 200 } },
    );
    for (const tool of ["copy", "move"]) {
      const { error } = await ws.call(tool, { source: "a", destination: "./a", overwrite: true });
      expect(error?.code, tool).toBe("SAME_FILE");
    }
    const edit = (path: string, old: number) => ({
      tool: "edit_file",
      args: { path, old_text: String(old), new_text: String(old + 1) },
    });
    const result = await ws.call("batch", { operations: [edit("a", 1), edit("./a", 2), edit("link", 3)] });
    expect(result.ok, result.text).toBe(true);
    expect(await text("a")).toBe("4");
  });

  test("a read waits for no lock", async () => {
    const { ws } = await open(kind, { "d/a": "1" }, { lockTimeoutMs: 50 });
    const { release } = await ws.lock("d/a");
    expect((await ws.call("fs_read", { path: "d/a" })).text).toBe("1");
    for (const [tool, args] of [
      ["fs_list", { path: "d" }],
      ["fs_stat", { path: "d/a" }],
      ["fs_diff", { file_a: "d/a", file_b: "d/a" }],
    ] as const) {
      expect((await ws.call(tool, args)).ok, tool).toBe(true);
    }
    expect((await ws.call("fs_write", { path: "d/a", content: "2" })).error?.code).toBe("LOCK_TIMEOUT");
    release();
    expect((await ws.call("fs_write", { path: "d/a", content: "2" })).ok).toBe(true);
  });

  const whole: readonly [string, string, Record<string, unknown>][] = [
    ["deleted", "fs_delete", { path: "d", recursive: true }],
    ["moved", "fs_move", { source: "d", destination: "n" }],
  ];
  test.each(whole)("a directory is not %s while something in it is being changed", async (_, tool, args) => {
    const { ws, text } = await open(kind, { "d/e/a": "1" }, { lockTimeoutMs: 50 });
    const { release } = await ws.lock("d/e/a");
    expect((await ws.call(tool, args)).error?.code).toBe("LOCK_TIMEOUT");
    expect(await text("d/e/a")).toBe("1");
    release();
    expect((await ws.call(tool, args)).ok).toBe(true);
    expect(await text("d/e/a")).toBeUndefined();
  });
});

test("workspaces over one storage share their locks without being told of each other", async () => {
  const backend = new MemoryBackend({ "/w/a": Array.from({ length: 40 }, (_, at) => `<${at}>`).join("") });
  const two = await Promise.all([0, 1].map(() => openWorkspace({ backend, root: "/w" })));
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      two[at % 2]?.editFile({ path: "a", old_text: `<${at}>`, new_text: "." }),
    ),
  );
  expect(await backend.readText("/w/a")).toBe(".".repeat(40));
});

test("a free lock takes no memory", async () => {
  const locker = makePathLocker();
  for (let at = 0; at < 100_000; at++) {
    const release = await locker.acquire([{ path: `/p/${at}`, tree: false }], { timeoutMs: 1000 });
    if (at % 10_000 === 0) expect(locker.size).toBe(1);
    release();
  }
  expect(locker.size).toBe(0);
});
