import { describe, expect, test } from "vitest";
import {
  type Confirm,
  type Confirmation,
  type ConfirmReply,
  type HookPreview,
  type Outcome,
  MemoryBackend,
  openWorkspace,
  type WorkspaceEvent,
} from "../../js/index.node.ts";
import { reviewer } from "../support/reviewer.ts";
import { KINDS, place, type Seed, temporary } from "../tools/harness.ts";

describe.each(KINDS)("what a reviewer is shown on %s", (kind) => {
  const seed: Seed = {
    f: "a\nb\n",
    g: "old\n",
    "d/x": "1",
    "d/e/y": "2",
    empty: null,
    link: { link: "f" },
    bin: new Uint8Array([0, 1, 2, 255]),
    latin: new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a]),
  };
  const cases: readonly [
    name: string,
    tool: string,
    args: Record<string, unknown>,
    details: Partial<Confirmation>,
  ][] = [
    [
      "a new file",
      "write_file",
      { path: "new", content: "x\n" },
      {
        type: "edit",
        title: "Create new",
        risk: "low",
        originalContent: null,
        newContent: "x\n",
        hash: "sha256:73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac",
      },
    ],
    [
      "a file replaced",
      "write_file",
      { path: "f", content: "" },
      { type: "edit", title: "Replace f", risk: "medium", originalContent: "a\nb\n", newContent: "" },
    ],
    [
      "a file extended",
      "write_file",
      { path: "f", content: "c", append: true },
      { title: "Add to f", risk: "low", newContent: "a\nb\nc" },
    ],
    [
      "an edit",
      "edit_file",
      { path: "f", old_text: "b", new_text: "B" },
      { type: "edit", title: "Edit f", risk: "low", newContent: "a\nB\n", fileName: "f" },
    ],
    [
      "bytes that are no text",
      "write_file",
      { path: "bin", content: "AAEC", content_encoding: "base64" },
      { type: "edit", originalContent: null, newContent: null },
    ],
    [
      "text that is not UTF-8",
      "edit_file",
      { path: "latin", old_text: "caf", new_text: "Caf" },
      { originalContent: "café\n", newContent: "Café\n" },
    ],
    [
      "a file deleted",
      "delete",
      { path: "f" },
      { type: "info", title: "Delete f", risk: "medium", originalContent: "a\nb\n", newContent: null },
    ],
    ["a link deleted", "delete", { path: "link" }, { title: "Delete link link", risk: "low" }],
    [
      "a directory deleted",
      "delete",
      { path: "d", recursive: true },
      { title: "Delete directory d (2 files, 2 directories)", risk: "high", fileDiff: "" },
    ],
    [
      "an empty directory deleted",
      "delete",
      { path: "empty" },
      { title: "Delete directory empty (0 files, 1 directory)", risk: "low" },
    ],
    [
      "a copy",
      "copy",
      { source: "f", destination: "n" },
      { type: "info", title: "Copy f to n", risk: "low", newContent: "a\nb\n" },
    ],
    [
      "a copy over a file",
      "copy",
      { source: "f", destination: "g", overwrite: true },
      { title: "Copy f to g, over what is there", risk: "medium", originalContent: "old\n" },
    ],
    [
      "a directory moved",
      "move",
      { source: "d", destination: "z" },
      { title: "Move d to z (2 files, 2 directories)", risk: "low" },
    ],
    ["a directory made", "mkdir", { path: "q" }, { type: "info", title: "Make directory q", risk: "low" }],
    [
      "a patch of two files",
      "apply_patch",
      {
        patch: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
      },
      {
        type: "edit",
        title: "Patch f and 1 more",
        risk: "medium",
        originalContent: "a\nb\n",
        newContent: "A\nb\n",
      },
    ],
  ];
  test.each(cases)("%s", async (_, tool, args, details) => {
    const { shown, confirm } = reviewer("proceed_once");
    const { ws, root } = await place(kind, seed, { confirm });
    const result = await ws.call(tool, args);
    expect(result.ok, result.text).toBe(true);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ tool, ...details });
    const [first] = shown;
    for (const path of first!.paths) expect(path.startsWith(root)).toBe(true);
    expect(first!.paths).toContain(first!.path);
    expect(result.meta.approval).toEqual({
      outcome: "proceed_once",
      ...(first!.hash === undefined ? {} : { hash: first!.hash }),
    });
    if (tool === "write_file" || tool === "edit_file")
      expect((result.data as { hash: string }).hash).toBe(first!.hash);
  });

  test("a tree that is too large to look through is said to be", async () => {
    const many = Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`many/${at}`, ""]));
    if (kind === "local") return; // The same code; five thousand files take a while to make.
    const { shown, confirm } = reviewer("cancel");
    const { ws } = await place(kind, many, { confirm });
    await ws.call("delete", { path: "many", recursive: true });
    expect(shown[0]!.title).toBe("Delete directory many (more than 4999 files, 1 directory)");
  });

  test("reading that is asked about can be refused, once or for each file of a list", async () => {
    const rules = [{ path: "d/**", decision: "ask" }] as const;
    const { shown, confirm } = reviewer("cancel", "cancel", "proceed_always");
    const { ws } = await place(kind, seed, { confirm, rules });
    expect((await ws.call("read_file", { path: "d/x" })).error?.code).toBe("APPROVAL_DENIED");
    const list = { paths: ["d/x", "d/e/y", "f"] };
    expect((await ws.call("read_many_files", list)).data).toMatchObject({
      files: [{ path: "d/e/y" }, { path: "f" }],
      skipped: [{ path: "d/x", code: "APPROVAL_DENIED" }],
    });
    expect((await ws.call("read_many_files", list)).data).toMatchObject({ files: { length: 3 } });
    expect(shown.map(({ path, type }) => [path.slice(-3), type])).toEqual([
      ["d/x", "info"],
      ["d/x", "info"],
      ["e/y", "info"],
    ]);
  });

  test("each answer says exactly what it allows", async () => {
    const { shown, confirm } = reviewer();
    const { ws, root } = await place(kind, seed, { confirm });
    await ws.call("write_file", { path: "f", content: "" });
    await ws.call("delete", { path: "f" });
    const until = kind === "storage" ? "for 24 hours, at every replica" : "until this workspace is closed";
    expect(shown[0]!.scopes.map(({ outcome, label }) => ({ outcome, label }))).toEqual([
      { outcome: "proceed_once", label: "this call only" },
      { outcome: "proceed_always", label: `write_file below ${root}, ${until}` },
      { outcome: "proceed_always_tool", label: `write_file on every path of this workspace, ${until}` },
      {
        outcome: "proceed_always_server",
        label: `every tool but run_command on every path of this workspace, ${until}`,
      },
      { outcome: "proceed_parts", label: "only some parts of the change" },
      { outcome: "modify_with_editor", label: "change the content first" },
      { outcome: "cancel", label: "refuse" },
    ]);
    expect(shown[1]!.scopes.map(({ outcome }) => outcome)).not.toContain("modify_with_editor");
  });

  test("a reviewer's text keeps the file's encoding and byte order mark", async () => {
    const utf16 = new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0]);
    const { confirm } = reviewer(
      { outcome: "modify_with_editor", payload: { newContent: "Cafés\n", final: true } },
      { outcome: "modify_with_editor", payload: { newContent: "é\n", final: true } },
    );
    const { ws, bytes } = await place(kind, { ...seed, utf16 }, { confirm });
    const edited = await ws.call("edit_file", { path: "latin", old_text: "caf", new_text: "Caf" });
    expect(edited.ok, edited.text).toBe(true);
    expect(await bytes("latin")).toEqual(new Uint8Array([0x43, 0x61, 0x66, 0xe9, 0x73, 0x0a]));
    await ws.call("edit_file", { path: "utf16", old_text: "a", new_text: "b" });
    expect(await bytes("utf16")).toEqual(new Uint8Array([0xff, 0xfe, 0xe9, 0, 0x0a, 0]));
  });

  test("the reviewer's text is what is written, whatever they were asked about after it", async () => {
    const { shown, confirm } = reviewer(
      { outcome: "modify_with_editor", payload: { newContent: "one\n" } },
      { outcome: "modify_with_editor", payload: { newContent: "two\n" } },
      "proceed_once",
    );
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("edit_file", { path: "f", old_text: "b", new_text: "B" });
    expect(result).toMatchObject({ ok: true, meta: { modified_by_user: true } });
    expect(shown.map(({ newContent, isModifying }) => [newContent, isModifying])).toEqual([
      ["a\nB\n", undefined],
      ["one\n", true],
      ["two\n", true],
    ]);
    expect(shown[2]!.fileDiff).toContain("+two");
    expect(result.meta.approval?.hash).toBe(shown[2]!.hash);
    expect(await text("f")).toBe("two\n");
  });

  test("content cannot be changed where there is none", async () => {
    for (const payload of [{ newContent: "x" }, {}, { newContent: 3 as never }]) {
      const { confirm } = reviewer({ outcome: "modify_with_editor", payload });
      const { ws, text } = await place(kind, seed, { confirm });
      expect((await ws.call("delete", { path: "f" })).error?.code).toBe("APPROVAL_DENIED");
      expect(await text("f")).toBe("a\nb\n");
    }
    const { confirm } = reviewer({ outcome: "modify_with_editor", payload: {} });
    const { ws } = await place(kind, seed, { confirm });
    const result = await ws.call("write_file", { path: "f", content: "x" });
    expect(result.error?.code).toBe("APPROVAL_DENIED");
  });

  test("a reviewer may say why not", async () => {
    const { confirm } = reviewer({ outcome: "cancel", payload: { reason: "use the staging file" } });
    const { ws } = await place(kind, seed, { confirm });
    const { text } = await ws.call("write_file", { path: "f", content: "" });
    expect(text).toBe("Error: The reviewer refused the call: use the staging file. Nothing was written.");
  });

  const meanwhile: readonly [name: string, tool: string, args: Record<string, unknown>, changed: string][] = [
    ["the file to be written", "write_file", { path: "f", content: "x" }, "f"],
    ["a file that was not there", "write_file", { path: "new", content: "x" }, "new"],
    ["the file to be edited", "edit_file", { path: "f", old_text: "b", new_text: "B" }, "f"],
    ["the file to be deleted", "delete", { path: "f" }, "f"],
    ["a file deep in a directory to be deleted", "delete", { path: "d", recursive: true }, "d/e/y"],
    ["a file more in a directory to be deleted", "delete", { path: "d", recursive: true }, "d/e/z"],
    ["the file to be copied", "copy", { source: "f", destination: "n" }, "f"],
    ["a file in a directory to be copied", "copy", { source: "d", destination: "n" }, "d/e/y"],
    ["what is to be replaced", "copy", { source: "f", destination: "g", overwrite: true }, "g"],
    ["where something is to be moved", "move", { source: "f", destination: "n" }, "n"],
  ];
  test("a directory that gets another file is noticed though no time has passed", async () => {
    const backend = new MemoryBackend({ "/w/d/f": "x" }, { now: () => 0 });
    const confirm = async () => {
      await backend.writeText("/w/d/g", "new");
      return { outcome: "proceed_once" } as const;
    };
    const ws = await openWorkspace({ backend, root: "/w", confirm });
    const { error } = await ws.call("delete", { path: "d", recursive: true });
    expect(error?.code).toBe("CONFLICT");
    expect(await backend.exists("/w/d/g")).toBe(true);
  });

  test.each(meanwhile)("%s changes while the reviewer thinks: a conflict", async (_, tool, args, changed) => {
    let change: () => Promise<void> = async () => {};
    const { shown, confirm } = reviewer(async () => {
      await change();
      return { outcome: "proceed_once" };
    });
    const { ws, text, foreign } = await place(kind, seed, { confirm });
    change = () => foreign(changed, "foreign, and longer\n");
    expect((await ws.call(tool, args)).error?.code).toBe("CONFLICT");
    expect(shown).toHaveLength(1);
    expect(await text(changed)).toBe("foreign, and longer\n");
  });
});

