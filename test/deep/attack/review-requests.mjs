// The review page answers only a person who has logged in, and no other page answers for that person: requests that lack or change
// one thing, roles that may less, tokens of MCP clients at the page and the other way round, tickets and answers that
// arrive at once.
import { existsSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { homeIn } from "./lib.mjs";
import { login, startServer } from "./server.mjs";

const CLIENT_TOKEN = "0123456789abcdef0123";
const APPROVER_TOKEN = "approver-token-0123456789";
const FREE_PORT_FROM = 20_000;
const MCP_TYPES = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const PROOF = "x-filewright-proof";
const EVIL_ORIGIN = "http://evil.example";

/** Attacks one server with the review page. */
export default async function attackReviewPage(attack) {
  const site = await startSite(attack);
  await attackTickets(attack, site);
  const written = site.call("write_file", { path: "one.txt", content: "one\n" });
  const question = await site.people.manage.question(({ tool }) => tool === "write_file");
  await attackAnswer(attack, site, question);
  await attackTokens(attack, site, question);
  await attackRoles(attack, site, question);
  const answers = await Promise.all(
    ["manage", "answer", "manage", "answer", "manage", "answer"].map((role, index) =>
      site.people[role].answer(question, index < 3 ? "allow" : "refuse"),
    ),
  );
  const counted = answers.filter(({ status }) => status === 200).length;
  attack.check(`${counted} of six answers at once count`, counted !== 1);
  await written;
}

async function startSite(attack) {
  const root = attack.temporary();
  const tokens = { FILEWRIGHT_TOKEN: CLIENT_TOKEN, FILEWRIGHT_APPROVE_TOKEN: APPROVER_TOKEN };
  const port = FREE_PORT_FROM + attack.random.below(20_000);
  const args = [root, `--review=${port}`, "--port", "0", "--preset", "canonical", "--guard", "off"];
  const server = startServer(attack, args, { env: { ...homeIn(attack), ...tokens }, command: "serve" });
  const [, base] = await server.line(/at (http:\/\/127\.0\.0\.1:\d+)\/mcp/u);
  const ticket = async (role) => {
    const headers = { authorization: `Bearer ${APPROVER_TOKEN}`, "content-type": "application/json" };
    const body = JSON.stringify({ role, by: role });
    const { text } = await send(`${base}/review/tickets`, { method: "POST", headers, body });
    return `${base}/review${JSON.parse(text).fragment}`;
  };
  const call = (name, args) => {
    const headers = {
      ...MCP_TYPES,
      authorization: `Bearer ${CLIENT_TOKEN}`,
      "mcp-protocol-version": "2025-06-18",
    };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
    return send(`${base}/mcp`, { method: "POST", headers, body: JSON.stringify(message) });
  };
  const people = {};
  for (const role of ["watch", "answer", "manage"]) people[role] = await login(await ticket(role));
  return { root, base, ticket, call, people };
}

/** Sends a request with exactly these headers, also those that fetch forbids. */
function send(url, { method = "GET", headers = {}, body } = {}) {
  const { hostname, port, host, pathname, search } = new URL(url);
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const path = pathname + search;
    const options = { host: hostname, port, method, path, headers: { host, ...headers, ...length } };
    const request = httpRequest(options, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    request.on("error", (error) => resolve({ status: 0, text: String(error) }));
    request.end(body);
  });
}

async function attackTickets(attack, { ticket }) {
  const isAccepted = (link) =>
    login(link).then(
      () => true,
      () => false,
    );
  const used = await ticket("manage");
  await login(used);
  attack.check("a ticket works twice", await isAccepted(used));
  const contested = await ticket("manage");
  const accepted = await Promise.all([1, 2, 3, 4].map(() => isAccepted(contested)));
  attack.check("a ticket that is redeemed four times at once", accepted.filter(Boolean).length !== 1);
}

const without = (headers, name) =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

