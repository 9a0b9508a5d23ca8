/** The policy over HTTP: why calls are refused, what people can grant, and what they can revoke. */
import { describe, expect, it } from "vitest";
import type { ExplainedCall, ShownPolicy } from "../../../js/review/policy-data.ts";
import type { ReviewSnapshot } from "../../../js/review/protocol.ts";
import { type Client, firstQuestion, logIn, openPlace } from "../place.ts";

/** Asks why, and returns the answer. */
async function why(client: Client, query: Readonly<Record<string, string>>): Promise<ExplainedCall> {
  const response = await client.get(`why?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  return (await response.json()) as ExplainedCall;
}

const stopOf = ({ gates }: ExplainedCall) => gates.find(({ verdict }) => verdict === "stops");

async function policyOf(client: Client): Promise<ShownPolicy> {
  return (await (await client.get("policy")).json()) as ShownPolicy;
}

describe("why a call was refused", () => {
  it("is told for a call of the feed, with the gate that stopped it and what changes that", async () => {
    const { ws, page } = await openPlace(
      { ".env": "KEY=1", "vault/k": "k" },
      { access: { deny: ["vault"] }, rules: [{ tool: "delete", path: "keep", decision: "deny" }] },
    );
    const client = await logIn(page, "watch", "guest");
    const calls: readonly (readonly [tool: string, path: string, gate: string, remedy: RegExp])[] = [
      ["read_file", "../o/x", "root", /roots/u],
      ["read_file", "vault/k", "deny", /access\.deny/u],
      ["write_file", ".git/config", "protected", /access\.places/u],
      ["read_file", ".env", "secret", /access\.secrets = "allow"/u],
      ["delete", "keep", "rules", /rules\[0\]/u],
    ];
    for (const [tool, path] of calls)
      expect((await ws.call(tool, { path, ...(tool === "write_file" ? { content: "" } : {}) })).ok).toBe(
        false,
      );
    const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
    for (const [index, [tool, path, gate, remedy]] of calls.entries()) {
      const { id, errorPath } = state.calls[index] as (typeof state.calls)[number];
      const explained = await why(client, { call: id });
      expect(explained).toMatchObject({ tool, path: errorPath ?? path });
      expect(stopOf(explained)?.gate, `${tool} ${path}`).toBe(gate);
      expect(stopOf(explained)?.remedy).toMatch(remedy);
      expect(stopOf(await why(client, { tool, path }))?.gate).toBe(gate);
    }
    expect((await client.get("why?call=unknown")).status).toBe(404);
    expect((await client.get("why?tool=write_fiel&path=a")).status).toBeGreaterThanOrEqual(400);
    expect((await client.get("why?tool=stat")).status).toBe(400);
    expect((await client.get("why?tool=stat&path=a&workspace=other")).status).toBe(404);
  });

  it("names the person who refused it, also in the event of the call", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(page, "answer", "ana");
    const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
    const id = await firstQuestion(hub);
    const [question] = hub.queue.pending();
    const digest = question?.kind === "change" ? question.details.digest : "";
    await client.post(`approvals/${id}`, { outcome: "refuse", digest });
    expect((await call).ok).toBe(false);
    const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
    expect(state.calls.at(-1)).toMatchObject({ code: "APPROVAL_DENIED", by: "ana" });
  });
});

describe("grants", () => {
  const prompt = { permissions: { mode: "prompt" } } as const;

  it("are given after a refusal, and revoked, in the name of the person", async () => {
    const { ws, page } = await openPlace({ "src/a.txt": "one\n" }, prompt);
    const client = await logIn(page, "manage", "ana");
    const read = async () => (await ws.call("read_file", { path: "src/a.txt" })).ok;
    expect(await read()).toBe(false);
    const stop = stopOf(await why(client, { tool: "read_file", path: "src/a.txt" }));
    expect(stop).toMatchObject({ gate: "grants", missing: [{ dir: "/w/src", access: "read" }] });
    expect((await client.post("grants", { dir: "/w/src", access: "read", minutes: 60 })).status).toBe(200);
    expect(await read()).toBe(true);
    const [grant, ...others] = (await policyOf(client)).grants;
    expect(others).toEqual([]);
    expect(grant).toMatchObject({ dir: "/w/src", access: "read", by: "ana" });
    const minutes = (Date.parse(grant?.expires ?? "") - Date.parse(grant?.granted_at ?? "")) / 60_000;
    expect(minutes).toBeCloseTo(60, 0);
    expect((await client.post("grants/revoke", { dir: "/w/src" })).status).toBe(200);
    expect(await read()).toBe(false);
    expect((await client.post("grants/revoke", { dir: "/w/src" })).status).toBe(404);
  });

  it("never allow what the host denies, and need the role manage", async () => {
    const { ws, page } = await openPlace(
      { "vault/k": "k", "src/a": "" },
      { ...prompt, access: { deny: ["vault"] } },
    );
    const client = await logIn(page);
    for (const dir of ["/o", "/w/vault", "/w/.git/hooks", "relative/../../o"]) {
      const response = await client.post("grants", { dir, access: "write" });
      expect(response.status, dir).toBe(409);
    }
    expect(await ws.grants.list()).toEqual([]);
    for (const body of [
      { dir: "/w/src" },
      { dir: "/w/src", access: "all" },
      { dir: "/w/src", access: "read", minutes: 0 },
      { dir: "/w/src", access: "read", forever: true },
      [],
    ])
      expect((await client.post("grants", body)).status, JSON.stringify(body)).toBe(400);
    for (const role of ["watch", "answer"] as const) {
      const other = await logIn(page, role);
      expect((await other.post("grants", { dir: "/w/src", access: "read" })).status).toBe(403);
      expect((await other.post("grants/revoke", { dir: "/w/src" })).status).toBe(403);
      expect((await other.post("policy/approvals/revoke", { id: "x" })).status).toBe(403);
    }
    expect(await ws.grants.list()).toEqual([]);
  });

  it("are not offered by a workspace that asks for no directories", async () => {
    const { page } = await openPlace({ "src/a": "" });
    const client = await logIn(page);
    expect((await client.post("grants", { dir: "/w/src", access: "read" })).status).toBe(409);
  });
});

describe("what the page shows of the policy", () => {
  it("has roots, denied globs, rules with the calls that each has decided about, and nothing of the host", async () => {
    const { ws, page } = await openPlace(
      { "src/a.txt": "one\n", "src/b.txt": "two\n" },
      {
        access: { deny: ["vault"] },
        confirm: () => ({ outcome: "cancel" }),
        rules: [
          { tool: "write_file", path: "src", decision: "allow" },
          { path: "docs", decision: "deny" },
          { tool: "run_command", args: (args) => args["command"] === "x", decision: "allow" },
          { tool: "delete", args: { path: "keep" }, decision: "ask" },
        ],
      },
    );
    const client = await logIn(page, "watch");
    const hits = async () => (await policyOf(client)).policy.rules.map((rule) => rule.hits);
    expect(await hits()).toEqual([0, 0, 0, 0]);
    await ws.call("write_file", { path: "src/a.txt", content: "1" });
    await ws.call("write_file", { path: "docs/a", content: "1" });
    expect(await hits()).toEqual([1, 1, 0, 0]);
    // Once for each call, however many paths it has; a question to `why` is none.
    await ws.call("read_many_files", { paths: ["src/a.txt", "src/b.txt", "docs/a", "docs/b"] });
    await ws.call("delete", { path: "keep" });
    await ws.why({ tool: "write_file", path: "src/a.txt" });
    expect(await hits()).toEqual([1, 2, 0, 1]);
    // An agent has the rules of the workspace, and its own.
    const agent = await ws.agent("helper", { rules: [{ path: "src/b.txt", decision: "deny" }] });
    await agent.call("write_file", { path: "src/b.txt", content: "2" });
    expect(agent.policy().rules.map((rule) => [rule.list, rule.hits])).toEqual([
      [0, 2],
      [0, 2],
      [0, 0],
      [0, 1],
      [1, 1],
    ]);
    const { policy, tools } = await policyOf(client);
    expect(policy).toMatchObject({
      cwd: "/w",
      read: ["/w"],
      write: ["/w"],
      deny: ["vault"],
      readOnly: false,
      permissions: "off",
    });
    expect(policy.rules.map(({ tool, path, args }) => [tool, path, args])).toEqual([
      ["write_file", "src", undefined],
      ["*", "docs", undefined],
      ["run_command", undefined, "a test"],
      ["delete", undefined, '{"path":"keep"}'],
    ]);
    expect(tools).toContain("write_file");
  });

  it("does not tell where the host keeps its grants and its state", async () => {
    const { page } = await openPlace({ a: "" }, { permissions: { mode: "prompt" }, access: { deny: ["x"] } });
    const text = await (await (await logIn(page, "watch")).get("policy")).text();
    expect(JSON.parse(text).policy.deny).toEqual(["x"]);
  });
});

describe("lasting approvals", () => {
  it("are listed with who gave them, and revoked", async () => {
    const { ws, page } = await openPlace(
      {},
      {
        confirm: () => ({
          outcome: "proceed_always_tool",
          payload: { by: "ben", scope: { tool: "write_file", path: "src/**", until: "session" } },
        }),
      },
    );
    await ws.call("write_file", { path: "src/a", content: "1" });
    const client = await logIn(page, "manage", "ana");
    const [approval] = (await policyOf(client)).approvals;
    expect(approval).toMatchObject({
      covers: "write_file on src/**",
      scope: { until: "session" },
      by: "ben",
    });
    const revoke = () => client.post("policy/approvals/revoke", { id: approval?.id });
    expect((await revoke()).status).toBe(200);
    expect((await revoke()).status).toBe(404);
    expect(await ws.approvals.list()).toEqual([]);
    expect((await client.post("policy/approvals/revoke", {})).status).toBe(400);
    // What was revoked can be put back as it was, once; what was never given cannot.
    const restore = (id = approval?.id) => client.post("policy/approvals/restore", { id });
    expect((await restore("approval-0")).status).toBe(404);
    expect(
      (await (await logIn(page, "answer")).post("policy/approvals/restore", { id: approval?.id })).status,
    ).toBe(403);
    expect((await restore()).status).toBe(200);
    expect((await policyOf(client)).approvals).toEqual([approval]);
    expect((await restore()).status).toBe(404);
  });
});