describe.each(KINDS)("approvals that last on %s", (kind) => {
  const writes = async (ws: Awaited<ReturnType<typeof place>>["ws"], ...contents: string[]) => {
    for (const content of contents)
      expect((await ws.call("write_file", { path: "a", content })).ok).toBe(true);
  };

  const reaches: readonly [outcome: Outcome, again: boolean, otherTool: boolean][] = [
    ["proceed_once", true, true],
    ["proceed_always", false, true],
    ["proceed_always_tool", false, true],
    ["proceed_always_server", false, false],
  ];
  test.each(reaches)("%s", async (outcome, again, otherTool) => {
    const { shown, confirm } = reviewer(outcome, "proceed_once", "proceed_once");
    const { ws } = await place(kind, {}, { confirm });
    await writes(ws, "1", "2");
    expect(shown).toHaveLength(again ? 2 : 1);
    await ws.call("mkdir", { path: "d" });
    expect(shown).toHaveLength((again ? 2 : 1) + (otherTool ? 1 : 0));
  });

  test("an approval below one root is none below another", async () => {
    const { shown, confirm } = reviewer("proceed_always", "proceed_once", "proceed_once");
    const { root, outside, stateDir } = await temporary();
    const ws = await openWorkspace({ roots: [root, outside], stateDir, confirm });
    await ws.call("write_file", { path: `${root}/a`, content: "1" });
    await ws.call("write_file", { path: `${root}/a`, content: "2" });
    expect(shown).toHaveLength(1);
    await ws.call("write_file", { path: `${outside}/a`, content: "1" });
    expect(shown).toHaveLength(2);
    await ws.close();
  });

  test("it is told, taken back, and ends", async () => {
    const { shown, confirm } = reviewer(
      { outcome: "proceed_always_tool", payload: { by: "Ann" } },
      { outcome: "proceed_always", payload: { expires: new Date(Date.now() - 1) } },
      "proceed_once",
    );
    const { ws } = await place(kind, {}, { confirm });
    await writes(ws, "1", "2");
    const [approval] = await ws.approvals.list();
    expect(await ws.approvals.list()).toHaveLength(1);
    expect(approval).toMatchObject({
      outcome: "proceed_always_tool",
      scope: { tool: "write_file", path: "**", until: "session" },
      by: "Ann",
    });
    expect(approval!.label).toBe(shown[0]!.scopes[2]!.label);
    expect(await ws.approvals.revoke(approval!.id)).toBe(true);
    expect(await ws.approvals.revoke(approval!.id)).toBe(false);
    await writes(ws, "3", "4");
    expect(shown).toHaveLength(3);
    expect(await ws.approvals.list()).toEqual([]);
  });
});

