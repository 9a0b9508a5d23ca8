/** What stops or asks about a call since one decision walks one list, compared with the places that did before. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { toGeminiCliTools } from "../../js/adapters/gemini-cli.ts";
import { toInterruptOn } from "../../js/adapters/langchain.ts";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { DECISION_ORDER } from "../../js/policy/index.ts";
import { makeGates } from "../../js/pipeline/sources.ts";
import { COPIES, COUNT, gateAnswers, gateCases, orderOf, readGates, SEED } from "./gates.ts";

const { header, changes, rows } = readGates();
const cases = gateCases();

test("the recorded cases are those of the seed", () => {
  expect([header.seed, header.count]).toEqual([SEED, COUNT]);
  expect(createHash("sha256").update(JSON.stringify(cases)).digest("hex")).toBe(header.cases);
});

test("20,000 calls are decided as before, and only the order that access_info prints has changed", () => {
  for (const copy of COPIES) expect(header.now[copy], copy).toBe(header.before[copy]);
  expect(changes.length).toBeGreaterThan(0);
  for (const { copy, before, now } of changes) {
    expect(copy).toBe("order");
    // What was printed before is printed still; hooks and the guard are new in it.
    expect(now.replace(/^hooks /u, "").replace(/ guard$/u, "")).toBe(before);
  }
});

test("a sample of 500 is decided as recorded", async () => {
  expect(rows).toHaveLength(500);
  for (const { row, now } of rows) {
    const one = cases[row];
    if (one === undefined) throw new Error(`no case ${row}`);
    const order = await orderOf(one);
    expect({ ...(await gateAnswers(one)), order }, JSON.stringify(one)).toEqual(now);
  }
});

test("a call that one source refuses is not made, whatever the others say", () => {
  const refused = rows.filter(({ now }) => /fails|"proceed":false/u.test(now.hook));
  expect(refused.length).toBeGreaterThan(50);
  for (const { now } of refused) expect(now.whole).not.toMatch(/(^|; )ok/u);
  const unseen = rows.filter(
    ({ row, now }) => now.guard.startsWith("CONFLICT") && cases[row]?.hook?.answer !== "changed",
  );
  expect(unseen.length).toBeGreaterThan(10);
  for (const { now } of unseen) expect(now.whole).not.toMatch(/(^|; )ok/u);
});

describe("the list of sources", () => {
  const names = Object.keys(DECISION_ORDER);

  test("of a workspace is the order of decisions without the framework, which asks before the call", () => {
    const gates = { rules: { isEmpty: true }, confirmFor: () => undefined };
    const list = makeGates(gates as never, { hooks: [], resolver: {} as never })
      .sources("write_file")
      .map(({ name }) => name);
    expect(["framework", ...list]).toEqual(names);
  });

  test.for([
    [{}, ["policy"]],
    [{ guard: "refuse" }, ["policy", "guard"]],
    [{ guard: "warn" }, ["policy"]],
    [{ hooks: [{ stage: "before", tool: "delete", run: () => undefined }] }, ["hooks", "policy"]],
    [{ hooks: [{ stage: "after", tool: "*", run: () => undefined }] }, ["policy"]],
    [{ permissions: { mode: "off" } }, ["policy"]],
  ] as const)("in force with %j is %j", async ([options, order]) => {
    const backend = new MemoryBackend({ "/w/a": "a" });
    await using ws = await openWorkspace({ backend, root: "/w", ...options } as never);
    expect((await ws.call("access_info", {})).data).toMatchObject({ decided_by: order });
  });

  test("names the grants of an agent whose workspace asks for none", async () => {
    await using ws = await openWorkspace({ backend: new MemoryBackend({ "/w/a": "a" }), root: "/w" });
    const agent = await ws.agent("ada", { permissions: {} });
    expect((await agent.call("read_file", { path: "a" })).error?.code).toBe("GRANT_DENIED");
    expect((await agent.call("access_info", {})).data).toMatchObject({ decided_by: ["policy", "grants"] });
    expect((await ws.call("access_info", {})).data).toMatchObject({ decided_by: ["policy"] });
  });
});

describe("a framework's question", () => {
  test("is put for every tool where it takes no function and is given one", async () => {
    await using ws = await openWorkspace({ backend: new MemoryBackend({}), root: "/w" });
    const interrupts = Object.values(toInterruptOn(ws, (() => false) as never));
    expect(interrupts.length).toBeGreaterThan(10);
    expect(new Set(interrupts)).toEqual(new Set([true]));
  });

  test("is put about a call that would be refused as it is, because a hook may change it", async () => {
    await using ws = await openWorkspace({
      backend: new MemoryBackend({ "/w/a": "one\n" }),
      root: "/w",
      hooks: [{ stage: "before", tool: "read_file", run: () => ({ modified_args: { path: "a" } }) }],
    });
    const tools = toGeminiCliTools(ws, { preset: "canonical", include: ["read_file"], approve: "always" });
    const params = { path: "/etc/x" };
    expect(await tools[0]?.shouldConfirmExecute(params)).toMatchObject({ type: "info" });
    // Nobody answered, so the call is not made.
    expect((await tools[0]?.execute(params))?.error?.type).toBe("APPROVAL_DENIED");
  });
});
