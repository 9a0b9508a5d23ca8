/** The connection of two processes that share a page: workspaces of both, what is large, and who knows which login. */
import { expect, it } from "vitest";
import { eventStream } from "../../../js/review/event-stream.ts";
import {
  hubResponder,
  makeResponderHandler,
  type PageIdentity,
  type ReviewResponder,
} from "../../../js/review/http.ts";
import { makeReviewLog } from "../../../js/review/log.ts";
import { makeLogins } from "../../../js/review/login.ts";
import { pageKeyFor } from "../../../js/review/proof/keys.ts";
import { importKey } from "../../../js/review/proof/mac.ts";
import type { FoundPlaces, ReviewSnapshot } from "../../../js/review/protocol.ts";
import { startPageServer } from "../../../js/review/serve.node.ts";
import { acceptPeers, joinPage, ownerProver } from "../../../js/review/shared/peers.node.ts";
import { eventsOfSnapshot, makeSharedReview, type SharedReview } from "../../../js/review/shared/shared.ts";
import { codeOf } from "../../support/proving.mjs";
import { firstQuestion, openPlace } from "../place.ts";

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

const owner = importKey(new Uint8Array(32).fill(7));

/** Serves a page, as a process does. */
async function serve(responder: ReviewResponder, programRoutes: PageIdentity["programRoutes"] = {}) {
  let port = 0;
  const identity = { owner, authority: () => `127.0.0.1:${port}`, programRoutes };
  const { handle } = makeResponderHandler(responder, { file: () => undefined }, identity);
  const server = await startPageServer(handle, { host: "127.0.0.1", port: 0 });
  ({ port } = server);
  return { port, [Symbol.asyncDispose]: server.close };
}

/** Connects a responder to a page, as another process does. Returns a function that ends it. */
async function joinAs(responder: ReviewResponder, port: number): Promise<() => Promise<void>> {
  const own = await serve(responder);
  const leaving = new AbortController();
  const attempt = await joinPage(ownerProver(owner, port), own.port, leaving.signal);
  if (attempt.result !== "joined") throw new Error(attempt.result);
  return async () => {
    leaving.abort();
    await attempt.ended;
    await own[Symbol.asyncDispose]();
  };
}

it("passes a request about a workspace to its process, under a name that no other has", async () => {
  const [first, second] = [
    await openPlace({ "a.txt": "in the first\n" }),
    await openPlace({ "a.txt": "in the second\n" }),
  ];
  const shared = makeSharedReview("a-token-of-this-test");
  const own = shared.add(hubResponder(first.hub));
  for (const event of eventsOfSnapshot(first.hub.snapshot(LOGIN))) expect(own.tell(event)).toBe(true);
  await using host = await serve(shared, { peers: acceptPeers(shared, owner) });
  const leave = await joinAs(hubResponder(second.hub), host.port);
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
  expect((await ask(shared, "search?workspace=/w%20(2)", { kind: "text", query: "x", more: 1 })).status).toBe(
    400,
  );

  // What is asked about a question reaches its process, whatever workspace is chosen on the page.
  const call = second.ws.call("write_file", { path: "a.txt", content: "new\n" });
  const id = await firstQuestion(second.hub);
  await untilShared(shared, ({ state }) => state.waiting.length === 1);
  const wider = { place: "files", isAgentOnly: false, until: "session" };
  expect((await ask(shared, "scopes?workspace=/w", { id, wider })).status).toBe(200);
  const rows = await ask(shared, `approvals/${id}/changes/0?workspace=/w`);
  const { digest } = (await rows.json()) as { readonly digest: string };
  expect((await ask(shared, `approvals/${id}?workspace=/w`, { outcome: "refuse", digest })).status).toBe(200);
  expect((await call).ok).toBe(false);

  await leave();
  await untilShared(shared, (one) => one.workspaces.length === 1);
  expect(await search("in the second", "/w (2)")).toBe(404);
});

