/** A fork is no way around a denial: policy, rules, hooks, approvals and budgets hold in it, and for its merge. */
import { describe, expect, it } from "vitest";
import type { Confirmation, ForkWorkspace, Workspace, WorkspaceOptions } from "../../../js/index.node.ts";
import {
  absolute,
  ok,
  openDisk,
  openMemoryStorage,
  type OpenSubject,
  rootedAt,
  treeOf,
  write,
} from "./subject.ts";

const KINDS: readonly (readonly [string, OpenSubject])[] = [
  ["the disk", openDisk],
  ["a storage", openMemoryStorage],
];

describe.each(KINDS)("a fork of %s", (_kind, open) => {
  async function withFork(
    options: Partial<WorkspaceOptions>,
    run: (ws: Workspace, fork: ForkWorkspace) => Promise<void>,
    files: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { ws, dispose } = await open(options);
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, files);
    const fork = await ws.fork();
    rootedAt(fork, cwd);
    try {
      await run(ws, fork);
    } finally {
      await dispose();
    }
  }
  const codeOf = async (ws: Workspace, tool: string, args: object): Promise<string | undefined> =>
    (await ws.call(tool as "stat", args as never)).error?.code;

  it("refuses what the policy of its parent refuses: outside, denied, secret and protected paths", () =>
    withFork(
      { access: { deny: ["private/**"] } },
      async (ws, fork) => {
        for (const one of [ws, fork, await fork.agent("a"), await fork.fork()]) {
          expect(await codeOf(one, "read_file", { path: "/etc/passwd" })).toBe("OUTSIDE_ALLOWED");
          expect(await codeOf(one, "write_file", { path: "../out.txt", content: "x" })).toBe(
            "OUTSIDE_ALLOWED",
          );
          expect(await codeOf(one, "write_file", { path: "private/x", content: "x" })).toBe(
            "OUTSIDE_ALLOWED",
          );
          expect(await codeOf(one, "write_file", { path: ".git/hooks/pre-commit", content: "x" })).toBe(
            "PROTECTED_PATH",
          );
        }
        // A link of the fork leads nowhere that the parent's policy does not allow.
        const out = Promise.resolve(fork.fs.symlink?.("/etc", absolute(fork, "etc")));
        await expect(out).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
        await fork.fs.symlink?.("a.txt", absolute(fork, "p"));
        await fork.fs.delete(absolute(fork, "p"));
        await fork.fs.symlink?.("later", absolute(fork, "p"));
        await Promise.resolve(fork.fs.symlink?.("private", absolute(fork, "later"))).catch(() => undefined);
        expect(await codeOf(fork, "write_file", { path: "p/x", content: "x" })).toBe("OUTSIDE_ALLOWED");
        await expect(Promise.resolve(fork.fs.readBytes("/etc/passwd"))).rejects.toMatchObject({
          code: "OUTSIDE_ALLOWED",
        });
        // What is denied shows in no search and no listing of the fork.
        expect(await ok(fork, "grep", { pattern: "needle" })).not.toContain("private");
        expect(await ok(fork, "glob", { pattern: "**/*" })).not.toContain("private");
      },
      { "a.txt": "needle\n" },
    ));

  it("searches find no secret that the fork wrote, and no link of it leads a search out", () =>
    withFork({ access: { deny: ["*.hidden"] } }, async (ws, fork) => {
      const texts = { "a.txt": "needle\n", ".env": "KEY=needle\n" };
      for (const one of [ws, fork]) await write(one, texts);
      const key = `-----BEGIN ${"PRIVATE KEY"}-----\nneedle\n-----END ${"PRIVATE KEY"}-----\n`;
      // The notes say how many files were left out, which kinds of files count in different ways.
      const search = async (one: Workspace, output = "content"): Promise<string> =>
        (await ok(one, "grep", { pattern: "needle", hidden: true, output })).replace(/\n\[.*\]$/u, "");
      const before = [await search(ws), await search(fork)];
      expect(before[1]).toBe(before[0]);
      for (const one of [ws, fork]) await write(one, { "notes.txt": key });
      expect(await search(fork)).toBe(await search(ws));
      expect(await search(fork, "files")).toBe(await search(ws, "files"));
      expect(await search(fork)).not.toContain("notes.txt");
      expect(await ok(fork, "glob", { pattern: "**/*" })).toBe(await ok(ws, "glob", { pattern: "**/*" }));
      await fork.fs.symlink?.("a.txt", absolute(fork, "link.txt"));
      expect(await search(fork)).toBe(await search(ws));
    }));

  it("applies the rules of its parent to its calls, and to the merge", async () => {
    const { ws, dispose } = await open({
      rules: [
        { tool: "delete", path: "keep/**", decision: "deny" },
        { path: "frozen/**", decision: "deny" },
      ],
    });
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, { "keep/a.txt": "1\n", "frozen/b.txt": "1\n", "c.txt": "1\n" });
    const before = await treeOf(ws);
    const fork = await ws.fork();
    rootedAt(fork, cwd);
    expect(await codeOf(fork, "delete", { path: "keep/a.txt" })).toBe("APPROVAL_DENIED");
    expect(await codeOf(fork, "read_file", { path: "frozen/b.txt" })).toBe("APPROVAL_DENIED");
    // The host's own access is not bound by rules; the merge is.
    await write(fork, { "frozen/b.txt": "fork\n", "c.txt": "fork\n" });
    await expect(fork.merge()).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
    await write(fork, { "frozen/b.txt": "1\n" });
    await fork.fs.delete(absolute(fork, "keep/a.txt"));
    await expect(fork.merge()).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
    expect(await treeOf(ws)).toEqual(before);
    await write(fork, { "keep/a.txt": "1\n" });
    expect(await fork.merge()).toMatchObject({ merged: true });
    expect(await treeOf(ws)).toEqual({ ...before, "c.txt": "fork\n" });
    await dispose();
  });

  it("asks about a merge with what it does, and does nothing when it is refused", async () => {
    const asked: Confirmation[] = [];
    let answer: "proceed_once" | "cancel" = "cancel";
    const { ws, dispose } = await open({
      confirm: async (question) => {
        if (question.tool === "merge") asked.push(question as unknown as Confirmation);
        await question.onConfirm(question.tool === "merge" ? answer : "proceed_once");
      },
    } as Partial<WorkspaceOptions>);
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, { "a.txt": "1\n", "b.txt": "1\n" });
    const fork = await ws.fork("asked");
    rootedAt(fork, cwd);
    await write(fork, { "a.txt": "fork\n" });
    await fork.fs.delete(absolute(fork, "b.txt"));
    const before = await treeOf(ws);
    await expect(fork.merge()).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
    expect(await treeOf(ws)).toEqual(before);
    expect(asked[0]?.title).toBe("Merge 2 paths of the fork asked");
    expect(asked[0]?.changes.map(({ kind }) => kind).sort()).toEqual(["delete", "edit"]);
    expect(asked[0]?.fileDiff).toContain("-1\n+fork");
    answer = "proceed_once";
    expect(await fork.merge()).toMatchObject({ merged: true });
    expect(await treeOf(ws)).toEqual({ "a.txt": "fork\n" });
    await dispose();
  });

  it("merges nothing that was changed while somebody was asked", async () => {
    let meanwhile: (() => Promise<void>) | undefined;
    const { ws, dispose } = await open({
      confirm: async (question) => {
        await meanwhile?.();
        await question.onConfirm("proceed_once");
      },
    } as Partial<WorkspaceOptions>);
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, { "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n" });
    const fork = await ws.fork();
    rootedAt(fork, cwd);
    await write(fork, { "a.txt": "fork\n2\n3\n4\n5\n6\n7\n8\n" });
    meanwhile = () => write(ws, { "a.txt": "1\n2\n3\n4\n5\n6\n7\nparent\n" });
    await expect(fork.merge()).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await treeOf(ws))["a.txt"]).toBe("1\n2\n3\n4\n5\n6\n7\nparent\n");
    meanwhile = undefined;
    expect(await fork.merge()).toMatchObject({ merged: true });
    expect((await treeOf(ws))["a.txt"]).toBe("fork\n2\n3\n4\n5\n6\n7\nparent\n");
    await dispose();
  });

  it("shows hooks the merge, which they can refuse", async () => {
    const seen: string[] = [];
    const { ws, dispose } = await open({
      hooks: [
        {
          stage: "before",
          tool: "*",
          run({ tool_name }) {
            seen.push(tool_name);
            return tool_name === "merge" ? { block: true, reason: "not today" } : undefined;
          },
        },
      ],
    });
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    const fork = await ws.fork();
    rootedAt(fork, cwd);
    await write(fork, { "a.txt": "fork\n" });
    await expect(fork.merge()).rejects.toMatchObject({ code: "HOOK_BLOCKED" });
    expect(seen).toContain("merge");
    expect(await treeOf(ws)).toEqual({});
    await dispose();
  });

  it("of a read-only workspace or agent changes nothing", async () => {
    const { ws, dispose } = await open({});
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    const reader = await ws.agent("reader", { access: { readOnly: true } });
    const fork = await reader.fork();
    expect(await codeOf(fork, "write_file", { path: "a.txt", content: "x" })).toBe("READ_ONLY");
    await expect(fork.merge()).rejects.toMatchObject({ code: "READ_ONLY" });
    const narrow = await ws.agent("narrow", { access: { write: ["in"], read: null } });
    const own = await narrow.fork();
    expect(await codeOf(own, "write_file", { path: "out.txt", content: "x" })).toBe("OUTSIDE_ALLOWED");
    await ok(own, "write_file", { path: "in/a.txt", content: "x" });
    expect(await own.merge()).toMatchObject({ merged: true });
    expect((await treeOf(ws))["in/a.txt"]).toBe("x");
    await dispose();
  });

  it("spends the budget of its agent: forks are no way to more calls", async () => {
    const { ws, dispose } = await open({});
    const agent = await ws.agent("worker", { budget: { calls: 3 } });
    const first = await agent.fork();
    await ok(first, "write_file", { path: "a.txt", content: "1" });
    const second = await (await ws.fork()).agent("worker", { budget: { calls: 3 } });
    await ok(second, "write_file", { path: "b.txt", content: "1" });
    await ok(first, "write_file", { path: "c.txt", content: "1" });
    expect((await agent.spent())?.calls).toBeGreaterThanOrEqual(2);
    await ok(agent, "write_file", { path: "d.txt", content: "1" }).catch(() => undefined);
    expect(await codeOf(first, "write_file", { path: "e.txt", content: "1" })).toBe("LIMIT_EXCEEDED");
    await dispose();
  });

  it("has its own reads: a change of what was read in the parent alone is refused by the guard", async () => {
    const { ws, dispose } = await open({ guard: "refuse" });
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, { "a.txt": "1\n" });
    await ok(ws, "read_file", { path: "a.txt" });
    const fork = await ws.fork();
    const args = { path: "a.txt", old_text: "1", new_text: "2" };
    expect(await codeOf(fork, "edit_file", args)).toBe("CONFLICT");
    await ok(fork, "read_file", { path: "a.txt" });
    await ok(fork, "edit_file", args);
    await dispose();
  });
});

describe("commands in a fork", () => {
  it("are refused before anybody is asked, with the reason", async () => {
    const { ws, dispose } = await openDisk({
      commands: {
        status: { tier: "test", files: "enforced", network: "enforced", policy: "enforced" },
        run: async () => {
          throw new Error("it ran");
        },
      },
      confirm: async () => {
        throw new Error("somebody was asked");
      },
    } as unknown as Partial<WorkspaceOptions>);
    const fork = await ws.fork();
    const { error } = await fork.call("run_command", { command: ["true"] });
    expect(error).toMatchObject({ code: "UNSUPPORTED_OPERATION" });
    expect(error?.message).toContain("Commands do not run in a fork");
    expect(fork.capabilities()).toMatchObject({ confinement: "checked", journal: "memory" });
    await dispose();
  });
});
