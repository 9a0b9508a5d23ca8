/** Access tokens of an authorization server: signed for real, checked against a real server of keys on loopback. */
import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
} from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type OauthOptions, oauthVerifier, type TokenVerifier } from "../../js/mcp/auth/oauth.ts";

const RESOURCE = "https://files.example/mcp";
const now = (): number => Math.floor(Date.now() / 1000);

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
const ec = (namedCurve: string): Pair => generateKeyPairSync("ec", { namedCurve });
const rsa = (modulusLength: number): Pair => generateKeyPairSync("rsa", { modulusLength });
const P256 = ec("P-256");
const P384 = ec("P-384");
const RSA = rsa(2048);
const WEAK = rsa(1024);
const ED = generateKeyPairSync("ed25519");

let issuer = "";
let server: Server;
/** The answer of the key server; tests replace it. */
let keys: readonly JsonWebKey[] = [];
let raw: ((path: string) => { status?: number; text?: string; location?: string } | undefined) | undefined;
let asked: string[] = [];

const jwk = ({ publicKey }: Pair, more: JsonWebKey): JsonWebKey => ({
  ...publicKey.export({ format: "jwk" }),
  ...more,
});

beforeAll(async () => {
  server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "";
    asked.push(path);
    const own = raw?.(path);
    if (own !== undefined) {
      outgoing.writeHead(own.status ?? 200, own.location === undefined ? {} : { location: own.location });
      return void outgoing.end(own.text ?? "");
    }
    outgoing.setHeader("content-type", "application/json");
    const isAbout = path === "/.well-known/oauth-authorization-server";
    outgoing.end(JSON.stringify(isAbout ? { issuer, jwks_uri: `${issuer}/keys` } : { keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  raw = undefined;
  asked = [];
  keys = [
    jwk(P256, { kid: "es", use: "sig" }),
    jwk(RSA, { kid: "rs", use: "sig", alg: "RS256" }),
    jwk(WEAK, { kid: "weak", use: "sig", alg: "RS256" }),
    jwk(P384, { kid: "p384", use: "sig", alg: "ES384" }),
    jwk(ED, { kid: "ed", use: "sig" }),
  ];
});

const verifier = (more: Partial<OauthOptions> = {}): TokenVerifier =>
  oauthVerifier({ issuer, resource: RESOURCE, scopes: [], ...more });

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = (more: object = {}): object => ({
  iss: issuer,
  aud: RESOURCE,
  exp: now() + 300,
  iat: now(),
  sub: "ann",
  client_id: "app",
  scope: "files other",
  ...more,
});

interface Making {
  readonly header?: object;
  readonly body?: object;
  readonly key?: KeyObject;
  readonly hash?: string | null;
}
/** A token signed with a private key; ES256 unless told otherwise. */
function token({ header = {}, body = {}, key = P256.privateKey, hash = "sha256" }: Making = {}): string {
  const text = `${part({ alg: "ES256", kid: "es", ...header })}.${part(claims(body))}`;
  const input: SignKeyObjectInput = { key, dsaEncoding: "ieee-p1363" };
  return `${text}.${sign(hash, Buffer.from(text), input).toString("base64url")}`;
}
const rs256 = (more: Making = {}): string =>
  token({ key: RSA.privateKey, ...more, header: { alg: "RS256", kid: "rs", ...more.header } });

test.each([
  ["ES256", () => token()],
  ["RS256", () => rs256()],
  ["ES384", () => token({ header: { alg: "ES384", kid: "p384" }, key: P384.privateKey, hash: "sha384" })],
  ["EdDSA", () => token({ header: { alg: "EdDSA", kid: "ed" }, key: ED.privateKey, hash: null })],
  ["typ JWT", () => token({ header: { typ: "JWT" } })],
  ["typ at+jwt", () => token({ header: { typ: "at+jwt" } })],
  ["typ application/at+jwt", () => token({ header: { typ: "application/at+jwt" } })],
  [
    "several audiences, one of them ours with a slash",
    () => token({ body: { aud: ["https://x.example", `${RESOURCE}/`] } }),
  ],
  ["an end 20 seconds ago", () => token({ body: { exp: now() - 20 } })],
  ["Cognito's token_use access", () => token({ body: { token_use: "access" } })],
  ["Keycloak's typ Bearer", () => token({ body: { typ: "Bearer" } })],
])("a token with %s is accepted", async (_, make) => {
  const facts = await verifier().verify(make());
  expect(facts).toMatchObject({ clientId: "app", scopes: ["files", "other"], subject: "ann" });
});

/** HS256 with the public key as its secret: accepted by those who take the algorithm from the token. */
function confused(): string {
  const text = `${part({ alg: "HS256", kid: "rs" })}.${part(claims())}`;
  const secret = RSA.publicKey.export({ type: "spki", format: "pem" });
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}
const cut = (text: string): string => text.slice(0, text.lastIndexOf("."));

const REFUSED: readonly (readonly [what: string, make: () => string])[] = [
  ["an RSA key of 1,024 bits", () => rs256({ header: { kid: "weak" }, key: WEAK.privateKey })],
  ["ES256 and a P-384 key", () => token({ header: { kid: "p384" }, key: P384.privateKey })],
  ["ES384 and a P-256 key", () => token({ header: { alg: "ES384" }, hash: "sha384" })],
  ["RS256 and an EC key", () => token({ header: { alg: "RS256" } })],
  ["no signature and alg none", () => `${part({ alg: "none", kid: "es" })}.${part(claims())}.`],
  ["no signature", () => `${cut(token())}.`],
  ["HS256 with the public key as its secret", confused],
  ["the signature of another key", () => token({ key: ec("P-256").privateKey })],
  ["the signature of another text", () => `${cut(token({ body: { sub: "eve" } }))}.${token().split(".")[2]}`],
  ["a key that nobody has", () => token({ header: { kid: "gone" } })],
  [
    "a key of its own in its header",
    () => token({ header: { kid: undefined, jwk: jwk(P256, {}) }, key: ec("P-256").privateKey }),
  ],
  ["a critical header nobody knows", () => token({ header: { crit: ["x"], x: 1 } })],
  ["another audience", () => token({ body: { aud: "https://x.example" } })],
  ["an audience that only begins like ours", () => token({ body: { aud: `${RESOURCE}.evil.example` } })],
  ["no audience", () => token({ body: { aud: undefined } })],
  ["another issuer", () => token({ body: { iss: "https://x.example" } })],
  ["no issuer", () => token({ body: { iss: undefined } })],
  ["its end past", () => token({ body: { exp: now() - 60 } })],
  ["no end", () => token({ body: { exp: undefined } })],
  ["an end that is no number", () => token({ body: { exp: "2999-01-01" } })],
  ["its beginning ahead", () => token({ body: { nbf: now() + 120 } })],
  ["a nonce, as an ID token", () => token({ body: { nonce: "n" } })],
  ["at_hash, as an ID token", () => token({ body: { at_hash: "h" } })],
  ["Cognito's token_use id", () => token({ body: { token_use: "id" } })],
  ["Keycloak's typ ID", () => token({ body: { typ: "ID" } })],
  ["Keycloak's typ Refresh", () => token({ body: { typ: "Refresh" } })],
  ["typ logout+jwt", () => token({ header: { typ: "logout+jwt" } })],
  ["typ dpop+jwt", () => token({ header: { typ: "dpop+jwt" } })],
  ["a typ that is no text", () => token({ header: { typ: ["at+jwt"] } })],
  ["a key that its sender must prove", () => token({ body: { cnf: { jkt: "thumb" } } })],
  ["nothing that is a token", () => "abc"],
  [
    "claims that are no object",
    () => `${part({ alg: "ES256", kid: "es" })}.${Buffer.from("1").toString("base64url")}.AA`,
  ],
];
test.each(REFUSED)("a token with %s is refused", async (_, make) => {
  expect(await verifier().verify(make())).toBeUndefined();
});

test("only at+jwt is accepted when that is demanded", async () => {
  const strict = verifier({ requireAccessTokenType: true });
  expect(await strict.verify(token())).toBeUndefined();
  expect(await strict.verify(token({ header: { typ: "JWT" } }))).toBeUndefined();
  expect(await strict.verify(token({ header: { typ: "at+jwt" } }))).toMatchObject({ clientId: "app" });
});

describe("a token that names no key", () => {
  test("is accepted when one key of its kind is there", async () => {
    keys = [jwk(P256, { use: "sig" })];
    expect(await verifier().verify(token({ header: { kid: undefined } }))).toMatchObject({ clientId: "app" });
  });
  test("is refused when several are", async () => {
    keys = [jwk(P256, { use: "sig" }), jwk(ec("P-256"), { use: "sig" })];
    expect(await verifier().verify(token({ header: { kid: undefined } }))).toBeUndefined();
  });
});

test("a key for encryption signs nothing", async () => {
  keys = [jwk(P256, { kid: "es", use: "enc" })];
  expect(await verifier().verify(token())).toBeUndefined();
});

describe("the keys", () => {
  test("are fetched once for many tokens, and none for what is no token", async () => {
    const one = verifier();
    await one.verify("abc");
    await one.verify(token({ header: { typ: "logout+jwt" } }));
    expect(asked).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => one.verify(token())));
    expect(asked).toEqual(["/.well-known/oauth-authorization-server", "/keys"]);
  });

  test("are not fetched anew for each unknown key", async () => {
    const one = verifier();
    for (let at = 0; at < 20; at++) await one.verify(token({ header: { kid: `k${at}` } }));
    expect(asked.filter((path) => path === "/keys")).toHaveLength(1);
  });

  test("are found by OpenID Connect where RFC 8414 is not served", async () => {
    raw = (path) => {
      if (path === "/.well-known/oauth-authorization-server") return { status: 404 };
      if (path !== "/.well-known/openid-configuration") return undefined;
      return { text: JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }) };
    };
    expect(await verifier().verify(token())).toMatchObject({ clientId: "app" });
  });

  const broken: readonly (readonly [string, NonNullable<typeof raw>])[] = [
    ["are an error", () => ({ status: 500 })],
    ["are no JSON", () => ({ text: "<html>" })],
    ["are no list", () => ({ text: '{"keys":{}}' })],
    ["are a JSON null", () => ({ text: "null" })],
    ["are elsewhere", () => ({ status: 302, location: "/keys" })],
    ["never end", (path) => (path === "/keys" ? { text: "x".repeat(1024 * 1024) } : undefined)],
    [
      "are too many",
      (path) =>
        path === "/keys"
          ? { text: JSON.stringify({ keys: Array.from({ length: 200 }, () => ({})) }) }
          : undefined,
    ],
    [
      "are those of an issuer that says another name",
      (path) =>
        path === "/keys"
          ? undefined
          : { text: JSON.stringify({ issuer: "https://x.example", jwks_uri: `${issuer}/keys` }) },
    ],
    [
      "come without TLS from another machine",
      (path) =>
        path === "/keys"
          ? undefined
          : { text: JSON.stringify({ issuer, jwks_uri: "http://keys.example/keys" }) },
    ],
  ];
  test.each(broken)("make no token valid when they %s", async (_, answer) => {
    raw = answer;
    expect(await verifier().verify(token())).toBe("unavailable");
  });

  test("are asked for again after they could not be had", async () => {
    const one = verifier();
    raw = () => ({ status: 503 });
    expect(await one.verify(token())).toBe("unavailable");
    const before = asked.length;
    expect(await one.verify(token())).toBe("unavailable");
    expect(asked).toHaveLength(before);
    raw = undefined;
    await expect.poll(() => one.verify(token()), { timeout: 20_000 }).toMatchObject({ clientId: "app" });
  });
});

test.each([
  ["http://issuer.example", undefined],
  ["ftp://issuer.example", undefined],
  ["no URL", undefined],
  ["https://issuer.example", "http://keys.example/keys"],
])("an issuer %s with keys at %s is refused", (named, jwks) => {
  expect(() => verifier({ issuer: named, jwks })).toThrow();
});

test("a private key in the list of keys does no harm", async () => {
  keys = [
    {
      ...createPrivateKey({ key: P256.privateKey.export({ format: "jwk" }), format: "jwk" }).export({
        format: "jwk",
      }),
      kid: "es",
    },
  ];
  expect(await verifier().verify(token({ key: ec("P-256").privateKey }))).toBeUndefined();
});
