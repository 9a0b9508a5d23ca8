/**
 * Checks the token that a client of the MCP server must send: one fixed token, or tokens of an authorization
 * server. A refusal says nothing about the served directories.
 */
import type { Code } from "../../engine/errors.ts";
import { bearerTokenOf, tokensAreEqual } from "../../http/access.ts";
import type { TokenFacts, TokenVerifier } from "./oauth.ts";

/** Which tokens are accepted. With neither option every request is admitted. */
export interface TokenCheckOptions {
  /** One token for all clients. */
  readonly token?: string | undefined;
  /** Verifies the tokens of an authorization server. */
  readonly verifier?: TokenVerifier | undefined;
}

/**
 * The result of the check: the facts of the token of an admitted request, or the answer to a refused one. The
 * facts are undefined for a fixed token and without a check.
 */
type Admission = { readonly facts: TokenFacts | undefined } | { readonly refusal: Response };

/** Checks the token of a request and says whether the request is admitted. */
export type TokenCheck = (request: Request) => Promise<Admission>;

/** Creates the check of tokens. */
export function makeTokenCheck({ token, verifier }: TokenCheckOptions): TokenCheck {
  return async (request) => {
    if (token === undefined && verifier === undefined) return { facts: undefined };
    const given = bearerTokenOf(request);
    if (given === undefined) return { refusal: unauthorizedResponse(verifier) };
    if (token !== undefined && tokensAreEqual(given, token))
      return { facts: { clientId: "token", scopes: [], expiresAt: Number.MAX_SAFE_INTEGER, token: given } };
    if (verifier === undefined) return { refusal: unauthorizedResponse(verifier, "invalid_token") };
    const checked = await verifier.verify(given);
    if (checked === "unavailable") {
      const message = "the authorization server's keys cannot be had now; try again in ten seconds";
      return { refusal: refusalResponse(503, message, { "retry-after": "10" }) };
    }
    if (checked === undefined) return { refusal: unauthorizedResponse(verifier, "invalid_token") };
    const missing = verifier.scopes.filter((scope) => !checked.scopes.includes(scope));
    return missing.length === 0
      ? { facts: checked }
      : { refusal: unauthorizedResponse(verifier, "insufficient_scope") };
  };
}

/**
 * Returns the answer that refuses a request, as a JSON-RPC error. Its id is null, because the message of the
 * request has not been parsed. `code` is the reason for programs.
 */
export function refusalResponse(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code?: Code,
): Response {
  const data = code === undefined ? {} : { data: { code } };
  return Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_000, message, ...data } },
    { status, headers: { "cache-control": "no-store", ...headers } },
  );
}

function unauthorizedResponse(verifier: TokenVerifier | undefined, error?: string): Response {
  const status = error === "insufficient_scope" ? 403 : 401;
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(error === "insufficient_scope" ? [`scope="${verifier?.scopes.join(" ")}"`] : []),
    ...(verifier === undefined ? [] : [`resource_metadata="${verifier.metadataUrl}"`]),
  ];
  const challenge = `Bearer${parts.length > 0 ? ` ${parts.join(", ")}` : ""}`;
  const message = status === 403 ? "the token lacks a scope" : "a valid token is needed";
  return refusalResponse(status, message, { "www-authenticate": challenge });
}
