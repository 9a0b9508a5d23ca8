/** `filewright serve` on loopback: who gets in, both eras over HTTP, tokens of an authorization server. */
import { generateKeyPairSync, sign } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { answerOf, ERAS, scratch } from "./harness.ts";
import { serveMcp } from "../../js/mcp/serve-mcp.ts";
import { runInProcess } from "../support/in-process.ts";
import { bearer, send, serve, TOKEN } from "./serving.ts";

test("only with the token, for our names and allowed origins", async () => {
  await using at = await scratch();
  await using server = await serve([
    at.dir,
    "--allow-origin",
    "https://app.example",
    "--allow-host",
    "files.example",
  ]);
  const port = new URL(server.url).port;
  const cases: readonly [name: string, headers: Record<string, string>, status: number][] = [
    ["the token", bearer, 200],
    ["no token", {}, 401],
    ["a wrong token", { authorization: `Bearer ${TOKEN}x` }, 401],
    ["a part of the token", { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 401],
    ["another scheme", { authorization: `Basic ${TOKEN}` }, 401],
    ["a name that was rebound", { ...bearer, host: `evil.example:${port}` }, 403],
    ["a name that only begins like ours", { ...bearer, host: `localhost.evil.example:${port}` }, 403],
    ["no sensible name", { ...bearer, host: "a b" }, 403],
    ["a further name", { ...bearer, host: "FILES.example" }, 200],
    ["loopback by another name", { ...bearer, host: `localhost:${port}` }, 200],
    ["any page", { ...bearer, origin: "https://evil.example" }, 403],
    ["a page on this machine", { ...bearer, origin: "http://localhost:3000" }, 403],
    ["a page of the server itself", { ...bearer, origin: `http://127.0.0.1:${port}` }, 200],
    [
      "a page under a name that was rebound",
      { ...bearer, host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
      403,
    ],
    ["a page without an origin", { ...bearer, origin: "null" }, 403],
    ["an allowed page", { ...bearer, origin: "https://app.example" }, 200],
  ];
  for (const [name, headers, status] of cases)
    expect((await send(server.url, headers)).status, name).toBe(status);
  const preflight = await send(server.url, { origin: "https://app.example" }, { method: "OPTIONS" });
  expect(preflight).toMatchObject({
    status: 204,
    headers: { "access-control-allow-origin": "https://app.example" },
  });
  expect((await send(new URL("/other", server.url).href, bearer)).status).toBe(404);
  expect((await send(server.url, bearer, { body: "{nonsense" })).status).toBe(400);
  expect((await send(server.url, bearer, { method: "GET" })).status).toBe(405);
  expect(server.said()).not.toContain(TOKEN);
});

test.each([
  ["null", "https://app.example"],
  ["*", "https://app.example"],
  ["https://app.example/", "https://app.example"],
  ["https://app.example/path", "https://app.example"],
  ["https://app.example?q", "https://app.example"],
  ["https://app.example#part", "https://app.example"],
  ["https://user@app.example", "https://app.example"],
  ["HTTPS://App.Example", "https://app.example"],
  ["https://app.example:443", "https://app.example"],
  ["http://app.example:080", "http://app.example"],
  ["https://b\u00fccher.example", "https://xn--bcher-kva.example"],
  [" https://app.example", "https://app.example"],
  ["app.example", "https://app.example"],
  ["app.example:8080", "https://app.example"],
  ["https://", "https://app.example"],
  ["https://*.app.example", "https://app.example"],
  ["https://app.example:*", "https://app.example"],
  ["https://a.example,https://b.example", "https://app.example"],
  ["https://a.example https://b.example", "https://app.example"],
  ["file://", "https://app.example"],
  ["file:///etc", "https://app.example"],
  ["data:text/html,x", "https://app.example"],
  ["about:blank", "https://app.example"],
  ["blob:https://app.example", "https://app.example"],
  ["wss://app.example", "https://app.example"],
  ["chrome-extension://abc/page.html", "https://app.example"],
])("the origin %j is refused, with the right form", async (origin, form) => {
  await using at = await scratch();
  const ran = await runInProcess(["serve", at.dir, `--allow-origin=${origin}`], { cwd: at.dir, env: {} });
  expect(ran.status).not.toBe(0);
  expect(ran.err).toContain("--allow-origin must be the origin of a page");
  expect(ran.err).toContain(`such as ${form};`);
  const options = { open: () => expect.unreachable(), token: TOKEN, origins: [origin] };
  await expect(serveMcp(options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test.each([
  "https://app.example",
  "http://localhost:3000",
  "http://127.0.0.1",
  "http://[::1]:5173",
  "https://xn--bcher-kva.example:8443",
  "chrome-extension://abcdefghijklmnop",
  "moz-extension://3c7a9c1e-0b4e-4c1a-9f55-0f0a2a0b1c2d",
  "vscode-webview://1a2b3c",
  "tauri://localhost",
])("a page of the origin %j is let in", async (origin) => {
  await using at = await scratch();
  await using server = await serve([at.dir, "--allow-origin", origin]);
  expect((await send(server.url, { ...bearer, origin })).status).toBe(200);
});

test("a new token is stored in a file that only its owner can read, and is not printed", async () => {
  await using at = await scratch();
  await using server = await serve(["--preset", "mcp", at.dir], {
    FILEWRIGHT_TOKEN: "",
    XDG_STATE_HOME: join(at.dir, "state"),
  });
  const file = /The token that clients must show is in (\S+)/u.exec(server.said())?.[1] as string;
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await send(server.url, {})).status).toBe(401);
});

const wrong: readonly [name: string, argv: readonly string[], says: RegExp][] = [
  ["no token for everybody", ["--no-token", "--host", "0.0.0.0", "--allow-host", "x"], /loopback/u],
  ["every address without a name", ["--host", "0.0.0.0"], /--allow-host/u],
  ["an issuer without an audience", ["--oauth-issuer", "https://a.example"], /--oauth-resource/u],
  ["a short token", [], /at least 16/u],
];
test.each(wrong)("is not started with %s", async (name, argv, says) => {
  await using at = await scratch();
  const env = name === "a short token" ? { FILEWRIGHT_TOKEN: "short" } : {};
  await expect(serve(["--preset", "mcp", at.dir, ...argv], env)).rejects.toThrow(says);
});

describe.each(ERAS)("in the %s era", (era) => {
  test("calls, resources, and what a client does not decide", async () => {
    await using at = await scratch();
    await writeFile(join(at.dir, "a.txt"), "hello");
    await using server = await serve([at.dir, "--preset", "canonical"]);
    const client = new Client(
      { name: "test", version: "1" },
      {
        capabilities: { roots: {} },
        versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
      },
    );
    // Over a network roots widen nothing.
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///etc" }] }));
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: bearer } }),
    );
    const call = async (name: string, args: Record<string, unknown>) =>
      answerOf(await client.callTool({ name, arguments: args }));
    expect((await call("read_file", { path: "a.txt", line_numbers: "none" })).text).toBe("hello");
    expect((await call("read_file", { path: "/etc/passwd" })).meta["code"]).toBe("OUTSIDE_ALLOWED");
    const { resources } = await client.listResources();
    expect(resources).toHaveLength(2);
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, n) => call("write_file", { path: `f${n}`, content: `${n}` })),
    );
    expect(many.filter(({ isError }) => isError)).toEqual([]);
    if (era === "modern") {
      const uri = resources[1]?.uri as string;
      const seen = new Promise<string>((resolve) => {
        client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
      });
      await client.listen({ resourceSubscriptions: [uri] });
      await writeFile(join(at.dir, "a.txt"), "changed");
      expect(await seen).toBe(uri);
    }
    await client.close();
  });
});

