/** The review page over HTTP: who gets in, what is shown, and which answers count. */
import { request as rawRequest } from "node:http";
import { describe, expect, it, vi } from "vitest";
import type { ChangeRows, ReviewSnapshot } from "../../js/review/protocol.ts";
import { reviewHub } from "../../js/review/hub.ts";
import { makeLogins } from "../../js/review/login.ts";
import { makeReviewHandler } from "../../js/review/http.ts";
import { makeProver } from "../../js/review/proof/prover.ts";
import { codeOf, keyOfProgram, openTab, sayHello, ticketOf } from "../support/proving.mjs";
import { firstQuestion, logIn, openPlace, type Place, postTo, untilHub } from "./place.ts";

const TWO_HUNKS = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join("\r\n");
const CHANGED = TWO_HUNKS.replace("line 3\r", "line three\r").replace("line 33\r", "line thirty-three\r");

/** A request with headers that `fetch` does not let a program set. */
function raw(
  page: Place["page"],
  path: string,
  headers: Record<string, string>,
  method = "GET",
): Promise<number> {
  const { hostname, port, pathname } = new URL(page.url);
  return new Promise((resolve, reject) => {
    rawRequest({ hostname, port, path: `${pathname}${path}`, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .once("error", reject)
      .end(method === "POST" ? "{}" : undefined);
  });
}

describe("logging in", () => {
  it("works once with a ticket, whose key is not sent, and sets no cookie", async () => {
    const { page } = await openPlace();
    const { kind, id, key } = ticketOf(page.link());
    const nonce = "ab".repeat(32);
    const response = await postTo(page, "hello", { nonce, kind, id });
    expect(response.status).toBe(200);
    expect(response.headers.get("set-cookie")).toBeNull();
    const { session, claim, key: hidden, proof } = (await response.json()) as Record<string, string>;
    const texts = ["server", nonce, kind, id, session ?? "", claim ?? "", hidden ?? ""];
    expect(proof).toBe(codeOf(key, texts).toString("hex"));
    expect((await postTo(page, "hello", { nonce, kind, id })).status).toBe(401);
  });

  it("ends a ticket after two minutes and a login after twelve hours", async () => {
    let now = 0;
    const logins = makeLogins(undefined, () => now);
    const login = { role: "answer", by: "ana" } as const;
    const [late, intime] = [logins.ticket(login), logins.ticket(login)].map((ticket) => ticket.slice(0, 32));
    now = 119_999;
    const { becomes } = (await logins.redeem(intime ?? "")) ?? {};
    const { claim = "" } = becomes ?? {};
    expect(await logins.of(claim)).toMatchObject({ login });
    now = 120_000;
    expect(await logins.redeem(late ?? "")).toBeUndefined();
    now += 12 * 3_600_000;
    expect(await logins.of(claim)).toBeUndefined();
  });

  it("gives nothing to whoever has no login, and the MCP token of a server is none", async () => {
    const { page } = await openPlace();
    const { session } = await logIn(page);
    const wrong: readonly Record<string, string>[] = [
      {},
      { authorization: "Bearer 0123456789abcdef" },
      { cookie: "filewright-review-1=x" },
      { "x-filewright-proof": `${session} 1 ${"0".repeat(64)}` },
      { "x-filewright-proof": session },
    ];
    for (const path of ["state", "events", "approvals/x/changes/0"])
      for (const headers of wrong)
        expect((await fetch(`${page.url}/${path}`, { headers })).status, path).toBe(401);
    expect((await postTo(page, "approvals/x", { outcome: "allow" })).status).toBe(401);
  });

  it("takes a request once, as it was made, in its own session", async () => {
    const { page } = await openPlace();
    const [ana, ben] = [await logIn(page, "manage", "ana"), await logIn(page, "watch", "ben")];
    const statusOf = async (path: string, init: RequestInit): Promise<number> =>
      (await fetch(`${page.url}/${path}`, init)).status;
    const body = JSON.stringify({ name: "a" });
    const right = ana.headers("POST", "marks", body);
    const later = ana.headers("POST", "marks", body);
    expect(await statusOf("marks", { method: "POST", headers: later, body })).toBe(200);
    // Requests may arrive in another order, but not twice: this one counts, and the mark is there already.
    expect(await statusOf("marks", { method: "POST", headers: right, body })).toBe(409);
    for (const again of [right, later])
      expect(await statusOf("marks", { method: "POST", headers: again, body })).toBe(401);

    const signed = (): Record<string, string> => ana.headers("POST", "marks", body);
    const changed = body.replace("a", "b");
    expect(await statusOf("marks", { method: "POST", headers: signed(), body: changed })).toBe(401);
    expect(await statusOf("marks?workspace=%2Fw", { method: "POST", headers: signed(), body })).toBe(401);
    expect(await statusOf("scopes", { method: "POST", headers: signed(), body })).toBe(401);
    expect(await statusOf("marks", { headers: signed() })).toBe(401);
    const named = { ...signed(), "x-filewright-by": "ben" };
    expect(await statusOf("marks", { method: "POST", headers: named, body })).toBe(401);
    const proof = signed()["x-filewright-proof"] ?? "";
    for (const [pattern, other] of [
      [/^\w+/u, ben.session],
      [/ \d+ /u, " 99 "],
      [/ \d+ /u, " 1e2 "],
      [/\w$/u, ""],
    ] as const) {
      const headers = { ...signed(), "x-filewright-proof": proof.replace(pattern, other) };
      expect(await statusOf("marks", { method: "POST", headers, body }), headers["x-filewright-proof"]).toBe(
        401,
      );
    }
    expect((await ana.post("marks", { name: "c" })).status).toBe(200);
  });

  it("answers many requests of one tab at once in one session, and has a tab say hello again after a restart", async () => {
    const { page } = await openPlace();
    const { id, key } = ticketOf(page.link("watch", "ana"));
    const prover = makeProver(page.url, async () => ({ kind: "ticket", id, key: new Uint8Array(key) }));
    const sent = vi.spyOn(globalThis, "fetch");
    const hellos = (): number => sent.mock.calls.filter(([url]) => String(url).endsWith("/hello")).length;
    try {
      const answers = await Promise.all(Array.from({ length: 30 }, () => prover.send("state")));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect([sent.mock.calls.length, hellos()]).toEqual([31, 1]);
      prover.renew();
      expect((await prover.send("state")).status).toBe(200);
      expect(hellos()).toBe(2);
    } finally {
      sent.mockRestore();
    }
  });

  it("takes the name and the role of the person from a program with the token, and from no page", async () => {
    const { page, hub } = await openPlace();
    const loginOf = async (headers: Record<string, string>): Promise<unknown> => {
      const response = await fetch(`${page.url}/state`, { headers });
      if (!response.ok) return response.status;
      const { role, by } = (await response.json()) as ReviewSnapshot;
      return `${role} ${by}`;
    };
    const authorization = `Bearer ${hub.queue.token}`;
    expect(await loginOf({ authorization })).toBe("manage program");
    expect(await loginOf({ authorization, "x-filewright-by": "Zo%C3%AB" })).toBe("manage Zoë");
    expect(await loginOf({ authorization, "x-filewright-role": "watch" })).toBe("watch program");
    expect(await loginOf({ authorization, "x-filewright-role": "owner" })).toBe(400);
    for (const wrong of ["%", "%20", "a%0Ab", "x".repeat(101)])
      expect(await loginOf({ authorization, "x-filewright-by": wrong }), wrong).toBe(400);
    const ana = await logIn(page, "watch", "ana");
    expect(await loginOf(ana.sign("GET", "state"))).toBe("watch ana");
    // A page cannot say for whom it asks: its code covers these headers, and a code over them counts for nothing.
    expect(await loginOf({ ...ana.sign("GET", "state"), "x-filewright-by": "ben" })).toBe(401);
    expect(await loginOf({ ...ana.sign("GET", "state"), "x-filewright-role": "manage" })).toBe(401);
    expect(await loginOf({ "x-filewright-by": "ben" })).toBe(401);
  });

  it("gives links to a program with the token of the approvals, and to no page", async () => {
    const { page, hub } = await openPlace();
    const given = await postTo(page, "tickets", {}, { authorization: `Bearer ${hub.queue.token}` });
    const { fragment } = (await given.json()) as { readonly fragment: string };
    expect((await (await openTab(page.url + fragment)).get("state")).status).toBe(200);
    expect((await (await logIn(page)).post("tickets", {})).status).toBe(403);
  });

  it("proves itself to a program by the token, for its own address alone", async () => {
    const { page, hub } = await openPlace();
    const { host } = new URL(page.url);
    const proves = async (token: string, authority: string): Promise<boolean | number> => {
      const key = await keyOfProgram(token, authority);
      const { status, isProven } = await sayHello(page.url, { kind: "token", id: authority, key });
      return status === 200 ? isProven : status;
    };
    expect(await proves(hub.queue.token, host)).toBe(true);
    expect(await proves("another-token-of-no-use", host)).toBe(false);
    // A server at another port would pass the messages of a program on to this one.
    for (const other of ["127.0.0.1:1", "127.0.0.1", "localhost:1", "evil.example:80"])
      expect(await proves(hub.queue.token, other), other).toBe(401);
    // This page has no owner.
    const owner = { kind: "owner", id: host, key: Buffer.alloc(32) };
    expect((await sayHello(page.url, owner)).status).toBe(401);
  });
});

describe("requests of other pages", () => {
  it("are refused by their Host, their origin, their type and a missing header", async () => {
    const { page } = await openPlace();
    const tab = await logIn(page);
    const { host } = new URL(page.url);
    const signed = (more: Record<string, string> = {}): Record<string, string> => ({
      host,
      ...tab.headers("POST", "approvals/x", "{}"),
      ...more,
    });
    expect(await raw(page, "/approvals/x", signed(), "POST")).toBe(400);
    const bad: readonly Record<string, string>[] = [
      { host: "evil.example" },
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "content-type": "text/plain" },
      { "content-type": "application/x-www-form-urlencoded" },
      { "x-filewright-review": "" },
    ];
    for (const headers of bad)
      expect(await raw(page, "/approvals/x", signed(headers), "POST"), JSON.stringify(headers)).toBe(403);
    const { origin: _, ...withoutOrigin } = signed();
    expect(await raw(page, "/approvals/x", withoutOrigin, "POST")).toBe(403);
    const read = (): Record<string, string> => tab.sign("GET", "state");
    expect(await raw(page, "/state", { ...read(), host: "evil.example" })).toBe(403);
    expect(await raw(page, "/state", { ...read(), host, origin: "https://evil.example" })).toBe(403);
    expect(await raw(page, "/state", signed(), "DELETE")).toBe(405);
    // A hello gives nothing away, and is refused in the same way; a program sends no origin.
    for (const headers of bad)
      expect(await raw(page, "/hello", signed(headers), "POST"), JSON.stringify(headers)).toBe(403);
    expect(await raw(page, "/hello", withoutOrigin, "POST")).toBe(400);
  });

  it("cannot frame it, run a script in it, or learn its address", async () => {
    const { page } = await openPlace();
    const { headers } = await fetch(page.url);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("get no file but those of the page", async () => {
    const { page } = await openPlace();
    const { host } = new URL(page.url);
    for (const path of [
      "/%2e%2e%2f%2e%2e%2fpackage.json",
      "/..%5cpackage.json",
      "/constructor",
      "/states.html",
    ])
      expect(await raw(page, path, { host }), path).toBe(401);
    for (const path of ["/../package.json", "/%2e%2e/package.json", "/index.html/../../x"])
      expect(await raw(page, path, { host }), path).toBe(404);
    expect(await (await fetch(`${page.url}/review.css`)).text()).toContain("--accent");
    expect((await fetch(page.url.replace("/review", "/"))).status).toBe(404);
  });

  it("reach the page under one name", async () => {
    const { page } = await openPlace();
    const { port } = new URL(page.url);
    const response = await fetch(`http://localhost:${port}/review`, { redirect: "manual" });
    expect(response.headers.get("location")).toBe(`http://127.0.0.1:${port}/review`);
  });
});

describe("a question", () => {
  it("is shown with its hunks, and the file has the bytes once it is allowed", async () => {
    const { backend, ws, hub, page } = await openPlace({ "a.txt": TWO_HUNKS });
    const client = await logIn(page, "answer", "ana");
    const call = ws.call("write_file", { path: "a.txt", content: CHANGED });
    const id = await firstQuestion(hub);
    const { state, by, subject } = (await (await client.get("state")).json()) as ReviewSnapshot;
    expect([by, subject]).toEqual(["ana", "/w"]);
    const [question] = state.waiting;
    expect(question).toMatchObject({ id, kind: "change", tool: "write_file", hasParts: true });
    const response = await client.get(`approvals/${id}/changes/0`);
    const rows = (await response.json()) as ChangeRows;
    expect(rows.change).toMatchObject({ path: "/w/a.txt", kind: "edit", added: 2, removed: 2, hunks: 2 });
    expect(rows.hunks[0]?.lines).toContain("\n-line 3\r\n+line three\r\n");
    const etag = response.headers.get("etag") ?? "";
    expect((await client.get(`approvals/${id}/changes/0`, { "if-none-match": etag })).status).toBe(304);
    const { digest } = rows;
    const answered = await client.post(`approvals/${id}`, { outcome: "allow", digest });
    expect(answered.status).toBe(200);
    expect((await call).ok).toBe(true);
    expect(await backend.readText("/w/a.txt")).toBe(CHANGED);
  });

  it("is allowed in part: the bytes are those of the chosen hunks, line ends included", async () => {
    const { backend, ws, hub, page } = await openPlace({ "a.txt": TWO_HUNKS });
    const client = await logIn(page);
    const call = ws.call("write_file", { path: "a.txt", content: CHANGED });
    const id = await firstQuestion(hub);
    const { digest } = (await (await client.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
    const parts = [{ change: 0, hunks: [1] }];
    expect((await client.post(`approvals/${id}`, { outcome: "allow_parts", digest, parts })).status).toBe(
      200,
    );
    expect((await call).ok).toBe(true);
    expect(await backend.readText("/w/a.txt")).toBe(TWO_HUNKS.replace("line 33\r", "line thirty-three\r"));
  });

  it("is allowed line by line: a removed line that is left out stays", async () => {
    const { backend, ws, hub, page } = await openPlace({ "a.txt": "\ufeffone\r\ntwo\r\nthree" });
    const client = await logIn(page, "answer", "ana");
    const call = ws.call("write_file", { path: "a.txt", content: "\ufeffone\r\n2\r\nzwei\r\ndrei" });
    const id = await firstQuestion(hub);
    const rows = (await (await client.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
    expect(rows.hunks.map(({ lines }) => lines.split("\n"))).toEqual([
      [
        " one\r",
        "-two\r",
        "-three",
        "\\ No newline at end of file",
        "+2\r",
        "+zwei\r",
        "+drei",
        "\\ No newline at end of file",
      ],
    ]);
    const answer = (lines: unknown, hunks: readonly number[] = []) =>
      client.post(`approvals/${id}`, {
        outcome: "allow_parts",
        digest: rows.digest,
        parts: [{ change: 0, hunks, lines }],
      });
    expect((await answer([{ hunk: 0, rows: [0] }])).status).toBe(400);
    expect((await answer([{ hunk: 0, rows: [6] }])).status).toBe(400);
    expect((await answer([{ hunk: 0, rows: [3, 3] }])).status).toBe(400);
    expect((await answer([{ hunk: 0, rows: [3] }], [0])).status).toBe(400);
    expect((await answer([{ hunk: 0, rows: [] }])).status).toBe(400);
    expect((await answer([{ hunk: 0, rows: [1, 4] }])).status).toBe(200);
    const result = await call;
    expect(await backend.readText("/w/a.txt")).toBe("\ufeffone\r\nthree\r\nzwei\r\n");
    expect(result.text).toContain("0 of 1 hunk and some lines of 1 more of a.txt");
  });

  it("is allowed by whole changes: what is left out is not made", async () => {
    const { backend, ws, hub, page } = await openPlace({ "a.txt": "1\n", "b.txt": "2\n", "c.txt": "3\n" });
    const client = await logIn(page);
    const patch =
      "*** Begin Patch\n*** Add File: new.txt\n+new\n*** Delete File: a.txt\n*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: d.txt\n*** End Patch\n";
    const call = ws.call("apply_patch", { patch });
    const id = await firstQuestion(hub);
    const [question] = ((await (await client.get("state")).json()) as ReviewSnapshot).state.waiting;
    const changes = question?.kind === "change" ? question.changes : [];
    expect(question).toMatchObject({ hasParts: true });
    expect(changes.map(({ path, kind, whole }) => [path, kind, whole])).toEqual([
      ["/w/new.txt", "create", true],
      ["/w/a.txt", "delete", true],
      ["/w/b.txt", "delete", true],
      ["/w/d.txt", "move", true],
    ]);
    const digest = question?.kind === "change" ? question.digest : "";
    const answer = (parts: unknown) =>
      client.post(`approvals/${id}`, { outcome: "allow_parts", digest, parts });
    expect((await answer([{ change: 4, hunks: [] }])).status).toBe(400);
    const named = [1, 1].map((change) => ({ change, hunks: [] }));
    expect((await answer(named)).status).toBe(400);
    expect(
      (
        await answer([
          { change: 1, hunks: [0] },
          { change: 3, hunks: [] },
        ])
      ).status,
    ).toBe(200);
    expect((await call).ok).toBe(true);
    const names = ["a.txt", "b.txt", "c.txt", "d.txt", "new.txt"];
    const left = Object.keys(backend.dump());
    expect(names.filter((name) => left.includes(`/w/${name}`))).toEqual(["b.txt", "d.txt"]);
  });

  it("is written as a person has edited it, in the encoding of the file, and the model is told what was changed", async () => {
    const { backend, ws, hub, page } = await openPlace({ "b.txt": "1\n" });
    // UTF-16 with a byte order mark and CR LF.
    const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
    await backend.writeBytes("/w/a.txt", utf16("one\r\ntwö\r\n"));
    const client = await logIn(page, "answer", "ana");
    const call = ws.call("edit_file", { path: "a.txt", old_text: "one", new_text: "two" });
    const id = await firstQuestion(hub);
    const content = await client.get(`approvals/${id}/changes/0/content`);
    expect(await content.json()).toEqual({ before: "one\r\ntwö\r\n", text: "two\r\ntwö\r\n" });
    const etag = content.headers.get("etag") ?? "";
    const again = await client.get(`approvals/${id}/changes/0/content`, { "if-none-match": etag });
    expect(again.status).toBe(304);
    expect((await (await logIn(page, "watch")).get(`approvals/${id}/changes/0/content`)).status).toBe(403);
    expect((await client.get(`approvals/${id}/changes/1/content`)).status).toBe(404);
    const { digest } = (await (await client.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
    const answer = (more: object): Promise<Response> =>
      client.post(`approvals/${id}`, { outcome: "allow", digest, ...more });
    const edits = [{ change: 0, text: "2\r\ntwö\r\n" }];
    for (const wrong of [
      { edits: [] },
      { edits: [...edits, ...edits] },
      { edits: [{ change: 1, text: "" }] },
      { edits, outcome: "refuse" },
      { edits, outcome: "allow_parts", parts: [] },
      { edits, digest: "sha256:0" },
    ])
      expect([400, 409], JSON.stringify(wrong)).toContain((await answer(wrong)).status);
    expect((await answer({ edits })).status).toBe(200);
    const result = await call;
    expect(Buffer.from(await backend.readBytes("/w/a.txt"))).toEqual(Buffer.from(utf16("2\r\ntwö\r\n")));
    expect(result.text).toContain("what the reviewer changed:");
    expect(result.text).toMatch(/-two\r?\n\+2\r?\n/u);
    expect(result.meta.approval).toMatchObject({ outcome: "modify_with_editor", by: "ana" });
  });

  it("with a text that is too long says so, and is not edited", async () => {
    const { ws, hub, page } = await openPlace();
    const client = await logIn(page);
    const stop = new AbortController();
    const content = "x".repeat(256 * 1024 + 1);
    const call = ws.call("write_file", { path: "a.txt", content }, { signal: stop.signal });
    const response = await client.get(`approvals/${await firstQuestion(hub)}/changes/0/content`);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: "it has more than 262144 characters, which this page does not edit" },
    ]);
    stop.abort();
    await call;
  });

  it("is refused with a reason that the model is told", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(page, "answer", "ana");
    const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
    const id = await firstQuestion(hub);
    const { digest } = (await (await client.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
    await client.post(`approvals/${id}`, { outcome: "refuse", digest, reason: "keep the first line" });
    const result = await call;
    expect(result.ok).toBe(false);
    expect(result.text).toContain("keep the first line");
    const again = await client.post(`approvals/${id}`, { outcome: "allow", digest });
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ reason: "refuse", by: "ana" });
  });

  it("takes one of two answers that arrive together, and only those that it offers", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" });
    const [ana, ben, guest] = [
      await logIn(page, "answer", "ana"),
      await logIn(page, "answer", "ben"),
      await logIn(page, "watch", "guest"),
    ];
    const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
    const id = await firstQuestion(hub);
    const { digest } = (await (await guest.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
    const path = `approvals/${id}`;
    expect((await guest.post(path, { outcome: "allow", digest })).status).toBe(403);
    expect((await ana.post(path, { outcome: "allow" })).status).toBe(409);
    expect((await ana.post(path, { outcome: "allow", digest: "sha256:0" })).status).toBe(409);
    expect((await ana.post(path, { outcome: "allways", digest })).status).toBe(400);
    expect((await ana.post(path, { outcome: "proceed_always", digest })).status).toBe(400);
    expect((await ana.post(path, { outcome: "allow", digest, scope: "all" })).status).toBe(400);
    expect((await ana.post(path, "[]")).status).toBe(400);
    const parts = [{ change: 0, hunks: [9] }];
    expect((await ana.post(path, { outcome: "allow_parts", digest, parts })).status).toBe(400);
    expect((await ana.post("approvals/unknown", { outcome: "allow", digest })).status).toBe(404);
    const both = await Promise.all([
      ana.post(path, { outcome: "allow", digest }),
      ben.post(path, { outcome: "refuse", digest }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await call).ok).toBe(both[0]?.status === 200);
  });

  it("whose file has changed meanwhile is planned again, and the old answer decides nothing", async () => {
    const { backend, ws, hub, page } = await openPlace({ "a.txt": TWO_HUNKS });
    const client = await logIn(page, "answer", "ana");
    const call = ws.call("edit_file", { path: "a.txt", old_text: "line 33", new_text: "line thirty-three" });
    const id = await firstQuestion(hub);
    const { digest } = (await (await client.get(`approvals/${id}/changes/0`)).json()) as ChangeRows;
    await backend.writeBytes(
      "/w/a.txt",
      new TextEncoder().encode(TWO_HUNKS.replace("line 3\r", "line three\r")),
    );
    const early = await client.post(`approvals/${id}`, { outcome: "allow", digest });
    expect([early.status, await early.json()]).toMatchObject([409, { reason: "stale" }]);
    expect((await client.post(`approvals/${id}`, { outcome: "look_again" })).status).toBe(409);
    expect((await client.post(`approvals/${id}`, { outcome: "look_again", digest })).status).toBe(200);
    const again = await untilHub(hub, () => hub.queue.pending().find((one) => one.id !== id)?.id);
    const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
    expect(state.waiting).toMatchObject([{ id: again, replaces: id }]);
    expect(state.settled).toMatchObject([{ question: { id }, outcome: "look_again", by: "ana" }]);
    expect((await client.post(`approvals/${id}`, { outcome: "allow", digest })).status).toBe(409);
    const rows = (await (await client.get(`approvals/${again}/changes/0`)).json()) as ChangeRows;
    expect(rows.hunks).toHaveLength(1);
    expect((await client.post(`approvals/${again}`, { outcome: "allow", digest: rows.digest })).status).toBe(
      200,
    );
    expect((await call).ok).toBe(true);
    expect(await backend.readText("/w/a.txt")).toBe(CHANGED);
  });

  it("that was withdrawn cannot be answered", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(page);
    const stop = new AbortController();
    const call = ws.call("write_file", { path: "a.txt", content: "two\n" }, { signal: stop.signal });
    const id = await firstQuestion(hub);
    stop.abort();
    expect((await call).ok).toBe(false);
    const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
    expect(state.settled).toMatchObject([{ question: { id }, outcome: "withdrawn" }]);
    expect((await client.post(`approvals/${id}`, { outcome: "allow", digest: "x" })).status).toBe(410);
  });

  it("about several files shows the hunks of each", async () => {
    const { ws, hub, page } = await openPlace({ "a/one.txt": "1\n", "b/one.txt": "2\n" });
    const client = await logIn(page);
    const patch =
      "*** Begin Patch\n*** Update File: a/one.txt\n@@\n-1\n+one\n*** Update File: b/one.txt\n@@\n-2\n+two\n*** End Patch\n";
    const call = ws.call("apply_patch", { patch });
    const id = await firstQuestion(hub);
    const rows = await Promise.all(
      [0, 1].map(
        async (change) =>
          (await (await client.get(`approvals/${id}/changes/${change}`)).json()) as ChangeRows,
      ),
    );
    expect(rows.map(({ change, hunks }) => [change.path, hunks.map(({ lines }) => lines)])).toEqual([
      ["/w/a/one.txt", ["-1\n+one"]],
      ["/w/b/one.txt", ["-2\n+two"]],
    ]);
    expect((await client.get(`approvals/${id}/changes/2`)).status).toBe(404);
    const digest = rows[0]?.digest;
    await client.post(`approvals/${id}`, { outcome: "allow", digest });
    expect((await call).ok).toBe(true);
  });
});

describe("a question about a directory", () => {
  it("grants what was asked and no more, in the name of who answered", async () => {
    const { hub, page } = await openPlace();
    const client = await logIn(page, "answer", "ana");
    const about = { dir: "/data", access: "read", tool: "grep" } as const;
    const asked = [1, 2].map(() =>
      hub.ask("Read below /data?", ["yes", "no"], about as Parameters<typeof hub.ask>[2]),
    );
    const [first, second] = hub.queue.pending().map(({ id }) => id);
    expect((await client.post(`approvals/${first}`, { outcome: "allow_parts" })).status).toBe(400);
    expect((await client.post(`approvals/${first}`, { outcome: "allow" })).status).toBe(200);
    expect((await client.post(`approvals/${second}`, { outcome: "refuse" })).status).toBe(200);
    expect(await Promise.all(asked)).toEqual([
      { answer: "yes", access: "read", remember: false, by: "ana" },
      { answer: "no", by: "ana" },
    ]);
    const { state } = (await (await client.get("state")).json()) as ReviewSnapshot;
    expect(state.settled.map(({ outcome, by }) => [outcome, by])).toEqual([
      ["allow", "ana"],
      ["refuse", "ana"],
    ]);
  });
});

describe("the stream of events", () => {
  /** Reads messages until `count` of them have come. */
  async function messages(
    response: Response,
    count: number,
  ): Promise<readonly { id: string; data: string }[]> {
    const found: { id: string; data: string }[] = [];
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const data = /^data: (.*)$/mu.exec(part)?.[1];
        if (data !== undefined) found.push({ id: /^id: (.*)$/mu.exec(part)?.[1] ?? "", data });
      }
      if (found.length >= count) return found;
    }
    return found;
  }

  it("continues after the last event that a page has seen, and tells another run to read the state", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(page);
    for (let at = 0; at < 5; at++) await ws.call("read_file", { path: "a.txt" });
    // The first event is that of the attached workspace.
    const last = `${hub.run}:5`;
    const stream = await client.get("events", { "last-event-id": last });
    const got = await messages(stream, 6);
    expect(got.map(({ id }) => id)).toEqual([6, 7, 8, 9, 10, 11].map((seq) => `${hub.run}:${seq}`));
    for (const stale of ["other-run:4", `${hub.run}:99`, "", "x"]) {
      const response = await client.get("events", { "last-event-id": stale });
      expect(await messages(response, 1)).toEqual([{ id: "", data: '{"type":"reset"}' }]);
    }
  });

  it("ends when the hub is closed, and all that waits is refused", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(page);
    const stream = await client.get(`events?after=${hub.run}:1`);
    const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
    await firstQuestion(hub);
    hub.close();
    expect((await call).ok).toBe(false);
    const types = (await messages(stream, 99)).map(({ data }) => (JSON.parse(data) as { type: string }).type);
    expect(types.slice(0, 3)).toEqual(["call.begin", "asked", "withdrawn"]);
  });
});

describe("options", () => {
  it("are checked, and a handler fits any server", async () => {
    expect(() => reviewHub({ subjct: "/w" } as object)).toThrow(/subject/u);
    const hub = reviewHub();
    const { handle } = makeReviewHandler(hub, { file: () => undefined });
    const response = await handle(
      new Request("http://127.0.0.1/review/state", { headers: { host: "127.0.0.1" } }),
    );
    expect(response.status).toBe(401);
    hub.close();
  });
});