describe.each(KINDS)("hooks that see and are told on %s", (kind) => {
  test("a confirm hook is asked about its tool alone, before other approvers", async () => {
    const order: string[] = [];
    const hook = (name: string, outcome: Outcome) => ({
      stage: "confirm" as const,
      tool: "delete",
      run: () => [order.push(name), { outcome }][1] as ConfirmReply,
    });
    const last: Confirm = () => [order.push("last"), { outcome: "proceed_once" }][1] as ConfirmReply;
    const all = await place(
      kind,
      { f: "1", g: "1" },
      { hooks: [hook("a", "proceed_once"), hook("b", "cancel")], confirm: last },
    );
    expect((await all.ws.call("delete", { path: "f" })).error?.code).toBe("APPROVAL_DENIED");
    expect(order.splice(0)).toEqual(["a", "b"]);
    await all.ws.call("write_file", { path: "f", content: "" });
    expect(order.splice(0)).toEqual(["last"]);
    const alone = await place(kind, { f: "1" }, { hooks: [hook("a", "proceed_once")] });
    expect((await alone.ws.call("write_file", { path: "f", content: "" })).ok).toBe(true);
    expect((await alone.ws.call("delete", { path: "f" })).ok).toBe(true);
    expect(order).toEqual(["a"]);
  });

  test("a before hook can look at the change, as it stands after the hooks before it", async () => {
    const seen: (HookPreview | undefined)[] = [];
    const { ws, text } = await place(
      kind,
      { f: "a\n" },
      {
        hooks: [
          { stage: "before", tool: "write_file", run: () => ({ modified_args: { content: "b\n" } }) },
          {
            stage: "before",
            tool: "*",
            run: async ({ preview }) => {
              seen.push(await preview?.());
            },
          },
        ],
      },
    );
    await ws.call("write_file", { path: "f", content: "x\n" });
    await ws.call("read_file", { path: "f" });
    expect(seen).toMatchObject([{ title: "Replace f", newContent: "b\n", risk: "medium" }, undefined]);
    expect(seen[0]!.diff).toContain("-a\n+b\n");
    expect(await text("f")).toBe("b\n");
  });

  test("in a batch a hook sees each change on what the operations before it made", async () => {
    const seen: (string | null | undefined)[] = [];
    const { ws } = await place(
      kind,
      {},
      {
        hooks: [
          {
            stage: "before",
            tool: "*",
            run: async ({ preview }) => {
              if (preview !== undefined) seen.push((await preview()).diff);
            },
          },
        ],
      },
    );
    const result = await ws.call("batch", {
      operations: [
        { tool: "write_file", args: { path: "n", content: "one\n" } },
        { tool: "edit_file", args: { path: "n", old_text: "one", new_text: "two" } },
      ],
    });
    expect(result.ok, result.text).toBe(true);
    expect(seen[1]).toContain("-one\n+two\n");
  });

  test("a preview that fails blocks the call, unless the hook takes it", async () => {
    const looking = {
      stage: "before" as const,
      tool: "*",
      run: async ({ preview }: { preview?: () => Promise<HookPreview> }) => void (await preview?.()),
    };
    const { ws } = await place(kind, { f: "a\n" }, { hooks: [looking] });
    const result = await ws.call("edit_file", { path: "f", old_text: "zz", new_text: "" });
    expect(result.error?.code).toBe("HOOK_BLOCKED");
    const settled = await ws.call("mkdir", { path: "." });
    expect(settled.ok).toBe(true);
  });

  test("notify receives the events, and its errors change nothing", async () => {
    const events: WorkspaceEvent[] = [];
    const notify = (event: WorkspaceEvent): void => {
      events.push(event);
      throw new Error("a bad watcher");
    };
    const { confirm } = reviewer({ outcome: "proceed_always_tool", payload: { by: "Ann" } }, "cancel");
    const { ws, root } = await place(
      kind,
      { f: "1" },
      {
        confirm,
        notify,
        permissions: { mode: "prompt", ask: (_q, _o, { dir }) => (dir.endsWith("no") ? "no" : "yes") },
      },
    );
    await ws.call("write_file", { path: "f", content: "2" });
    await ws.call("delete", { path: "f" });
    expect((await ws.call("stat", { path: "no/x" })).error?.code).toBe("NOT_FOUND");
    await ws.grants.revoke(root);
    expect((await ws.call("stat", { path: "no/x" })).error?.code).toBe("GRANT_DENIED");
    expect(events.map(({ type }) => type)).toEqual([
      "grant_asked",
      "grant_given",
      "approval_asked",
      "approval_answered",
      "approval_asked",
      "approval_answered",
      "call_denied",
      "grant_revoked",
      "grant_asked",
      "grant_denied",
      "call_denied",
    ]);
    expect(events[3]).toMatchObject({
      tool: "write_file",
      by: "Ann",
      approval: { scope: { tool: "write_file" } },
      hash: expect.stringMatching(/^sha256:/u),
    });
  });
});
