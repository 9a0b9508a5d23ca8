/** A quorum of people at one page: each name counts once, and the audit has all of them. */
import { describe, expect, it } from "vitest";
import { type CallEnd, MemoryBackend, openWorkspace, quorum } from "../../../js/index.node.ts";
import { reviewHub, serveReviewPage } from "../../../js/review/index.node.ts";
import { type JointAnswers, jointAnswersOf } from "../../../js/review/questions/joint.ts";
import { logIn, untilHub } from "../place.ts";

/** Opens a workspace in which two people at a page must allow each change. */
async function open(needed = 2, asked = 2) {
  const hub = reviewHub();
  const ended: CallEnd[] = [];
  const backend = new MemoryBackend({ "/w/a.txt": "one\n" });
  const ws = await openWorkspace({
    backend,
    root: "/w",
    guard: "off",
    confirm: quorum(
      needed,
      Array.from({ length: asked }, () => hub.confirm),
    ),
    observers: [{ end: (call) => void ended.push(call) }],
  });
  const page = await serveReviewPage(hub);
  const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
  const questions = await untilHub(hub, () => {
    const pending = hub.queue.pending();
    return pending.length === asked ? pending : undefined;
  });
  const ids = questions.map(({ id }) => id);
  const [first] = questions;
  const digest = first?.kind === "change" ? first.details.digest : "";
  return {
    hub,
    call,
    ended,
    backend,
    page,
    ids,
    digest,
    async close() {
      hub.close();
      await page.close();
      await ws.close();
    },
  };
}

describe("two people must allow", () => {
  it("the same person counts once, the second one writes the file, and the audit names both", async () => {
    const place = await open();
    const [ana, ben] = [await logIn(place.page, "answer", "ana"), await logIn(place.page, "answer", "ben")];
    const body = { outcome: "allow", digest: place.digest };
    expect((await ana.post(`approvals/${place.ids[0]}`, body)).status).toBe(200);
    // Another login of the same name is the same person.
    for (const client of [ana, await logIn(place.page, "manage", "ana")]) {
      const again = await client.post(`approvals/${place.ids[1]}`, body);
      expect([again.status, await again.json()]).toEqual([
        409,
        { error: "you have allowed this, and another person must, too", reason: "repeated" },
      ]);
    }
    expect(await place.backend.readText("/w/a.txt")).toBe("one\n");
    expect((await ben.post(`approvals/${place.ids[1]}`, body)).status).toBe(200);
    expect((await place.call).ok).toBe(true);
    expect(await place.backend.readText("/w/a.txt")).toBe("two\n");
    expect(place.ended.map(({ approval }) => approval?.by)).toEqual(["ana and ben"]);
    await place.close();
  });

  it("of three who are asked, the page says that two are needed and who has allowed", async () => {
    const place = await open(2, 3);
    const ana = await logIn(place.page, "answer", "ana");
    const said = (): JointAnswers | undefined => {
      const { state } = place.hub.snapshot({ role: "watch", by: "" });
      const [first] = state.waiting;
      return first && jointAnswersOf(state, first);
    };
    expect(said()).toEqual({ needed: 2, allowedBy: [] });
    await ana.post(`approvals/${place.ids[0]}`, { outcome: "allow", digest: place.digest });
    expect(said()).toEqual({ needed: 2, allowedBy: ["ana"] });
    await place.close();
  });

  it("one refusal is enough to refuse where both must allow", async () => {
    const place = await open();
    const [ana, ben] = [await logIn(place.page, "answer", "ana"), await logIn(place.page, "answer", "ben")];
    await ana.post(`approvals/${place.ids[0]}`, { outcome: "allow", digest: place.digest });
    await ben.post(`approvals/${place.ids[1]}`, {
      outcome: "refuse",
      digest: place.digest,
      reason: "not today",
    });
    const result = await place.call;
    expect([result.ok, result.text.includes("not today")]).toEqual([false, true]);
    await place.close();
  });
});

it("a quorum does not count a name twice, whoever passes the answers on", async () => {
  const says = (by: string) => () => ({ outcome: "proceed_once", payload: { by } }) as const;
  const ask = (...names: readonly string[]) =>
    quorum(2, names.map(says))({ scopes: [] } as never) as Promise<{ readonly outcome: string }>;
  expect(await ask("ana", "ana")).toMatchObject({ outcome: "cancel" });
  expect(await ask("ana", "ana", "ben")).toEqual({
    outcome: "proceed_once",
    payload: { by: "ana and ben" },
  });
});