test("a client of the first generation of the SDK", async () => {
  await using at = await scratch();
  await using server = await serve(["--preset", "mcp", at.dir, "--no-token"], { FILEWRIGHT_TOKEN: "" });
  const client = new FirstClient({ name: "test", version: "1" });
  await client.connect(new FirstTransport(new URL(server.url)) as never);
  expect((await client.listTools()).tools).toHaveLength(14);
  await client.close();
});

test("tokens of an authorization server: signature, audience, end, scope", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuing = createServer((incoming, outgoing) => {
    const issuer = `http://${incoming.headers.host}`;
    const about = incoming.url === "/.well-known/oauth-authorization-server";
    const keys = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1", use: "sig" }] };
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify(about ? { issuer, jwks_uri: `${issuer}/keys` } : keys));
  });
  await new Promise<void>((resolve) => issuing.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(issuing.address() as AddressInfo).port}`;
  const resource = "https://files.example/mcp";
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const good = { iss: issuer, aud: resource, exp: now + 300, sub: "ann", scope: "files other" };
  const token = (claims: object, header: object = {}, key = privateKey): string => {
    const text = `${part({ alg: "ES256", kid: "k1", ...header })}.${part(claims)}`;
    return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
  const { exp: _, ...endless } = good;
  const cases: readonly [name: string, token: string, status: number][] = [
    ["issued for us", token(good), 200],
    ["for several, of which one is us", token({ ...good, aud: ["https://x.example", `${resource}/`] }), 200],
    ["for somebody else", token({ ...good, aud: "https://x.example" }), 401],
    ["for nobody", token({ ...good, aud: undefined }), 401],
    ["by somebody else", token({ ...good, iss: "https://x.example" }), 401],
    ["past its end", token({ ...good, exp: now - 120 }), 401],
    ["without an end", token(endless), 401],
    ["not valid yet", token({ ...good, nbf: now + 120 }), 401],
    ["without the scope", token({ ...good, scope: "other" }), 403],
    ["signed by another key", token(good, {}, other.privateKey), 401],
    ["of an unknown key", token(good, { kid: "k2" }), 401],
    ["not signed", `${part({ alg: "none", kid: "k1" })}.${part(good)}.`, 401],
    ["of another algorithm than the key's", token(good, { alg: "RS256" }), 401],
    ["no token at all", "abc", 401],
  ];
  await using at = await scratch();
  await using server = await serve(
    [at.dir, "--oauth-issuer", issuer, "--oauth-resource", resource, "--oauth-scope", "files"].concat([
      "--allow-host",
      "files.example",
    ]),
    { FILEWRIGHT_TOKEN: "" },
  );
  for (const [name, given, status] of cases)
    expect((await send(server.url, { authorization: `Bearer ${given}` })).status, name).toBe(status);
  const challenge = await send(server.url, {});
  const document = "https://files.example/.well-known/oauth-protected-resource/mcp";
  expect(challenge.headers["www-authenticate"]).toBe(`Bearer resource_metadata="${document}"`);
  const about = await send(new URL(new URL(document).pathname, server.url).href, {}, { method: "GET" });
  expect(JSON.parse(about.text)).toMatchObject({
    resource,
    authorization_servers: [issuer],
    scopes_supported: ["files"],
  });
  issuing.close();
  issuing.closeAllConnections();
}, 60_000);
