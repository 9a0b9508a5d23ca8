/** A page without a server: the transport to a hub in the same program. */
import { describe, expect, it } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import {
  hubTransport,
  type ReviewEvent,
  reviewHub,
  type ReviewSnapshot,
} from "../../js/review/index.node.ts";
import { firstQuestion } from "./place.ts";

async function openHub() {
  const hub = reviewHub({ subject: "/w" });
  const backend = new MemoryBackend({ "/w/a.txt": "one\n" });
  const ws = await openWorkspace({ backend, root: "/w", guard: "off", confirm: hub.confirm });
  return { hub, backend, ws };
}
const LISTENER = { reset() {}, lost() {}, back() {} };

describe("hubTransport", () => {
  it("reads the state, hears the events, and answers in the name of its login", async () => {
    const { hub, backend, ws } = await openHub();
    const transport = hubTransport(hub, { role: "answer", by: "ana" });
    await transport.logIn();
    const { run, state, role, by } = (await transport.request("state")) as ReviewSnapshot;
    expect({ role, by, waiting: state.waiting }).toEqual({ role: "answer", by: "ana", waiting: [] });
    const events: ReviewEvent[] = [];
    const stop = transport.listen(run, state.seq, { ...LISTENER, event: (event) => events.push(event) });

    const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
    const id = await firstQuestion(hub);
    const { digest } = (await transport.request(`approvals/${id}/changes/0`)) as { digest: string };
    await transport.request(`approvals/${id}`, { outcome: "allow", digest });
    expect((await call).ok).toBe(true);
    expect(await backend.readText("/w/a.txt")).toBe("two\n");
    expect(events.map(({ type }) => type)).toEqual(["asked", "answered"]);
    expect(events[1]).toMatchObject({ by: "ana", outcome: "allow" });

    stop();
    const heard = events.length;
    const later: ReviewEvent[] = [];
    transport.listen(run, state.seq, { ...LISTENER, event: (event) => later.push(event) })();
    expect(later).toEqual(events);
    expect(events.length).toBe(heard);
    await ws.close();
  });

  it("holds to the role of its login, and refuses what a server would refuse", async () => {
    const { hub, ws } = await openHub();
    const transport = hubTransport(hub, { role: "watch", by: "ben" });
    const status = (path: string, body?: object) =>
      transport.request(path, body).then(
        () => 200,
        (error: { status?: number }) => error.status,
      );
    expect(await status("approvals/x", { outcome: "allow" })).toBe(403);
    expect(await status("nothing")).toBe(404);
    expect(await status("../mcp")).toBe(404);
    await ws.close();
  });

  it("reads another workspace under the name of one that was detached", async () => {
    const [{ hub, ws }, other] = [await openHub(), await openHub()];
    const transport = hubTransport(hub);
    const found = async () =>
      (await transport.request("search", { kind: "text", query: "o" })) as { places: { text: string }[] };
    const detach = hub.attach(ws);
    expect((await found()).places).toMatchObject([{ text: "one" }]);
    detach();
    await expect(found()).rejects.toMatchObject({ status: 404 });
    await other.backend.writeBytes("/w/a.txt", Buffer.from("other\n"));
    hub.attach(other.ws);
    expect((await found()).places).toMatchObject([{ text: "other" }]);
    await Promise.all([ws.close(), other.ws.close()]);
  });

  it("lets a page read the state again after another run", async () => {
    const { hub, ws } = await openHub();
    await new Promise<void>((reset) => {
      hubTransport(hub).listen("another", 0, { ...LISTENER, event() {}, reset });
    });
    await ws.close();
  });
});