it("shows a question of another process that names a hundred thousand paths", async () => {
  const place = await openPlace();
  const shared = makeSharedReview("a-token-of-this-test");
  const counts = { added: 0, removed: 0, hunks: 0, whole: false };
  const changes = Array.from({ length: 100_000 }, (_, index) => ({
    path: `/w/${"long-name/".repeat(20)}${index}`,
    kind: "create" as const,
    type: "file" as const,
    ...counts,
  }));
  const question = { id: "q", askedAt: 1, title: "Write", tool: "batch", digest: "d", hasParts: false };
  const log = makeReviewLog();
  const closed = new AbortController();
  await using host = await serve(shared, { peers: acceptPeers(shared, owner) });
  const leave = await joinAs(
    {
      token: "another-token-of-this-test",
      async answer(request, path, login) {
        const { run } = log;
        if (path === "state") return Response.json({ ...place.hub.snapshot(login), run, state: log.state() });
        return eventStream(
          { ...log, closed: closed.signal },
          request,
          new URL(request.url).searchParams.get("after"),
        );
      },
    },
    host.port,
  );
  await untilShared(shared, (one) => one.workspaces.length === 1);
  log.tell({
    type: "asked",
    question: { ...question, kind: "change", risk: "low", canEdit: false, changes },
  });
  const { state } = await untilShared(shared, (one) => one.state.waiting.length === 1);
  const [waiting] = state.waiting;
  expect(waiting?.kind === "change" && waiting.changes.length).toBe(100_000);
  closed.abort();
  await leave();
  await untilShared(shared, (one) => one.state.waiting.length === 0);
});

it("knows a login of the process before by the key of the owner and the port, and makes links for roles and names", async () => {
  const shared = makeSharedReview("a-token-of-this-test");
  const handlerOf = (port: number, key = owner, now: () => number = Date.now) =>
    makeResponderHandler(
      shared,
      { file: () => undefined },
      { logins: makeLogins(async () => pageKeyFor(await key, port), now) },
    );
  const post = ({ handle }: ReturnType<typeof handlerOf>, path: string, body: object, headers: object) =>
    handle(
      new Request(`http://server/review/${path}`, {
        method: "POST",
        headers: {
          host: "127.0.0.1:4748",
          origin: "http://127.0.0.1:4748",
          "content-type": "application/json",
          "x-filewright-review": "1",
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    );
  const first = handlerOf(4748);
  const token = { authorization: "Bearer a-token-of-this-test" };
  const made = await post(first, "tickets", { role: "answer", by: "ana" }, token);
  const { fragment } = (await made.json()) as { readonly fragment: string };
  for (const wrong of [{ role: "owner" }, { by: "" }, { by: "a\nb" }, { by: "x".repeat(101) }, { more: 1 }])
    expect((await post(first, "tickets", wrong, token)).status).toBe(400);
  const [id, key] = [fragment.slice(3, 35), Buffer.from(fragment.slice(35), "hex")];
  const nonce = "ab".repeat(32);
  const login = await post(first, "hello", { nonce, kind: "ticket", id }, {});
  const { session, claim, key: hidden } = (await login.json()) as Record<string, string>;
  expect(JSON.parse(claim ?? "")).toMatchObject({ role: "answer", by: "ana" });
  const mask = codeOf(key, ["mask", nonce, session ?? ""]);
  const own = mask.map((byte, at) => byte ^ (Buffer.from(hidden ?? "", "hex")[at] ?? 0));

  /** Says hello with the claim. Returns whether the server proves that it knows the key of the login. */
  const knows = async (handler: typeof first, said = claim): Promise<boolean | number> => {
    const answer = await post(handler, "hello", { nonce, kind: "login", id: said }, {});
    if (!answer.ok) return answer.status;
    const { session: name, proof } = (await answer.json()) as Record<string, string>;
    return proof === codeOf(own, ["server", nonce, "login", said ?? "", name ?? "", "", ""]).toString("hex");
  };
  expect(await knows(first)).toBe(true);
  // The process that serves the page next was told nothing.
  expect(await knows(handlerOf(4748))).toBe(true);
  // Another port, another owner, other rights, a later time.
  expect(await knows(handlerOf(4749))).toBe(false);
  expect(await knows(handlerOf(4748, importKey(new Uint8Array(32))))).toBe(false);
  expect(await knows(first, claim?.replace("answer", "manage"))).toBe(false);
  expect(await knows(first, claim?.replace(/"ends":\d+/u, `"ends":${Number.MAX_SAFE_INTEGER}`))).toBe(false);
  expect(await knows(handlerOf(4748, owner, () => Date.now() + 43_200_000))).toBe(401);
  for (const wrong of ["{}", "x", claim?.replace("answer", "owner"), claim?.replace("{", '{"more":1,')])
    expect(await knows(first, wrong), wrong).toBe(401);
});
