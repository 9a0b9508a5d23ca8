/** An authorization server on loopback: its metadata, its keys, and tokens with any claims. */
import { generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";

/** The URL for which the tokens are issued. */
export const RESOURCE = "https://files.example/mcp";

/**
 * A running authorization server. `token` returns a token with claims besides the required ones.
 * @typedef {{ readonly url: string, token(claims: object): string, close(): void }} Issuer
 */

/** @param {object} value */
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * Starts an authorization server with one key.
 * @returns {Promise<Issuer>}
 */
export async function startIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = createServer((incoming, outgoing) => {
    outgoing.setHeader("content-type", "application/json");
    const isAbout = incoming.url === "/.well-known/oauth-authorization-server";
    const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "es", use: "sig" }];
    outgoing.end(JSON.stringify(isAbout ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    token(claims) {
      const now = Math.floor(Date.now() / 1000);
      const all = {
        iss: url,
        aud: RESOURCE,
        exp: now + 3600,
        iat: now,
        sub: "ann",
        client_id: "app",
        ...claims,
      };
      const text = `${part({ alg: "ES256", kid: "es", typ: "at+jwt" })}.${part(all)}`;
      const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return `${text}.${signature.toString("base64url")}`;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
