/** One page for several servers: questions of real processes, who serves the page, and what happens when one ends. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import type { ChangeRows, ReviewQuestion, ReviewSnapshot } from "../../../js/review/protocol.ts";
import { makeResponderHandler } from "../../../js/review/http.ts";
import { importKey } from "../../../js/review/proof/mac.ts";
import { type Prover, UnprovenError } from "../../../js/review/proof/prover.ts";
import { startPageServer } from "../../../js/review/serve.node.ts";
import { ownerProver } from "../../../js/review/shared/peers.node.ts";
import { VERSION } from "../../../js/engine/generated/version.ts";
import { openDesk, saidBy, watcherOf } from "../reviewing.ts";

const LINK = /Changes wait at (http:\S+#t=[0-9a-f]{64})/u;
const content = (root: string): Promise<string> => readFile(join(root, "a.txt"), "utf8");
const waitingIn =
  (root: string) =>
  ({ state }: ReviewSnapshot): (ReviewQuestion & { readonly kind: "change" }) | undefined => {
    const found = state.waiting.find(
      (one) => one.kind === "change" && one.changes[0]?.path.startsWith(`${root}/`),
    );
    return found?.kind === "change" ? found : undefined;
  };

it("shows the changes of filewright mcp --review, by the link on standard error or that of filewright review", async () => {
  await using desk = await openDesk();
  const agent = await desk.agent("repo");
  const page = await watcherOf(await saidBy(agent.server, LINK));
  const write = agent.write("two\n");
  const { id, digest } = await page.until(waitingIn(agent.root));
  const rows = (await (await page.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
  expect(rows.hunks[0]?.lines).toBe("-one\n+two");
  expect(await content(agent.root)).toBe("one\n");

  const asked = ["review", "--url", `http://127.0.0.1:${desk.port}`, "--role", "watch", "--by", "ana"];
  const { out, status } = await desk.cli.run(asked, "", desk.env);
  expect(status).toBe(0);
  const looking = await watcherOf(out.trim());
  const snapshot = await looking.until((one) => one);
  expect([snapshot.role, snapshot.by, snapshot.workspaces]).toEqual(["watch", "ana", [agent.root]]);
  expect((await looking.post(`approvals/${id}`, { outcome: "allow", digest })).status).toBe(403);

  expect((await page.post(`approvals/${id}`, { outcome: "allow", digest })).status).toBe(200);
  expect((await write).isError).toBe(false);
  expect(await content(agent.root)).toBe("two\n");
});

it("has one page for two servers; kill -9 of the one that serves it leaves the question of the other answerable", async () => {
  await using desk = await openDesk();
  const first = await desk.agent("first");
  const page = await watcherOf(await saidBy(first.server, LINK));
  const second = await desk.agent("second");
  await saidBy(second.server, /Changes wait at (\S+), the page of another server/u);
  expect((await stat(desk.key)).mode & 0o777).toBe(0o600);
  await page.until(({ workspaces }) => (workspaces.length === 2 ? workspaces : undefined));

  // An answer at the page of the first process reaches the second one, and of two at once one wins.
  const refused = second.write("refused\n");
  const question = await page.until(waitingIn(second.root));
  const answer = { outcome: "refuse", digest: question.digest, reason: "not now" };
  const both = await Promise.all([1, 2].map(() => page.post(`approvals/${question.id}`, answer)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect(await refused).toMatchObject({ isError: true, text: expect.stringContaining("not now") });

  const write = second.write("two\n");
  const waiting = await page.until(waitingIn(second.root));
  process.kill(first.server.pid, "SIGKILL");
  await saidBy(second.server, /(This server shows the review page now)/u);
  // The same login, the same port, the same question.
  const still = await page.until(waitingIn(second.root));
  expect(still.id).toBe(waiting.id);
  const rows = (await (await page.get(`approvals/${still.id}/changes/0`)).json()) as ChangeRows;
  expect(rows.hunks[0]?.lines).toBe("-one\n+two");
  const allowed = await page.post(`approvals/${still.id}`, { outcome: "allow", digest: still.digest });
  expect(allowed.status).toBe(200);
  expect((await write).isError).toBe(false);
  expect(await content(second.root)).toBe("two\n");

  // A third server joins the one that took over.
  const third = await desk.agent("third");
  const later = third.write("three\n");
  const { id, digest } = await page.until(waitingIn(third.root));
  expect((await page.post(`approvals/${id}`, { outcome: "allow", digest })).status).toBe(200);
  expect((await later).isError).toBe(false);
});

it("says with --review-after that only the changes about which a rule asks wait", async () => {
  await using desk = await openDesk();
  const first = await desk.agent("first", ["--review-after"]);
  await saidBy(first.server, /^(Changes about which a rule asks wait) at http:\S+#t=[0-9a-f]{64} ;/mu);
  const second = await desk.agent("second", ["--review-after"]);
  const joined = /^(Changes about which a rule asks wait) at http:\S+, the page of another server/mu;
  await saidBy(second.server, joined);
  expect(first.server.errors() + second.server.errors()).not.toContain("Changes wait");
  expect((await second.write("two\n")).isError).toBe(false);
  expect(await content(second.root)).toBe("two\n");
});

it("withdraws the questions of a server that ends", async () => {
  await using desk = await openDesk();
  const first = await desk.agent("first");
  const page = await watcherOf(await saidBy(first.server, LINK));
  const second = await desk.agent("second");
  const write = second.write("two\n").catch(() => undefined);
  const { id, digest } = await page.until(waitingIn(second.root));
  process.kill(second.server.pid, "SIGKILL");
  const outcome = await page.until(
    ({ state }) => state.settled.find(({ question }) => question.id === id)?.outcome,
  );
  expect(outcome).toBe("withdrawn");
  expect((await page.post(`approvals/${id}`, { outcome: "allow", digest })).status).toBe(410);
  expect(await page.until(({ workspaces }) => (workspaces.length === 1 ? workspaces : undefined))).toEqual([
    first.root,
  ]);
  expect(await content(second.root)).toBe("one\n");
  await write;
});

it("takes a process that joins only with the key of the owner, and nothing from it but events", async () => {
  await using desk = await openDesk();
  const agent = await desk.agent("repo");
  const page = await watcherOf(await saidBy(agent.server, LINK));
  const write = agent.write("two\n");
  const { id, digest } = await page.until(waitingIn(agent.root));

  const owner = importKey(new Uint8Array(await readFile(desk.key)));
  const join = async (prover: Prover, body: object): Promise<number> => {
    const { status, body: stream } = await prover.send("peers", {
      body: JSON.stringify(body),
      mayStream: true,
    });
    // The page leaves a process that it does not understand.
    if (status === 200) for await (const _ of stream ?? []);
    else await stream?.cancel();
    return status;
  };
  const right = ownerProver(owner, desk.port);
  const other = ownerProver(importKey(crypto.getRandomValues(new Uint8Array(32))), desk.port);
  const joining = { version: VERSION, port: 1 };
  await expect(join(other, joining)).rejects.toThrow(UnprovenError);
  for (const wrong of [{}, { version: VERSION }, { ...joining, port: 0 }, { ...joining, more: 1 }])
    expect(await join(right, wrong), JSON.stringify(wrong)).toBe(400);
  expect(await join(right, { ...joining, version: "0.0.0-other" })).toBe(409);
  // Nothing listens at the port of this one.
  expect(await join(right, joining)).toBe(200);

  const events: readonly object[] = [
    { type: "nothing" },
    { type: "asked", question: { id: 7 } },
    { type: "subject", subject: "x", workspaces: [{}] },
    // A process says nothing about the questions of another one.
    { type: "asked", question: { id } },
    { type: "withdrawn", id, at: 1 },
    { type: "answered", id, outcome: "allow", by: "x", at: 1 },
  ];
  for (const event of events) {
    await using peer = await openFalsePeer(owner, event);
    expect(await join(right, { version: VERSION, port: peer.port }), JSON.stringify(event)).toBe(200);
    expect(peer.asked).toEqual(["state", "events"]);
  }
  // A process that does not have the key is asked nothing.
  await using foreign = await openFalsePeer(importKey(new Uint8Array(32)), { type: "nothing" });
  expect(await join(right, { version: VERSION, port: foreign.port })).toBe(200);
  expect(foreign.asked).toEqual([]);

  const still = await page.until(waitingIn(agent.root));
  expect(still.id).toBe(id);
  expect(await page.until(({ workspaces, state }) => [workspaces, state.waiting.length])).toEqual([
    [agent.root],
    1,
  ]);
  expect((await page.post(`approvals/${id}`, { outcome: "allow", digest })).status).toBe(200);
  expect((await write).isError).toBe(false);
});

/** Serves the page of a process that sends an event. It notes what is asked of it. */
async function openFalsePeer(owner: Promise<CryptoKey>, event: object) {
  const asked: string[] = [];
  let port = 0;
  const state = { waiting: [], settled: [], calls: [], seq: 0, history: 0, unreviewed: 0 };
  const { handle } = makeResponderHandler(
    {
      token: "a-token-of-this-test-alone",
      async answer(_request, path) {
        asked.push(path);
        return path === "state"
          ? Response.json({ run: "r", version: VERSION, subject: "", workspaces: [], state })
          : new Response(`id: r:1\ndata: ${JSON.stringify({ seq: 1, ...event })}\n\n`, {
              headers: { "content-type": "text/event-stream" },
            });
      },
    },
    { file: () => undefined },
    { owner, authority: () => `127.0.0.1:${port}` },
  );
  const server = await startPageServer(handle, { host: "127.0.0.1", port: 0 });
  ({ port } = server);
  return { port, asked, [Symbol.asyncDispose]: server.close };
}
