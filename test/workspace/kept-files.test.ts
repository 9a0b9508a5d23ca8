/** The files of records that earlier versions have written: kept approvals and what was read. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Approval, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { fileApprovals } from "../../js/hooks/approvals-file.node.ts";
import { temporary } from "../tools/harness.ts";

const approval = (id: string, more: Partial<Approval> = {}): Approval => ({
  id,
  outcome: "proceed_always_tool",
  scope: { tool: "mkdir", path: "**", until: "kept" },
  label: "mkdir on **",
  granted_at: "2026-01-01T00:00:00.000Z",
  ...more,
});

const rule = (agent: string, one: Approval) => ({ agent, approval: one });

/** The text of a file of kept approvals, as every version has written it. */
function approvalsText(rules: readonly unknown[]): string {
  const checksum = `sha256:${createHash("sha256").update(JSON.stringify(rules)).digest("hex")}`;
  return `${JSON.stringify({ format: "filewright approvals 1", checksum, rules }, undefined, 2)}\n`;
}

/** Opens a workspace whose file of kept approvals has this text; with the name of the file. */
async function withApprovals(text: string) {
  const [root, stateDir] = [(await temporary()).root, (await temporary()).stateDir];
  const confirm = (): { readonly outcome: "proceed_always_tool"; readonly payload: object } => ({
    outcome: "proceed_always_tool",
    payload: { scope: { tool: "mkdir", path: "**", until: "kept" } },
  });
  const first = await openWorkspace({ root, stateDir, guard: "off", confirm });
  await first.call("mkdir", { path: "first" });
  await first.close();
  const folder = join(stateDir, "approvals");
  const [name] = readdirSync(folder).filter((one) => one.endsWith(".json"));
  const file = join(folder, name as string);
  const written = readFileSync(file, "utf8");
  writeFileSync(file, text, { mode: 0o600 });
  let asked = 0;
  const open = (more: Partial<WorkspaceOptions> = {}): Promise<Workspace> =>
    openWorkspace({
      root,
      stateDir,
      guard: "off",
      confirm: () => {
        asked += 1;
        return { outcome: "cancel" };
      },
      ...more,
    });
  return { file, written, open, asked: () => asked };
}

