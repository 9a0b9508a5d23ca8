/** A rewind is a change like any other: policy, approvals and hooks apply, commands are named, nothing is half made. */
import { chmod, lstat, readFile, truncate } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Confirmation, openWorkspace, type WorkspaceOptions } from "../../../js/index.node.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { KINDS, place, temporary } from "../../tools/harness.ts";

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "none",
    (error: { readonly code?: string }) => error.code ?? String(error),
  );
}

/** Opens a workspace on the disk, whose history survives it. */
async function open(
  at: { readonly root: string; readonly stateDir: string },
  more: Partial<WorkspaceOptions> = {},
) {
  const ws = await openWorkspace({
    root: at.root,
    stateDir: at.stateDir,
    guard: "off",
    ...more,
  } as WorkspaceOptions);
  afterThisTest(() => ws.close());
  return ws;
}

describe.each(KINDS)("a rewind on %s", (kind) => {
  test("shows every path and diff to the reviewer, who can refuse it", async () => {
    const asked: Confirmation[] = [];
    let outcome: "proceed_once" | "cancel" = "cancel";
    const { ws, text } = await place(
      kind,
      { "a.txt": "one\n", "b.txt": "x\n" },
      {
        confirm: (question) => {
          if (question.tool === "rewind") asked.push(question);
          return { outcome: question.tool === "rewind" ? outcome : "proceed_once" };
        },
      },
    );
    await ws.mark("start");
    await ws.writeFile({ path: "a.txt", content: "two\n" });
    await ws.writeFile({ path: "new", content: "n" });
    expect(await codeOf(ws.rewind("start"))).toBe("APPROVAL_DENIED");
    expect(await text("a.txt")).toBe("two\n");
    expect(asked[0]?.changes.map((change) => [basename(change.path), change.kind])).toEqual([
      ["a.txt", "edit"],
      ["new", "delete"],
    ]);
    if (kind !== "storage") {
      expect(asked[0]?.fileDiff).toContain("-two\n+one\n");
      expect(asked[0]?.changes[0]?.hunks[0]?.rows.map((row) => [row.kind, row.text])).toEqual([
        ["removed", "two"],
        ["added", "one"],
      ]);
    }
    outcome = "proceed_once";
    const { callId } = await ws.rewind("start");
    expect(asked).toHaveLength(2);
    expect(asked[1]?.callId).toBe(callId);
    expect([await text("a.txt"), await text("new")]).toEqual(["one\n", undefined]);
  });

  test("obeys the rules: what may not be deleted stays, and nothing is changed", async () => {
    const { ws, text } = await place(
      kind,
      { "a.txt": "one\n" },
      {
        rules: [{ tool: "delete", path: "**", decision: "deny" }],
      },
    );
    await ws.mark("start");
    await ws.writeFile({ path: "a.txt", content: "two\n" });
    await ws.writeFile({ path: "new", content: "n" });
    expect(await codeOf(ws.rewind("start"))).toBe("APPROVAL_DENIED");
    expect([await text("a.txt"), await text("new")]).toEqual(["two\n", "n"]);
    await ws.rewind("start", { paths: ["a.txt"] });
    expect(await text("a.txt")).toBe("one\n");
  });

  test("takes back what other agents do at the same time, or leaves it whole", async () => {
    const { ws, text } = await place(kind, { "a.txt": "0\n" });
    await ws.mark("start");
    const writing = (async () => {
      for (let n = 1; n <= 20; n++) await ws.writeFile({ path: `f${n % 5}`, content: `${n}\n` });
    })();
    await ws.writeFile({ path: "a.txt", content: "1\n" });
    await ws.rewind("start", { paths: ["a.txt"] });
    expect(await text("a.txt")).toBe("0\n");
    await writing;
    const { left } = await ws.rewind("start");
    expect(left).toEqual([]);
    for (let n = 0; n < 5; n++) expect(await text(`f${n}`)).toBeUndefined();
  });

  test("of a call returns its changes with the texts before and after", async () => {
    const { ws } = await place(kind, { "a.txt": "one\r\n", "d/x": "x", bin: new Uint8Array([0, 1]) });
    const ids: string[] = [];
    for (const [tool, args] of [
      ["write_file", { path: "a.txt", content: "two\r\n" }],
      ["write_file", { path: "a.txt", content: "three\r\n" }],
      ["move", { source: "d", destination: "e" }],
      ["delete", { path: "bin" }],
    ] as const)
      ids.push((await ws.call(tool, args)).meta.call_id ?? "");
    const [first, second, moved, deleted] = ids as [string, string, string, string];
    const [edit] = await ws.changes(second);
    expect(edit).toMatchObject({ display: "a.txt", kind: "edit", type: "file", after: "three\r\n" });
    expect(edit?.hash).toMatch(/^sha256:/u);
    const [earlier] = await ws.changes(first);
    expect(earlier?.hash).toBe(edit?.beforeHash);
    expect(edit).toMatchObject({ before: "two\r\n" });
    expect(edit?.unknown).toBeUndefined();
    expect(edit?.diff).toContain("-two\n+three\n");
    expect(earlier).toMatchObject({ before: "one\r\n", after: "two\r\n" });
    expect(await ws.changes(moved)).toMatchObject([{ display: "e", kind: "move", type: "dir" }]);
    expect(await ws.changes(deleted)).toMatchObject([
      { display: "bin", kind: "delete", after: null, diff: "" },
    ]);
    expect(await codeOf(ws.changes("000000000-000000000000"))).toBe("NOT_FOUND");
    expect(await codeOf(ws.changes(""))).toBe("INVALID_ARGUMENT");
  });
});

