/**
 * Access tokens of an OAuth authorization server: the document that tells clients where to get one (RFC 9728),
 * and the check that a token was issued for this server.
 *
 * Tokens are JSON Web Tokens; `jose` checks their signature, algorithm, times, issuer and audience. Checked here
 * besides: that a token is an access token and no ID token, that it is bound to no key whose proof nobody looks
 * at, and that keys come over TLS.
 */
import { isLoopback } from "./loopback.ts";
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
} from "./jose.ts";

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
  /** What a token says; undefined for one that is not accepted; `unavailable` where the keys cannot be had. */
  verify(token: string): Promise<TokenFacts | "unavailable" | undefined>;
}

/** Which tokens are accepted. */
export interface OauthOptions {
  /** The authorization server, exactly as its tokens name it. HTTPS, or HTTP on this machine. */
  readonly issuer: string;
  /** This server's own URL: the audience of its tokens. */
  readonly resource: string;
  /** The URL of the issuer's keys; default: as the issuer's metadata says. */
  readonly jwks?: string | undefined;
  /** What a token must allow. */
  readonly scopes: readonly string[];
  /** Accepts only tokens whose header says `typ: at+jwt` (RFC 9068). Default false: many servers do not say it. */
  readonly requireAccessTokenType?: boolean | undefined;
}

/** Signatures with a public key. jose refuses RSA keys below 2,048 bits and curves that are not the algorithm's. */
const ALGORITHMS = [
  "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
]; // biome-ignore format: a list
/** The types of an access token's header; others are those of ID tokens, logout tokens and the like. */
const ACCESS_TOKEN_TYPES: readonly string[] = ["at+jwt", "application/at+jwt"];
const PLAIN_TYPES: readonly string[] = ["jwt", "application/jwt"];
/** Claims that only ID tokens have (OpenID Connect Core 2, 3.1.3.6, 3.3.2.11). */
const ID_TOKEN_CLAIMS: readonly string[] = ["nonce", "at_hash", "c_hash", "s_hash"];

/** Clocks may differ. Seconds. */
const CLOCK_TOLERANCE_S = 30;
/** Keys are fetched anew after so long, and for an unknown key, not more often than this. Milliseconds. */
const KEYS_MAX_AGE_MS = 600_000;
const KEYS_COOLDOWN_MS = 10_000;
const FETCH_MS = 5000;
/** The largest answer of an authorization server. Bytes. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_KEYS = 100;
/** Where keys could not be had, they are not asked for again for so long. Milliseconds. */
const FAILURE_COOLDOWN_MS = 2000;

/** Makes the check. @throws TypeError for URLs that are none, RangeError for keys that would come without TLS */
export function oauthVerifier(options: OauthOptions): TokenVerifier {
  const { issuer, resource, jwks, scopes, requireAccessTokenType = false } = options;
  const url = new URL(resource);
  checkTransport(issuer, "the issuer");
  if (jwks !== undefined) checkTransport(jwks, "the URL of the keys");
  const path = `/.well-known/oauth-protected-resource${url.pathname === "/" ? "" : url.pathname}`;
  const bare = resource.replace(/\/$/u, "");
  const keys = keysOf(issuer, jwks);

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
      try {
        // Before any key is looked for: whoever has no token must not make us fetch keys.
        if (!isAccessTokenType(decodeProtectedHeader(token).typ, requireAccessTokenType)) return undefined;
        const { payload } = await jwtVerify(token, await keys(), {
          algorithms: ALGORITHMS,
          issuer,
          audience: [bare, `${bare}/`],
          clockTolerance: CLOCK_TOLERANCE_S,
          requiredClaims: ["iss", "aud", "exp"],
        });
        return isAccessToken(payload) ? factsOf(token, payload) : undefined;
      } catch (error) {
        return error instanceof KeysUnavailable ? "unavailable" : undefined;
      }
    },
  };
}

/** The keys of the authorization server cannot be had: nothing is known of the token. */
class KeysUnavailable extends Error {}

type Keys = ReturnType<typeof createRemoteJWKSet>;

