/**
 * Tokens of an OAuth authorization server: the document that tells clients where
 * to get one (RFC 9728), and the check that a token was issued for this server.
 *
 * Tokens are JSON Web Tokens, signed with a public key of the issuer. A token for
 * another audience is refused, whoever signed it. Nothing is accepted that has no
 * end, and no algorithm that the key is not made for.
 */
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";

/** What a token says. */
export interface TokenFacts {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Seconds since 1970. */
  readonly expiresAt: number;
  readonly subject?: string | undefined;
}

/** Checks tokens. */
export interface TokenVerifier {
  readonly scopes: readonly string[];
  /** Where the document of this server is. */
  readonly metadataUrl: string;
  /** The path of that URL, and the document. */
  readonly metadata: { readonly path: string; readonly document: Readonly<Record<string, unknown>> };
  /** What a token says; undefined for one that does not hold here. */
  verify(token: string): Promise<TokenFacts | undefined>;
}

/** Which tokens hold. */
export interface OauthOptions {
  /** The authorization server, exactly as its tokens name it. */
  readonly issuer: string;
  /** This server's own URL: the audience of its tokens. */
  readonly resource: string;
  /** Its keys; default: as the issuer's metadata says. */
  readonly jwks?: string | undefined;
  /** What a token must allow. */
  readonly scopes: readonly string[];
}

/** Clocks may differ. Seconds. */
const LEEWAY = 30;
/** Keys are asked for anew after so long, and at once for an unknown key, not more often than this. Milliseconds. */
const KEYS_LAST_MS = 600_000;
const KEYS_PACE_MS = 10_000;
const FETCH_MS = 5000;

/** How each algorithm is verified. Signatures of ECDSA are in the form of JSON Web Tokens. */
const ALGORITHMS: Readonly<Record<string, { readonly type: string; readonly hash: string | null }>> = {
  RS256: { type: "rsa", hash: "sha256" },
  RS384: { type: "rsa", hash: "sha384" },
  RS512: { type: "rsa", hash: "sha512" },
  ES256: { type: "ec", hash: "sha256" },
  ES384: { type: "ec", hash: "sha384" },
  EdDSA: { type: "ed25519", hash: null },
};

interface Keys {
  readonly at: number;
  readonly byId: ReadonlyMap<string, KeyObject>;
}

/** Makes the check. @throws TypeError for URLs that are none */
export function oauthVerifier({ issuer, resource, jwks, scopes }: OauthOptions): TokenVerifier {
  const url = new URL(resource);
  new URL(issuer);
  const path = `/.well-known/oauth-protected-resource${url.pathname === "/" ? "" : url.pathname}`;
  let keys: Keys | undefined;
  let loading: Promise<Keys> | undefined;

  const load = async (): Promise<Keys> => {
    const place = jwks ?? (await issuerKeys(issuer));
    const { keys: list } = (await getJson(place)) as { readonly keys?: readonly JsonWebKey[] };
    const byId = new Map<string, KeyObject>();
    for (const key of list ?? []) {
      if (key["use"] !== undefined && key["use"] !== "sig") continue;
      try {
        byId.set(String(key["kid"] ?? ""), createPublicKey({ key, format: "jwk" }));
      } catch {
        // A kind of key that is not known here: tokens signed with it do not hold.
      }
    }
    return { at: Date.now(), byId };
  };
  const keyOf = async (id: string): Promise<KeyObject | undefined> => {
    const age = keys === undefined ? Number.POSITIVE_INFINITY : Date.now() - keys.at;
    if (age > KEYS_LAST_MS || (keys?.byId.has(id) !== true && age > KEYS_PACE_MS)) {
      loading ??= load().finally(() => {
        loading = undefined;
      });
      keys = await loading;
    }
    return keys?.byId.get(id);
  };

  return {
    scopes,
    metadataUrl: `${url.origin}${path}`,
    metadata: {
      path,
      document: {
        resource,
        authorization_servers: [issuer],
        bearer_methods_supported: ["header"],
        ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
        resource_name: "Filewright",
      },
    },
    async verify(token) {
      const parts = token.split(".");
      const [head = "", body = "", signature = ""] = parts;
      const [header, claims] = [decoded(head), decoded(body)];
      if (parts.length !== 3 || header === undefined || claims === undefined) return undefined;
      const algorithm = ALGORITHMS[String(header["alg"])];
      if (algorithm === undefined || header["crit"] !== undefined) return undefined;
      const key = await keyOf(String(header["kid"] ?? "")).catch(() => undefined);
      if (key === undefined || key.asymmetricKeyType !== algorithm.type) return undefined;
      const signed = Buffer.from(`${head}.${body}`);
      const bytes = Buffer.from(signature, "base64url");
      if (!verify(algorithm.hash, signed, { key, dsaEncoding: "ieee-p1363" }, bytes)) return undefined;
      return holds(claims, issuer, resource) ? factsOf(token, claims) : undefined;
    },
  };
}

type Claims = Readonly<Record<string, unknown>>;

function holds(claims: Claims, issuer: string, resource: string): boolean {
  const { iss, aud, exp, nbf } = claims;
  const now = Date.now() / 1000;
  const audience = Array.isArray(aud) ? aud : [aud];
  return (
    iss === issuer &&
    audience.some((one) => typeof one === "string" && bare(one) === bare(resource)) &&
    typeof exp === "number" &&
    exp + LEEWAY > now &&
    (nbf === undefined || (typeof nbf === "number" && nbf - LEEWAY <= now))
  );
}

function factsOf(token: string, { scope, scp, client_id: client, azp, sub, exp }: Claims): TokenFacts {
  const scopes = typeof scope === "string" ? scope.split(" ") : Array.isArray(scp) ? scp.map(String) : [];
  const subject = typeof sub === "string" ? sub : undefined;
  const clientId = [client, azp, subject].find((one) => typeof one === "string") ?? "";
  return { token, clientId: String(clientId), scopes, expiresAt: exp as number, subject };
}

function bare(url: string): string {
  return url.replace(/\/$/u, "");
}

function decoded(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Claims) : undefined;
  } catch {
    return undefined;
  }
}

/** Where the keys of an issuer are, by RFC 8414 or OpenID Connect. */
async function issuerKeys(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const rest = pathname === "/" ? "" : pathname;
  for (const place of [
    `${origin}/.well-known/oauth-authorization-server${rest}`,
    `${origin}${rest}/.well-known/openid-configuration`,
  ]) {
    const { jwks_uri: uri, issuer: named } = (await getJson(place).catch(() => ({}))) as Claims;
    if (typeof uri === "string" && named === issuer) return uri;
  }
  throw new Error("the issuer does not tell where its keys are");
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(FETCH_MS),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}