test("marks and the history survive the workspace, and a read-only one refuses a rewind", async () => {
  const at = await temporary({ "a.txt": "one\n" });
  const first = await open(at);
  await first.mark("start");
  await first.writeFile({ path: "a.txt", content: "two\n" });
  await first.close();
  const reading = await open(at, { access: { readOnly: true } });
  expect((await reading.marks()).map(({ name }) => name)).toEqual(["start"]);
  expect(await codeOf(reading.rewind("start"))).toBe("READ_ONLY");
  const second = await open(at);
  await second.rewind("start");
  expect(await readFile(join(at.root, "a.txt"), "utf8")).toBe("one\n");
});

test("restores permission bits, and leaves a file whose bits a person changed since", async () => {
  const at = await temporary({ "run.sh": "one\n", "b.sh": "one\n" });
  await chmod(join(at.root, "run.sh"), 0o755);
  const ws = await open(at);
  await ws.mark("start");
  await ws.writeFile({ path: "run.sh", content: "two\n", mode: "0600" });
  await ws.writeFile({ path: "b.sh", content: "two\n", mode: "0600" });
  await chmod(join(at.root, "b.sh"), 0o700);
  const { left } = await ws.rewind("start");
  expect(left).toMatchObject([{ path: "b.sh", reason: "changed" }]);
  expect((await lstat(join(at.root, "run.sh"))).mode & 0o777).toBe(0o755);
});

test("a command and a change that was too large are named as what cannot be taken back", async () => {
  const at = await temporary({ big: "x" });
  await truncate(join(at.root, "big"), 5 * 1024 ** 3);
  const ws = await open(at, { commands: { tier: "fast", degrade: "allow" } });
  await ws.mark("start");
  const ran = await ws.call("run_command", { command: ["true"] });
  expect(ran.ok, ran.text).toBe(true);
  expect((await ws.call("write_file", { path: "big", content: "small", whole_file: true })).ok).toBe(true);
  const { unrecorded, changes } = await ws.rewind("start");
  expect(unrecorded.map(({ tool, paths }) => [tool, paths])).toEqual([
    ["write_file", ["big"]],
    ["run_command", []],
  ]);
  expect(changes).toEqual([]);
  expect((await ws.history()).map(({ tool }) => tool)).toEqual([]);
});

test("fails as a whole past the end of the history", async () => {
  const at = await temporary({ "a.txt": "0" });
  const ws = await open(at);
  await ws.mark("start");
  const early = new Date();
  for (let n = 1; n <= 260; n++) await ws.writeFile({ path: "a.txt", content: `${n}` });
  expect((await ws.marks()).map(({ name }) => name)).toEqual([]);
  expect(await codeOf(ws.rewind("start"))).toBe("NOT_FOUND");
  expect(await codeOf(ws.rewind(early))).toBe("LIMIT_EXCEEDED");
  expect(await readFile(join(at.root, "a.txt"), "utf8")).toBe("260");
});
