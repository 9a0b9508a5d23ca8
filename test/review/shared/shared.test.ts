/** The connection of two processes that share a page: frames, workspaces of both, and what is too large. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { makeResponderHandler, hubResponder } from "../../../js/review/http.ts";
import { makeLogins } from "../../../js/review/login.ts";
import type { FoundPlaces, ReviewSnapshot, UnnumberedEvent } from "../../../js/review/protocol.ts";
import { encodeFrame, type Frame, FrameError, makeFrameReader } from "../../../js/review/shared/frames.ts";
import { acceptPeers } from "../../../js/review/shared/host.node.ts";
import { joinPage } from "../../../js/review/shared/peer.node.ts";
import { eventsOfSnapshot, makeSharedReview, type SharedReview } from "../../../js/review/shared/shared.ts";
import { firstQuestion, openPlace, type Place } from "../place.ts";

const LOGIN = { role: "manage", by: "ana" } as const;

/** Sends a request that was checked. */
async function ask(shared: SharedReview, path: string, body?: object): Promise<Response> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  return shared.answer(new Request(`http://server/review/${path}`, init), path.replace(/\?.*$/u, ""), LOGIN);
}

const snapshotOf = async (shared: SharedReview): Promise<ReviewSnapshot> =>
  (await (await ask(shared, "state")).json()) as ReviewSnapshot;

