/**
 * Access tokens of an OAuth authorization server: the document that tells clients where to get a token (RFC
 * 9728), and the check that a token was issued for this server.
 *
 * Tokens are JSON Web Tokens, and `jose` checks their signature, algorithm, times, issuer and audience. This
 * module also checks that a token is an access token and not an ID token, that it is not bound to a key (we
 * do not verify such proofs), and that keys are fetched over TLS.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
} from "./jose.ts";
import { isIP } from "node:net";
import { FilewrightError } from "../../engine/errors.ts";
import { flag, list, type Options, options, required, text } from "../../schema/option.ts";

/** The facts of a token that has been verified. */
export interface TokenFacts {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The time at which the token expires, in seconds since 1970. */
  readonly expiresAt: number;
  readonly subject?: string | undefined;
  /** All claims of the token. Undefined for a fixed token, which has none. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** Verifies tokens, and holds the document that tells clients where to get one. */
export interface TokenVerifier {
  readonly scopes: readonly string[];
  /** The URL of this server's metadata document (RFC 9728). */
  readonly metadataUrl: string;
  /** The path of that URL, and the document. */
  readonly metadata: { readonly path: string; readonly document: Readonly<Record<string, unknown>> };
  /**
   * Returns the facts of a token; undefined when the token is not accepted; `unavailable` when the keys
   * cannot be fetched.
   */
  verify(token: string): Promise<TokenFacts | "unavailable" | undefined>;
}

/** The conditions that a token must meet. */
export interface OauthOptions {
  /**
   * The authorization server, spelled exactly as in its tokens. It must use HTTPS, or HTTP on this machine.
   */
  readonly issuer: string;
  /** The URL of this server, which must be the audience of the tokens. */
  readonly resource: string;
  /** The URL of the issuer's keys; default: the URL in the issuer's metadata. */
  readonly jwks?: string | undefined;
  /** The scopes that a token must have. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /**
   * True to accept only tokens with `typ: at+jwt` in the header (RFC 9068). Default false, because many
   * servers do not set it.
   */
  readonly requireAccessTokenType?: boolean | undefined;
}

/** The table of {@link OauthOptions}. */
export const OAUTH_OPTIONS: Options<OauthOptions> = options("OauthOptions", {
  issuer: required(text()),
  resource: required(text()),
  jwks: text(),
  scopes: list(text()),
  requireAccessTokenType: flag(),
});

/**
 * Public-key signature algorithms. jose refuses RSA keys below 2,048 bits and curves that do not belong to
 * the algorithm.
 */
const SIGNATURE_ALGORITHMS = [
  "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
]; // biome-ignore format: a list
/** Header types of access tokens. ID tokens, logout tokens and others have other types. */
const ACCESS_TOKEN_TYPES: readonly string[] = ["at+jwt", "application/at+jwt"];
const UNSPECIFIC_TOKEN_TYPES: readonly string[] = ["jwt", "application/jwt"];
/** Claims that only ID tokens have (OpenID Connect Core 2, 3.1.3.6, 3.3.2.11). */
const ID_TOKEN_CLAIMS: readonly string[] = ["nonce", "at_hash", "c_hash", "s_hash"];

/** The number of seconds by which the clocks of both servers may differ. */
const CLOCK_TOLERANCE_S = 30;
/**
 * The time in milliseconds after which keys are fetched again, and the minimum time between two fetches
 * because of an unknown key.
 */
const KEYS_MAX_AGE_MS = 600_000;
const MIN_MS_BETWEEN_KEY_FETCHES = 10_000;
const MAX_FETCH_MS = 5000;
/** The maximum size in bytes of an answer of the authorization server. A larger one counts as a failed fetch. */
const MAX_FETCHED_BYTES = 256 * 1024;
const MAX_KEYS = 100;
/** The time in milliseconds for which no fetch is tried after one has failed. */
const FETCH_FAILURE_COOLDOWN_MS = 2000;

/**
 * Creates the verifier of options that a user has given.
 * @throws FilewrightError INVALID_ARGUMENT for invalid URLs and for URLs without TLS
 */
export function checkedVerifier(given: OauthOptions): TokenVerifier {
  try {
    return oauthVerifier(given);
  } catch (error) {
    throw new FilewrightError("INVALID_ARGUMENT", (error as Error).message);
  }
}

/**
 * Creates the verifier.
 * @throws TypeError for invalid URLs, RangeError for URLs without TLS
 */
export function oauthVerifier(given: OauthOptions): TokenVerifier {
  const { issuer, resource, jwks, scopes = [], requireAccessTokenType = false } = given;
  const url = new URL(resource);
  checkUsesTls(issuer, "the issuer");
  if (jwks !== undefined) checkUsesTls(jwks, "the URL of the keys");
  const path = `/.well-known/oauth-protected-resource${url.pathname === "/" ? "" : url.pathname}`;
  const bare = resource.replace(/\/$/u, "");
  const keys = makeKeySource(issuer, jwks);

  return {
    scopes,
    metadataUrl: `${url.origin}${path}`,
    metadata: {
      path,
      document: withoutUndefined({
        resource,
        authorization_servers: [issuer],
        bearer_methods_supported: ["header"],
        scopes_supported: scopes.length === 0 ? undefined : scopes,
        resource_name: "Filewright",
      }),
    },
    async verify(token) {
      try {
        // This check comes before any fetch, so that a client without a valid token cannot make us fetch
        // keys.
        if (!isAccessTokenType(decodeProtectedHeader(token).typ, requireAccessTokenType)) return undefined;
        const { payload } = await jwtVerify(token, await keys(), {
          algorithms: SIGNATURE_ALGORITHMS,
          issuer,
          audience: [bare, `${bare}/`],
          clockTolerance: CLOCK_TOLERANCE_S,
          requiredClaims: ["iss", "aud", "exp"],
        });
        return isAccessToken(payload) ? tokenFactsOf(token, payload) : undefined;
      } catch (error) {
        return error instanceof KeysUnavailableError ? "unavailable" : undefined;
      }
    },
  };
}

/**
 * Thrown when the keys of the authorization server cannot be fetched, so that the token cannot be checked.
 */
class KeysUnavailableError extends Error {}

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/**
 * Returns a function that returns the keys of the issuer. It caches the issuer's metadata, and, for
 * `FETCH_FAILURE_COOLDOWN_MS`, a failure.
 */
function makeKeySource(issuer: string, jwks: string | undefined): () => Promise<KeySet> {
  let found: Promise<KeySet> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  // A failure blocks only new fetches: jose still verifies tokens with the keys that it has cached.
  const attempt = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (performance.now() - failedAt < FETCH_FAILURE_COOLDOWN_MS) throw new KeysUnavailableError();
    try {
      return await ask();
    } catch (error) {
      failedAt = performance.now();
      throw new KeysUnavailableError("the keys of the authorization server", { cause: error });
    }
  };
  const open = async (): Promise<KeySet> => {
    const place = jwks ?? (await attempt(() => findKeysUrl(issuer)));
    return createRemoteJWKSet(new URL(place), {
      timeoutDuration: MAX_FETCH_MS,
      cooldownDuration: MIN_MS_BETWEEN_KEY_FETCHES,
      cacheMaxAge: KEYS_MAX_AGE_MS,
      [customFetch]: (url, { signal }) => attempt(async () => Response.json(await fetchKeySet(url, signal))),
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

/** Fetches a list of keys (a JWK set). */
async function fetchKeySet(url: string, signal: AbortSignal): Promise<object> {
  const list = (await fetchJson(url, signal)) as { readonly keys?: unknown } | null;
  const keys = list?.keys;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new Error("the answer is no list of keys");
  return { keys: keys.filter((key) => typeof key === "object" && key !== null) };
}

/**
 * Returns true when a token whose header has this type can be an access token. With `required` the header
 * must have the type.
 */
function isAccessTokenType(type: unknown, required: boolean): boolean {
  if (type === undefined) return !required;
  const known = required ? ACCESS_TOKEN_TYPES : [...ACCESS_TOKEN_TYPES, ...UNSPECIFIC_TOKEN_TYPES];
  return typeof type === "string" && known.includes(type.toLowerCase());
}

/** Returns true when the claims are those of an access token that whoever holds it may use. */
function isAccessToken(claims: JWTPayload): boolean {
  const { token_use: use, typ, cnf } = claims;
  // Cognito and Keycloak name the purpose of a token in its claims.
  if (use !== undefined && use !== "access") return false;
  if (typ !== undefined && typ !== "Bearer") return false;
  // The token is bound to a key (DPoP or mutual TLS). We refuse it, because we do not verify that the client
  // holds the key.
  if (cnf !== undefined) return false;
  return ID_TOKEN_CLAIMS.every((claim) => claims[claim] === undefined);
}

function tokenFactsOf(token: string, claims: JWTPayload): TokenFacts {
  const { scope, scp, client_id: client, azp, sub, exp } = claims;
  const scopes = typeof scope === "string" ? scope.split(" ") : Array.isArray(scp) ? scp.map(String) : [];
  const subject = typeof sub === "string" ? sub : undefined;
  const clientId = [client, azp, subject].find((one) => typeof one === "string") ?? "";
  return { token, clientId: String(clientId), scopes, expiresAt: exp as number, subject, claims };
}

/**
 * Requires HTTPS, or HTTP to this machine.
 * @throws TypeError for an invalid URL, RangeError without TLS
 */
function checkUsesTls(url: string, what: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return;
  throw new RangeError(`${what} must be an https: URL`);
}

/** Returns the URL of an issuer's keys from its metadata (RFC 8414 or OpenID Connect discovery). */
async function findKeysUrl(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const rest = pathname === "/" ? "" : pathname.replace(/\/$/u, "");
  for (const place of [
    `${origin}/.well-known/oauth-authorization-server${rest}`,
    `${origin}${rest}/.well-known/openid-configuration`,
  ]) {
    const about = await fetchJson(place, AbortSignal.timeout(MAX_FETCH_MS)).then(
      (value) => value as { readonly jwks_uri?: unknown; readonly issuer?: unknown } | null,
      () => null,
    );
    if (typeof about?.jwks_uri !== "string" || about.issuer !== issuer) continue;
    checkUsesTls(about.jwks_uri, "the URL of the keys");
    return about.jwks_uri;
  }
  throw new Error("the issuer does not tell where its keys are");
}

/** Fetches a JSON document. Follows no redirect, and fails for more than {@link MAX_FETCHED_BYTES}. */
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
    if (size > MAX_FETCHED_BYTES) throw new Error("the answer of the authorization server is too long");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/** Returns true when an address or host name is a loopback one, which only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/u, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}
