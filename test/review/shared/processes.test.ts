/** One page for several servers: questions of real processes, who serves the page, and what happens when one ends. */
import { readFile, stat } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { expect, it } from "vitest";
import type { ChangeRows, ReviewQuestion, ReviewSnapshot } from "../../../js/review/protocol.ts";
import { encodeFrame } from "../../../js/review/shared/frames.ts";
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
  expect((await stat(desk.socket)).mode & 0o777).toBe(0o600);
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
  // The same cookie, the same port, the same question.
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

it("ends the connection of whoever sends anything else than the messages of a server", async () => {
  await using desk = await openDesk();
  const agent = await desk.agent("repo");
  const page = await watcherOf(await saidBy(agent.server, LINK));
  const write = agent.write("two\n");
  const { id, digest } = await page.until(waitingIn(agent.root));

  /** Sends bytes and resolves when the connection has ended. */
  const send = (...frames: readonly Uint8Array[]): Promise<void> =>
    new Promise((resolve) => {
      const socket = connectSocket(desk.socket, () => {
        for (const frame of frames) socket.write(frame);
      });
      socket.resume();
      socket.once("error", () => {}).once("close", () => resolve());
    });
  const hello = encodeFrame({ type: "hello", version: VERSION });
  const event = (sent: object): Uint8Array => encodeFrame({ type: "event", event: sent });
  await send(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  await send(new Uint8Array(8).fill(0xff));
  await send(encodeFrame({ type: "hello", version: "0.0.0-other" }));
  await send(encodeFrame({ type: "hello", version: VERSION, more: 1 }));
  await send(event({ type: "asked", question: { id: "x" } }));
  await send(hello, hello);
  await send(hello, event({ type: "nothing" }));
  await send(hello, event({ type: "asked", question: { id: 7 } }));
  await send(hello, event({ type: "subject", subject: "x", workspaces: [{}] }));
  await send(hello, encodeFrame({ type: "response", id: 99, status: 200, headers: {} }));
  // A process says nothing about the questions of another one.
  await send(hello, event({ type: "asked", question: { id } }));
  await send(hello, event({ type: "withdrawn", id, at: 1 }));
  await send(hello, event({ type: "answered", id, outcome: "allow", by: "x", at: 1 }));

  const still = await page.until(waitingIn(agent.root));
  expect(still.id).toBe(id);
  expect(await page.until(({ workspaces, state }) => [workspaces, state.waiting.length])).toEqual([
    [agent.root],
    1,
  ]);
  expect((await page.post(`approvals/${id}`, { outcome: "allow", digest })).status).toBe(200);
  expect((await write).isError).toBe(false);
});