/** Resolves when an event makes `found` true for the state of the page. */
async function untilShared(
  shared: SharedReview,
  found: (snapshot: ReviewSnapshot) => boolean,
): Promise<ReviewSnapshot> {
  for (;;) {
    const snapshot = await snapshotOf(shared);
    if (found(snapshot)) return snapshot;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Connects a place to a page, as another process does. */
async function joinAs(
  { hub }: Place,
  path: string,
  more: readonly UnnumberedEvent[] = [],
): Promise<{ leave(): void; readonly ended: Promise<void> }> {
  const attempt = await joinPage(path, {
    responder: hubResponder(hub),
    followHub(tell) {
      for (const event of [...eventsOfSnapshot(hub.snapshot(LOGIN)), ...more]) tell(event);
      return hub.watch(tell);
    },
    onLogin: () => {},
  });
  if (attempt.result !== "joined") throw new Error(attempt.result);
  return attempt.page;
}

it("reads the same frames however their bytes are cut", () => {
  const frames = fc.array(
    fc.record({
      header: fc.dictionary(fc.string(), fc.jsonValue()),
      body: fc.uint8Array({ maxLength: 300 }),
    }),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(frames, fc.array(fc.nat(2000), { maxLength: 12 }), (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(({ header, body }) => encodeFrame(header, body)));
      const got: Frame[] = [];
      const read = makeFrameReader((frame) => void got.push(frame));
      const ends = [...new Set([...cuts.filter((at) => at < bytes.length), bytes.length])];
      let from = 0;
      for (const end of ends.toSorted((a, b) => a - b)) {
        read(bytes.subarray(from, end));
        from = end;
      }
      expect(got.map(({ header }) => header)).toEqual(
        sent.map(({ header }) => JSON.parse(JSON.stringify(header)) as unknown),
      );
      expect(got.map(({ body }) => [...body])).toEqual(sent.map(({ body }) => [...body]));
    }),
  );
});

it("refuses lengths beyond the limits before the bytes arrive, and headers that are not JSON", () => {
  const read = (): ((chunk: Uint8Array) => void) => makeFrameReader(() => {});
  expect(() => read()(new Uint8Array([1, 0, 0, 1, 0, 0, 0, 0]))).toThrow(FrameError);
  expect(() => read()(new Uint8Array([0, 0, 0, 0, 4, 0, 0, 1]))).toThrow(FrameError);
  expect(() => read()(new Uint8Array([0, 0, 0, 1, 0, 0, 0, 0, 0x7b]))).toThrow(FrameError);
  expect(() => read()(new Uint8Array([0, 0, 0, 1, 0, 0, 0, 0, 0xff]))).toThrow(FrameError);
  expect(() => encodeFrame({ text: "x".repeat(16 * 1024 * 1024) })).toThrow(FrameError);
});

it("passes a request about a workspace to its process, under a name that no other has", async () => {
  const directory = await mkdtemp(join(tmpdir(), "filewright-shared-"));
  try {
    const path = join(directory, "s.sock");
    const [first, second] = [
      await openPlace({ "a.txt": "in the first\n" }),
      await openPlace({ "a.txt": "in the second\n" }),
    ];
    const shared = makeSharedReview("a-token-of-this-test");
    const own = shared.add(hubResponder(first.hub));
    for (const event of eventsOfSnapshot(first.hub.snapshot(LOGIN))) expect(own.tell(event)).toBe(true);
    const peers = await acceptPeers(path, shared, { url: "http://127.0.0.1:1/review", logins: () => [] });
    const page = await joinAs(second, path);
    const { subject, workspaces } = await untilShared(shared, (one) => one.workspaces.length === 2);
    expect([subject, workspaces]).toEqual(["/w", ["/w", "/w (2)"]]);

    const search = async (query: string, workspace?: string): Promise<unknown> => {
      const at = workspace === undefined ? "search" : `search?workspace=${encodeURIComponent(workspace)}`;
      const response = await ask(shared, at, { kind: "text", query });
      return response.ok ? ((await response.json()) as FoundPlaces).places.length : response.status;
    };
    expect(await search("in the second", "/w (2)")).toBe(1);
    expect(await search("in the first", "/w (2)")).toBe(0);
    expect(await search("in the first")).toBe(1);
    expect(await search("in the first", "/elsewhere")).toBe(404);
    // The process itself checks what a login may do and what a request contains.
    expect(
      (await ask(shared, "search?workspace=/w%20(2)", { kind: "text", query: "x", more: 1 })).status,
    ).toBe(400);

    // What is asked about a question reaches its process, whatever workspace is chosen on the page.
    const call = second.ws.call("write_file", { path: "a.txt", content: "new\n" });
    const id = await firstQuestion(second.hub);
    await untilShared(shared, ({ state }) => state.waiting.length === 1);
    const wider = { place: "files", isAgentOnly: false, until: "session" };
    expect((await ask(shared, "scopes?workspace=/w", { id, wider })).status).toBe(200);
    const rows = await ask(shared, `approvals/${id}/changes/0?workspace=/w`);
    const { digest } = (await rows.json()) as { readonly digest: string };
    expect((await ask(shared, `approvals/${id}?workspace=/w`, { outcome: "refuse", digest })).status).toBe(
      200,
    );
    expect((await call).ok).toBe(false);

    page.leave();
    await page.ended;
    await untilShared(shared, (one) => one.workspaces.length === 1);
    expect(await search("in the second", "/w (2)")).toBe(404);
    await peers.close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

it("shows a question of another process that names too many paths as one that can only be refused", async () => {
  const directory = await mkdtemp(join(tmpdir(), "filewright-shared-"));
  try {
    const path = join(directory, "s.sock");
    const place = await openPlace();
    const shared = makeSharedReview("a-token-of-this-test");
    const peers = await acceptPeers(path, shared, { url: "http://127.0.0.1:1/review", logins: () => [] });
    const counts = { added: 0, removed: 0, hunks: 0, whole: false };
    const changes = Array.from({ length: 100_000 }, (_, index) => ({
      path: `/w/${"long-name/".repeat(20)}${index}`,
      kind: "create" as const,
      type: "file" as const,
      ...counts,
    }));
    const question = { id: "q", askedAt: 1, title: "Write", tool: "batch", digest: "d", hasParts: false };
    const page = await joinAs(place, path, [
      { type: "asked", question: { ...question, kind: "change", risk: "low", changes } },
    ]);
    const { state } = await untilShared(shared, (one) => one.state.waiting.length === 1);
    expect(state.waiting[0]).toMatchObject({
      id: "q",
      changes: [],
      incomplete: "it names too many paths for the page of another process",
    });
    page.leave();
    await untilShared(shared, (one) => one.state.waiting.length === 0);
    await peers.close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

it("keeps logins for the process that serves the page next, and makes links for roles and names", async () => {
  const kept: Parameters<ReturnType<typeof makeLogins>["adopt"]>[0][] = [];
  const shared = makeSharedReview("a-token-of-this-test");
  const post = (
    handler: ReturnType<typeof makeResponderHandler>,
    path: string,
    body: object,
    headers: object,
  ) =>
    handler.handle(
      new Request(`http://server/review/${path}`, {
        method: "POST",
        headers: { host: "127.0.0.1:4748", "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    );
  const first = makeResponderHandler(
    shared,
    { file: () => undefined },
    makeLogins(Date.now, (one) => void kept.push(one)),
  );
  const token = { authorization: "Bearer a-token-of-this-test" };
  const made = await post(first, "tickets", { role: "answer", by: "ana" }, token);
  const { fragment } = (await made.json()) as { readonly fragment: string };
  for (const wrong of [{ role: "owner" }, { by: "" }, { by: "a\nb" }, { by: "x".repeat(101) }, { more: 1 }])
    expect((await post(first, "tickets", wrong, token)).status).toBe(400);
  const own = { origin: "http://127.0.0.1:4748", "x-filewright-review": "1" };
  const login = await post(first, "login", { ticket: fragment.slice("#t=".length) }, own);
  const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  expect(kept).toMatchObject([{ role: "answer", by: "ana" }]);

  const logins = makeLogins();
  for (const one of kept) logins.adopt(one);
  const second = makeResponderHandler(
    makeSharedReview("another-token-of-it"),
    { file: () => undefined },
    logins,
  );
  const state = (handler: typeof first): Promise<Response> =>
    handler.handle(
      new Request("http://server/review/state", { headers: { host: "127.0.0.1:4748", cookie } }),
    );
  expect(await (await state(second)).json()).toMatchObject({ role: "answer", by: "ana" });
  expect((await state(makeResponderHandler(shared, { file: () => undefined }))).status).toBe(401);
  // A login of another process lasts no longer than one of this one.
  logins.adopt({ ...(kept[0] as (typeof kept)[0]), cookie: "0".repeat(64), ends: Number.MAX_SAFE_INTEGER });
  expect(logins.all().find((one) => one.cookie === "0".repeat(64))?.ends).toBeLessThanOrEqual(
    Date.now() + 43_200_000,
  );
});