/** @returns for each wrong request its name, and what it changes in a right one */
function wrongRequests({ root, base, people }, { digest }, url, headers) {
  const port = new URL(base).port;
  const body = (more) => JSON.stringify({ outcome: "allow", digest, ...more });
  const wider = (more) =>
    body({ wider: { place: "directory", isAgentOnly: false, until: "session", ...more } });
  const kept = { wider: { place: "everywhere", isAgentOnly: false, until: "kept" } };
  const granted = {
    wider: { place: "everywhere", isAgentOnly: false, until: "turn" },
    grant: { access: "write", until: "kept" },
  };
  const header = (name, value) => ({ headers: { ...headers, [name]: value } });
  const foreignHost = (host) => ({ headers: { ...headers, host, origin: `http://${host}` } });
  return [
    ...["x-filewright-proof", "x-filewright-review", "origin", "content-type"].map((name) => [
      `without ${name}`,
      { headers: without(headers, name) },
    ]),
    ["header 0", header("x-filewright-review", "0")],
    ...[EVIL_ORIGIN, "null", "http://127.0.0.1:1", base.replace("http:", "https:")].map((origin) => [
      `origin ${origin === "null" ? "null" : origin.replace(port, "PORT")}`,
      header("origin", origin),
    ]),
    ...["same-site", "cross-site", "none"].map((site) => [`fetched ${site}`, header("sec-fetch-site", site)]),
    ...[
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=application/json",
    ].map((type) => [`type ${type}`, header("content-type", type)]),
    ["another host", foreignHost("evil.example")],
    ["rebound host with the port", foreignHost(`evil.example:${port}`)],
    ["host with a user", header("host", "127.0.0.1@evil.example")],
    [
      "the client's token alone",
      { headers: { ...without(headers, PROOF), authorization: `Bearer ${CLIENT_TOKEN}` } },
    ],
    ["the client's token with a code", header("authorization", `Bearer ${CLIENT_TOKEN}`)],
    ["the code of another request", header(PROOF, people.manage.sign("POST", "marks", "{}")[PROOF])],
    ["a code of zeros", header(PROOF, `${people.manage.session} 1000 ${"0".repeat(64)}`)],
    ["the role watch", { who: "watch" }],
    ["PUT", { method: "PUT" }],
    ["DELETE", { method: "DELETE" }],
    [
      "the answer in the query",
      { method: "GET", body: undefined, url: `${url}?outcome=allow&digest=${encodeURIComponent(digest)}` },
    ],
    ["another digest", { body: body({ digest: `sha256:${"0".repeat(64)}` }) }],
    ["no digest", { body: JSON.stringify({ outcome: "allow" }) }],
    ["a digest in a list", { body: body({ digest: [digest] }) }],
    ["an unknown member", { body: body({ force: true }) }],
    ["outcome in capitals", { body: body({ outcome: "ALLOW" }) }],
    ["outcome of another protocol", { body: body({ outcome: "proceed_always" }) }],
    ["kept everywhere by the role answer", { who: "answer", body: body(kept) }],
    ["a kept grant by the role answer", { who: "answer", body: body(granted) }],
    ["wider to another directory", { body: wider({ dir: "/" }) }],
    ["wider by ..", { body: wider({ dir: `${root}/../` }) }],
    ["wider by a glob", { body: wider({ dir: `${root}/**,/etc` }) }],
    ["a path with //", { url: url.replace("/review/", "/review//") }],
    ["an encoded path", { url: url.replace("approvals", "%61pprovals") }],
  ];
}

async function attackAnswer(attack, site, question) {
  const url = `${site.base}/review/approvals/${question.id}`;
  const { manage } = site.people;
  const right = { url, method: "POST", body: JSON.stringify({ outcome: "allow", digest: question.digest }) };
  const headers = { ...manage.headers("POST", `approvals/${question.id}`, right.body), [PROOF]: "" };
  for (const [name, change] of wrongRequests(site, question, url, headers)) {
    const request = { headers, ...right, ...change };
    const path = request.url.replace(/^.*?\/review\//u, "");
    const proof = site.people[change.who ?? "manage"].sign(request.method, path, request.body ?? "");
    // Everything but what is wrong is right: each request has a code of its own.
    const sent = request.headers[PROOF] === "" ? { ...request.headers, ...proof } : request.headers;
    const { status } = await send(request.url, { ...request, headers: sent });
    const isMade = existsSync(join(site.root, "one.txt"));
    const isAccepted = status >= 200 && status < 300 && request.method !== "GET";
    attack.check(`an answer with ${name}: ${status}`, isMade || isAccepted);
    if (isMade) return;
  }
}

/** The token of a client opens nothing at the page, and the credentials of the page open nothing at the MCP server. */
async function attackTokens(attack, { base, people }, question) {
  const client = { authorization: `Bearer ${CLIENT_TOKEN}` };
  /** Returns the headers of a person, with a code for a request. */
  const person = (method, path, body = "") => people.manage.headers(method, path, body);
  const atPage = [
    ...["/approvals", `/approvals/${question.id}`, "/review/state", "/review/tickets"].map((path) => [
      path,
      client,
    ]),
    ["/approvals", person("GET", "approvals")],
    [`/approvals/${question.id}`, person("GET", `approvals/${question.id}`)],
    ["/review/tickets", person("POST", "tickets", "{}")],
  ];
  for (const [path, credential] of atPage) {
    const isPost = path.endsWith("tickets");
    const request = { method: isPost ? "POST" : "GET", headers: credential };
    const { status } = await send(base + path, isPost ? { ...request, body: "{}" } : request);
    attack.check(`${Object.keys(credential)} at ${path}: ${status}`, status < 300);
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  for (const credential of [{ authorization: `Bearer ${APPROVER_TOKEN}` }, person("POST", "mcp")]) {
    const { status } = await send(`${base}/mcp`, {
      method: "POST",
      headers: { ...MCP_TYPES, ...credential },
      body,
    });
    attack.check(`${Object.keys(credential)} of a person at /mcp: ${status}`, status < 300);
  }
}

const MANAGER_PATHS = [
  ...["marks", "history/x/undo", "rewind", "grants", "grants/revoke", "policy/approvals/revoke"],
  ...["policy/approvals/restore", "tickets"],
];

async function attackRoles(attack, { people }, { id }) {
  const watched = [...MANAGER_PATHS, "history/keep", "scopes", `approvals/${id}`];
  const hidden = [
    "audit.jsonl",
    `approvals/${id}`,
    `approvals/${id}/changes/0/content`,
    "previews/rows?digest=x",
  ];
  const requests = [
    ...watched.map((path) => ["watch", "post", path]),
    ...MANAGER_PATHS.map((path) => ["answer", "post", path]),
    ...hidden.map((path) => ["watch", "get", path]),
  ];
  for (const [role, method, path] of requests) {
    const { status } = await people[role][method](path, {});
    attack.check(`the role ${role}: ${method} ${path}: ${status}`, status !== 403);
  }
}
