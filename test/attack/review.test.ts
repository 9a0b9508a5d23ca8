/** Attacks on the review page over HTTP: by other pages, by other programs, and by the side that asks. */
import { once } from "node:events";
import { type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { serveMcpOverHttp } from "../../js/mcp/transport/http.ts";
import { makeReviewHandler } from "../../js/review/http.ts";
import { reviewHub, type ReviewPage, serveReviewPage } from "../../js/review/index.node.ts";
import { pageFile } from "../../js/review/page-files.node.ts";
import { sayHello, ticketOf } from "../support/proving.mjs";
import { firstQuestion, logIn, openPlace, type Place, postTo } from "../review/place.ts";

/** An answer, with its headers as Node gives them. */
interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request with any headers and any path, which `fetch` would correct. */
async function raw(
  { url }: Pick<ReviewPage, "url">,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const request = httpRequest({
    hostname,
    port,
    path,
    method: body === undefined ? "GET" : "POST",
    headers: { host, ...headers },
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  const text = (await response.toArray()).join("");
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** Asks for a change, and returns how to answer it. */
async function ask(place: Place): Promise<{ path: string; digest: string; call: Promise<{ ok: boolean }> }> {
  const call = place.ws.call("write_file", { path: "a.txt", content: "two\n" });
  const id = await firstQuestion(place.hub);
  const [pending] = place.hub.queue.pending();
  return {
    path: `approvals/${id}`,
    digest: pending?.kind === "change" ? pending.details.digest : "",
    call,
  };
}

/** Fails unless the question of a place still waits and its file is as before; then refuses it. */
async function expectUnanswered(place: Place, call: Promise<{ ok: boolean }>): Promise<void> {
  const [pending] = place.hub.queue.pending();
  expect(pending).toBeDefined();
  expect(await place.backend.readText("/w/a.txt")).toBe("one\n");
  place.hub.queue.answer(pending?.id ?? "", { outcome: "cancel" });
  expect((await call).ok).toBe(false);
}

afterEach(() => {
  vi.useRealTimers();
});

describe("another page", () => {
  const FOREIGN: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["a name that leads here (DNS rebinding)", { host: "evil.example:80" }],
    ["a name that ends like ours", { host: "127.0.0.1.evil.example" }],
    ["a name with a user before it", { host: "127.0.0.1@evil.example" }],
    ["a name with a path behind it", { host: "127.0.0.1/evil.example" }],
    ["an origin of the web", { origin: "https://evil.example" }],
    ["an origin of another port", { origin: "http://127.0.0.1:1" }],
    ["the origin of a sandboxed frame", { origin: "null" }],
    ["an origin of a file", { origin: "file://" }],
  ];
  it.each(FOREIGN)("is refused everything, read or write: %s", async (_, headers) => {
    const place = await openPlace({ "a.txt": "one\n" });
    const tab = await logIn(place.page);
    const { path, digest, call } = await ask(place);
    for (const read of ["", "/review.js", "/state", "/events", `/${path}/changes/0`]) {
      const proof = tab.sign("GET", read.slice(1));
      const answer = await raw(place.page, `/review${read}`, { ...proof, ...headers });
      expect([403, 400], read).toContain(answer.status);
      expect(answer.text).not.toContain("a.txt");
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
    const body = JSON.stringify({ outcome: "allow", digest });
    const { origin: __, ...json } = tab.headers("POST", path, body);
    const answer = await raw(place.page, `/review/${path}`, { ...json, ...headers }, body);
    expect([403, 400]).toContain(answer.status);
    await expectUnanswered(place, call);
  });

  const FORMS: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, "outcome=allow"],
    ["a form with files", { "content-type": "multipart/form-data; boundary=x" }, "--x--"],
    ["a form of text that is JSON", { "content-type": "text/plain" }, '{"outcome":"allow","digest":"D"}'],
    ["a beacon", { "content-type": "text/plain;charset=UTF-8" }, '{"outcome":"allow","digest":"D"}'],
    ["JSON without our header", { "x-filewright-review": "" }, '{"outcome":"allow","digest":"D"}'],
    ["JSON with two types", { "content-type": "text/plain, application/json" }, '{"outcome":"allow"}'],
    ["a page of the same site", { "sec-fetch-site": "same-site" }, '{"outcome":"allow","digest":"D"}'],
    ["a page of another site", { "sec-fetch-site": "cross-site" }, '{"outcome":"allow","digest":"D"}'],
    ["an address that a person typed", { "sec-fetch-site": "none" }, '{"outcome":"allow","digest":"D"}'],
  ];
  it.each(FORMS)("cannot answer, not even with a code of the person: %s", async (_, headers, body) => {
    const place = await openPlace({ "a.txt": "one\n" });
    const tab = await logIn(place.page);
    const { path, digest, call } = await ask(place);
    const sent = body.replace('"D"', JSON.stringify(digest));
    const own = tab.headers("POST", path, sent);
    expect((await raw(place.page, `/review/${path}`, { ...own, ...headers }, sent)).status).toBe(403);
    const { "x-filewright-proof": __, ...unproven } = own;
    const status = (await raw(place.page, `/review/${path}`, { ...unproven, ...headers }, sent)).status;
    expect(status).toBe(401);
    await expectUnanswered(place, call);
  });
});

describe("a login", () => {
  it("comes from a link that is two minutes old at most and of this page, and ends after twelve hours", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const [one, other] = [await openPlace(), await openPlace()];
    const nonce = "ab".repeat(32);
    const idOf = (page: ReviewPage): string => ticketOf(page.link()).id;
    const hello = async ({ page }: Place, id: unknown, more: object = {}): Promise<number> =>
      (await postTo(page, "hello", { nonce, kind: "ticket", id, ...more })).status;
    const late = idOf(one.page);
    vi.setSystemTime(Date.now() + 120_000);
    expect(await hello(one, late)).toBe(401);
    expect(await hello(one, idOf(other.page))).toBe(401);
    for (const id of ["0".repeat(32), late.slice(1)]) expect(await hello(one, id)).toBe(401);
    const fresh = idOf(one.page);
    for (const id of ["", { toString: fresh }, [fresh], null, 0]) expect(await hello(one, id)).toBe(400);
    expect(await hello(one, fresh, { role: "manage" })).toBe(400);
    expect(await hello(one, fresh, { nonce: "x" })).toBe(400);
    expect(await hello(one, fresh, { kind: "person" })).toBe(400);
    const { claim, key, get, sign } = await logIn(one.page);
    expect((await get("state")).status).toBe(200);
    // The login of one page opens no other.
    const proof = sign("GET", "state");
    expect((await raw(other.page, "/review/state", proof)).status).toBe(401);
    const login = { kind: "login", id: claim, key };
    expect((await sayHello(one.page.url, login)).isProven).toBe(true);
    expect((await sayHello(other.page.url, login)).isProven).toBe(false);
    vi.setSystemTime(Date.now() + 12 * 3_600_000);
    expect((await get("state")).status).toBe(401);
    expect((await get("events")).status).toBe(401);
    expect((await sayHello(one.page.url, login)).status).toBe(401);
  });

  it("is made once by a ticket that twenty requests use at the same time", async () => {
    const { page } = await openPlace();
    const { kind, id } = ticketOf(page.link());
    const nonce = "ab".repeat(32);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await postTo(page, "hello", { nonce, kind, id })).status),
    );
    expect(statuses.filter((status) => status === 200).length).toBe(1);
  });

  it("has rights and a name that nobody can change", async () => {
    const { page } = await openPlace();
    const { claim, key, base } = await logIn(page, "watch", "ana");
    const changed = [claim.replace("watch", "manage"), claim.replace("ana", "ben")];
    for (const id of [...changed, claim.replace(/"ends":\d/u, '"ends":9')])
      expect(await sayHello(base, { kind: "login", id, key }), id).toMatchObject({ isProven: false });
  });

  it("outlasts a flood of hellos that prove nothing", async () => {
    const { page } = await openPlace();
    const tab = await logIn(page);
    expect((await tab.get("state")).status).toBe(200);
    const hello = { nonce: "ab".repeat(32), kind: "login", id: tab.claim };
    for (let round = 0; round < 6; round++)
      await Promise.all(Array.from({ length: 100 }, () => postTo(page, "hello", hello)));
    expect((await tab.get("state")).status).toBe(200);
  });
});