/** A function that gives the keys. What was learnt of the issuer is kept, a failure only for a moment. */
function keysOf(issuer: string, jwks: string | undefined): () => Promise<Keys> {
  let found: Promise<Keys> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  // Keys that are known already are used while others cannot be had.
  const attempt = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (performance.now() - failedAt < FAILURE_COOLDOWN_MS) throw new KeysUnavailable();
    try {
      return await ask();
    } catch (error) {
      failedAt = performance.now();
      throw new KeysUnavailable("the keys of the authorization server", { cause: error });
    }
  };
  const open = async (): Promise<Keys> => {
    const place = jwks ?? (await attempt(() => issuerKeys(issuer)));
    return createRemoteJWKSet(new URL(place), {
      timeoutDuration: FETCH_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      cacheMaxAge: KEYS_MAX_AGE_MS,
      [customFetch]: (url, { signal }) => attempt(async () => Response.json(await keyList(url, signal))),
    });
  };
  return () => {
    found ??= open().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

/** Fetches a list of keys. */
async function keyList(url: string, signal: AbortSignal): Promise<object> {
  const list = (await fetchJson(url, signal)) as { readonly keys?: unknown } | null;
  const keys = list?.keys;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new Error("the answer is no list of keys");
  return { keys: keys.filter((key) => typeof key === "object" && key !== null) };
}

/** Whether the type in a token's header may be that of an access token. */
function isAccessTokenType(type: unknown, required: boolean): boolean {
  if (type === undefined) return !required;
  const known = required ? ACCESS_TOKEN_TYPES : [...ACCESS_TOKEN_TYPES, ...PLAIN_TYPES];
  return typeof type === "string" && known.includes(type.toLowerCase());
}

/** Whether the claims are those of an access token that whoever holds it may use. */
function isAccessToken(claims: JWTPayload): boolean {
  const { token_use: use, typ, cnf } = claims;
  // Cognito and Keycloak say in the claims what a token is for.
  if (use !== undefined && use !== "access") return false;
  if (typ !== undefined && typ !== "Bearer") return false;
  // Bound to a key (DPoP, mutual TLS): that its holder has the key is not checked here.
  if (cnf !== undefined) return false;
  return ID_TOKEN_CLAIMS.every((claim) => claims[claim] === undefined);
}

function factsOf(token: string, claims: JWTPayload): TokenFacts {
  const { scope, scp, client_id: client, azp, sub, exp } = claims;
  const scopes = typeof scope === "string" ? scope.split(" ") : Array.isArray(scp) ? scp.map(String) : [];
  const subject = typeof sub === "string" ? sub : undefined;
  const clientId = [client, azp, subject].find((one) => typeof one === "string") ?? "";
  return { token, clientId: String(clientId), scopes, expiresAt: exp as number, subject };
}

/** @throws TypeError, RangeError */
function checkTransport(url: string, what: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return;
  throw new RangeError(`${what} must be an https: URL`);
}

/** Where the keys of an issuer are, by RFC 8414 or OpenID Connect. */
async function issuerKeys(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const rest = pathname === "/" ? "" : pathname.replace(/\/$/u, "");
  for (const place of [
    `${origin}/.well-known/oauth-authorization-server${rest}`,
    `${origin}${rest}/.well-known/openid-configuration`,
  ]) {
    const about = await fetchJson(place, AbortSignal.timeout(FETCH_MS)).then(
      (value) => value as { readonly jwks_uri?: unknown; readonly issuer?: unknown } | null,
      () => null,
    );
    if (typeof about?.jwks_uri !== "string" || about.issuer !== issuer) continue;
    checkTransport(about.jwks_uri, "the URL of the keys");
    return about.jwks_uri;
  }
  throw new Error("the issuer does not tell where its keys are");
}

/** Fetches JSON without following redirects, and no more of it than {@link MAX_ANSWER_BYTES}. */
async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { headers: { accept: "application/json" }, redirect: "error", signal });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the authorization server answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error("the answer of the authorization server is too long");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