describe("kept approvals", () => {
  test("of an earlier version hold for their agent, and are revoked one by one", async () => {
    const text = approvalsText([rule("", approval("approval-1")), rule("helper", approval("approval-2"))]);
    const { file, open } = await withApprovals(text);
    const ws = await open();
    expect((await ws.call("mkdir", { path: "a" })).ok).toBe(true);
    const helper = await ws.agent("helper");
    expect((await helper.call("mkdir", { path: "b" })).ok).toBe(true);
    expect((await (await ws.agent("other")).call("mkdir", { path: "c" })).ok).toBe(false);
    expect(await helper.approvals.revoke("approval-2")).toBe(true);
    expect((await helper.call("mkdir", { path: "d" })).ok).toBe(false);
    expect((await ws.call("mkdir", { path: "e" })).ok).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(approvalsText([rule("", approval("approval-1"))]));
  });

  test("are written in that form", async () => {
    const { written } = await withApprovals(approvalsText([]));
    const { rules } = JSON.parse(written) as { readonly rules: readonly { readonly approval: Approval }[] };
    expect(written).toBe(approvalsText(rules));
    expect(rules).toMatchObject([{ agent: "", approval: { outcome: "proceed_always_tool" } }]);
  });

  test("that have ended allow nothing, and leave the file with its next change", async () => {
    const ended = approval("approval-1", { expires: "2020-01-01T00:00:00.000Z" });
    const { file, open, asked } = await withApprovals(
      approvalsText([
        rule("", ended),
        rule("", approval("approval-2", { scope: { ...ended.scope, path: "x/**" } })),
      ]),
    );
    const ws = await open();
    expect((await ws.call("mkdir", { path: "a" })).ok).toBe(false);
    expect([asked(), (await ws.approvals.list()).map(({ id }) => id)]).toEqual([1, ["approval-2"]]);
    expect(await ws.approvals.revoke("approval-2")).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(approvalsText([]));
  });

  test.each<[string, unknown]>([
    ["no object", 7],
    ["nothing", null],
    ["no agent", { approval: approval("approval-1") }],
    ["no approval", { agent: "" }],
    ["an approval without an id", { agent: "", approval: { ...approval("x"), id: undefined } }],
  ])("of which one is %s allow nothing, and the file stays", async (_, wrong) => {
    const text = approvalsText([rule("", approval("approval-1")), wrong]);
    const { file, open, asked } = await withApprovals(text);
    const ws = await open();
    expect((await ws.call("mkdir", { path: "a" })).ok).toBe(false);
    await expect(ws.approvals.list()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect([asked(), readFileSync(file, "utf8")]).toEqual([1, text]);
  });

  test("that are given through several connections at once are all kept", async () => {
    const { stateDir } = await temporary();
    const places = [1, 2, 3].map(() => fileApprovals(stateDir, "w"));
    const ids = Array.from({ length: 12 }, (_, at) => `approval-${at + 10}`);
    await Promise.all(
      ids.map((id, at) => {
        const { records, kindOf } = places[at % 3]!;
        return records.put(kindOf(`agent ${at % 2}`), id, approval(id));
      }),
    );
    const { records, kindOf } = places[0]!;
    const found = await Promise.all([0, 1].map((at) => records.list(kindOf(`agent ${at}`), { limit: 100 })));
    expect(
      found
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids);
    expect((await records.list(kindOf("agent 0"), { after: ids[0], limit: 2 })).map(({ id }) => id)).toEqual([
      ids[2],
      ids[4],
    ]);
  });

  test("of which a writer expects another revision are left to the one that was faster", async () => {
    const { stateDir } = await temporary();
    const [one, two] = [fileApprovals(stateDir, "w"), fileApprovals(stateDir, "w")];
    const rev = await one.records.put("a", "x", approval("x"), { expect: null });
    expect(await two.records.get("a", "x")).toEqual({ value: approval("x"), rev });
    await two.records.put("a", "x", approval("x", { by: "ana" }), { expect: rev });
    for (const expect_ of [rev, null])
      await expect(one.records.put("a", "x", approval("x"), { expect: expect_ })).rejects.toMatchObject({
        code: "CONFLICT",
      });
    await one.records.remove("a", "x");
    expect(await two.records.get("a", "x")).toBeNull();
    await expect(two.records.put("a", "x", approval("x"), { expect: rev })).rejects.toMatchObject({
      code: "CONFLICT",
    });
  });
});

describe("what was read", () => {
  const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  /** Opens a workspace with a file `f`, whose record of reads has these lines. */
  async function withReads(lines: (root: string) => readonly unknown[], agent = "a") {
    const { root, stateDir } = await temporary({ f: "one\ntwo\n" });
    const name = createHash("sha256").update(agent).digest("hex").slice(0, 32);
    mkdirSync(join(stateDir, "reads"), { recursive: true });
    const file = join(stateDir, "reads", `${name}.jsonl`);
    const text = lines(root).map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
    writeFileSync(file, text.join("\n"));
    const ws = await openWorkspace({ root, stateDir, guard: "refuse", agent: "a" });
    const write = await ws.call("write_file", { path: "f", content: "new\n", overwrite: true });
    await ws.close();
    return { code: write.error?.code ?? "ok", lines: readFileSync(file, "utf8").split("\n"), root };
  }
  const known = (root: string) => ({ path: `${root}/f`, hash: hashOf("one\ntwo\n") });

  test.each<[string, (root: string) => readonly unknown[], string]>([
    ["the present content", (root) => [known(root)], "ok"],
    ["another content", (root) => [{ ...known(root), hash: hashOf("other") }], "CONFLICT"],
    ["some lines", (root) => [{ ...known(root), lines: [[1, 1]] }], "CONFLICT"],
    ["lines in an unknown form", (root) => [{ ...known(root), lines: "all" }], "CONFLICT"],
    ["a later removal", (root) => [known(root), { path: `${root}/f` }], "CONFLICT"],
    ["an earlier removal", (root) => [{ path: `${root}/f` }, known(root)], "ok"],
    ["lines that are none", (root) => ["", "null", "7", "[]", "{}", '{"path":7}', known(root), '{"pa'], "ok"],
    ["nothing", () => [], "CONFLICT"],
  ])("as an earlier version wrote it, with %s", async (_, lines, code) => {
    const result = await withReads(lines);
    expect(result.code).toBe(code);
    if (code === "ok") {
      const last = JSON.parse(result.lines.at(-2) as string) as object;
      expect(last).toMatchObject({ path: `${result.root}/f`, hash: hashOf("new\n") });
    }
  });

  test("by another agent counts for nothing", async () => {
    expect(
      (await withReads((root) => [known(root)], "b").catch((error: unknown) => ({ code: error }))).code,
    ).toBe("CONFLICT");
  });
});