describe("a path", () => {
  it.each([
    "/review/../package.json",
    "/review/..%2f..%2fpackage.json",
    "/review/%2e%2e/%2e%2e/package.json",
    "/review/%252e%252e/package.json",
    "/review/..\\..\\package.json",
    "/review/..%5c..%5cpackage.json",
    "/review//etc/passwd",
    "/review/review.js/../../../package.json",
    "/review/review.js%00.html",
    "/review/./././package.json",
    "/review/__proto__",
    "/review/constructor",
    "/review/states.html",
    "/review/states.js",
    "/review/review.js.map",
    "/review;/../package.json",
    "//127.0.0.1/review",
    "http://evil.example/review",
  ])("leads to no file but those of the page: %s", async (path) => {
    const { page } = await openPlace();
    const tab = await logIn(page);
    const answer = await raw(page, path, tab.sign("GET", path.replace(/^\/review\//u, "")));
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toMatch(/filewright"|root:|function/u);
  });
});

describe("a slow or large request", () => {
  it("keeps nobody from answering, and is ended", async () => {
    const hub = reviewHub();
    const page = await serveReviewPage(hub, { limits: { headersMs: 300, requestMs: 600 } });
    try {
      const { hostname, port, host } = new URL(page.url);
      const head = `POST /review/hello HTTP/1.1\r\nHost: ${host}\r\n`;
      const sockets = Array.from({ length: 60 }, (_, at) => {
        const socket = connect(Number(port), hostname);
        socket.on("error", () => undefined);
        socket.resume();
        // Half of them never end their head, the other half never end their body.
        socket.write(at % 2 === 0 ? head : `${head}Content-Length: 9000\r\n\r\n{`);
        return socket;
      });
      const client = await logIn(page);
      expect((await client.get("state")).status).toBe(200);
      await Promise.all(sockets.map((socket) => socket.closed || once(socket, "close")));
      expect((await client.get("state")).status).toBe(200);
    } finally {
      hub.close();
      await page.close();
    }
  });

  const deep = `{"outcome":"allow","digest":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  const BODIES: readonly (readonly [string, string])[] = [
    ["8 MiB and more", `{"outcome":"allow","reason":"${"x".repeat(9 * 1024 * 1024)}"}`],
    ["more than a mebibyte", `{"outcome":"allow","reason":"${"x".repeat(1024 * 1024)}"}`],
    ["brackets in brackets", deep],
    ["a list", '[{"outcome":"allow"}]'],
    ["nothing", ""],
    ["a number", "1"],
    ["text that is not JSON", "{outcome:'allow'}"],
    ["a prototype", '{"__proto__":{"outcome":"allow"}}'],
    ["a constructor", '{"constructor":{"prototype":{"outcome":"allow"}}}'],
  ];
  it.each(BODIES)("answers nothing: %s", async (_, body) => {
    const place = await openPlace({ "a.txt": "one\n" });
    const client = await logIn(place.page);
    const { path, call } = await ask(place);
    // A body that is too large is refused before all of it has been read, which may reset the connection.
    const status = await client.post(path, body).then(
      (response) => response.status,
      () => "reset" as const,
    );
    expect([400, 409, 413, "reset"]).toContain(status);
    expect((await client.get("state")).status).toBe(200);
    await expectUnanswered(place, call);
  });
});

describe("the side that asks", () => {
  const TOKEN = "the-token-of-the-clients";

  it("cannot answer, watch or make links with its token, under any of the paths of its server", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const handler = makeReviewHandler(place.hub, { file: pageFile });
    const server = await serveMcpOverHttp(
      { fetch: async () => new Response("an MCP answer") } as unknown as Parameters<
        typeof serveMcpOverHttp
      >[0],
      {
        ...{ host: "127.0.0.1", port: 0, hosts: [], origins: [], token: TOKEN },
        approvals: place.hub.queue.handle,
        review: handler.handle,
      },
    );
    try {
      const page = { url: `${server.url}/review` } as ReviewPage;
      const { path, digest, call } = await ask(place);
      const authorization = `Bearer ${TOKEN}`;
      const body = { outcome: "allow", digest };
      for (const target of [path, "tickets"])
        expect((await postTo(page, target, body, { authorization })).status, target).toBe(401);
      for (const target of ["state", "events", `${path}/changes/0`]) {
        const answer = await raw(page, `/review/${target}`, { authorization });
        expect(answer.status, target).toBe(401);
      }
      const approvals = { url: server.url } as ReviewPage;
      const reply = { outcome: "proceed_once", payload: { digest } };
      expect((await postTo(approvals, path, reply, { authorization })).status).toBe(401);
      expect((await raw(approvals, "/approvals", { authorization })).status).toBe(401);
      // And a login of the page calls no tool.
      const tab = await logIn(place.page);
      expect((await raw(approvals, "/mcp", tab.sign("POST", "mcp", "{}"), "{}")).status).toBe(401);
      await expectUnanswered(place, call);
    } finally {
      await server.close();
    }
  });
});

describe("answers", () => {
  it("that arrive in one packet each at the same time: one of thirty counts, and the others are told", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const { path, digest, call } = await ask(place);
    const { hostname, port, host } = new URL(place.page.url);
    const people = await Promise.all(["ana", "ben", "cid"].map((name) => logIn(place.page, "answer", name)));
    const sockets = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const socket = connect(Number(port), hostname);
        await once(socket, "connect");
        return socket;
      }),
    );
    const answered = sockets.map(async (socket) => (await socket.toArray()).join(""));
    for (const [at, socket] of sockets.entries()) {
      const body = JSON.stringify({ outcome: at % 2 === 0 ? "allow" : "refuse", digest });
      socket.write(
        [
          `POST /review/${path} HTTP/1.1`,
          ...[`Host: ${host}`, "Connection: close"],
          ...Object.entries(people[at % 3]?.headers("POST", path, body) ?? {}).map((pair) => pair.join(": ")),
          ...[`Content-Length: ${body.length}`, "", body],
        ].join("\r\n"),
      );
    }
    const answers = await Promise.all(answered);
    const statuses = answers.map((answer) => /^HTTP\/1\.1 (\d+)/u.exec(answer)?.[1]);
    expect(statuses.filter((status) => status === "200").length).toBe(1);
    expect(statuses.filter((status) => status === "409").length).toBe(29);
    const { ok } = await call;
    expect(statuses.indexOf("200") % 2 === 0).toBe(ok);
    expect(await place.backend.readText("/w/a.txt")).toBe(ok ? "two\n" : "one\n");
    expect(place.hub.snapshot({ role: "watch", by: "" }).state.settled.length).toBe(1);
  });

  it("of a login that may only watch count for nothing, whatever they say", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const guest = await logIn(place.page, "watch", "guest");
    const { path, digest, call } = await ask(place);
    for (const body of [{ outcome: "allow", digest }, { outcome: "refuse", digest }, {}])
      expect((await guest.post(path, body)).status).toBe(403);
    expect((await guest.post("tickets", {})).status).toBe(403);
    await expectUnanswered(place, call);
  });

  it("with members that are not known, of another type, or for another question count for nothing", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const ana = await logIn(place.page, "answer", "ana");
    const { path, digest, call } = await ask(place);
    const bad: readonly object[] = [
      { outcome: "allow", digest, role: "manage" },
      { outcome: "allow", digest, by: "ben" },
      { outcome: "allow", digest, payload: { by: "ben" } },
      { outcome: "allow", digest, newContent: "three\n" },
      { outcome: ["allow"], digest },
      { outcome: "Allow", digest },
      { outcome: "proceed_once", digest },
      { outcome: "allow", digest: [digest] },
      { outcome: "allow_parts", digest, parts: [{ change: 0, hunks: [-1] }] },
      { outcome: "allow_parts", digest, parts: [{ change: 0, hunks: [0.5] }] },
      { outcome: "allow_parts", digest, parts: [{ change: 1e9, hunks: [0] }] },
      { outcome: "allow_parts", digest, parts: [{ change: 0, hunks: ["0"] }] },
      { outcome: "allow_parts", digest, parts: [{ change: 0, hunks: [0], path: "/etc" }] },
      { outcome: "allow_parts", digest, parts: { length: 1 } },
      { digest },
    ];
    for (const body of bad) expect((await ana.post(path, body)).status, JSON.stringify(body)).toBe(400);
    const stale = { outcome: "allow", digest: `${digest}0` };
    expect((await ana.post(path, stale)).status).toBe(409);
    for (const id of ["..", "%00", "0".repeat(32), "__proto__", "toString"])
      expect((await ana.post(`approvals/${id}`, { outcome: "allow", digest })).status, id).toBe(404);
    await expectUnanswered(place, call);
  });
});
