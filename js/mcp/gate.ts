/**
 * Who may talk to a server over HTTP: the names it goes by, the pages that may
 * speak to it, and the token that must be shown.
 *
 * A browser can be made to send requests to this machine by any page (DNS
 * rebinding), so the Host and Origin headers are checked before anything else,
 * also on loopback. What is refused is told nothing about what is served.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import type { TokenFacts, TokenVerifier } from "./oauth.ts";

/** How a server is guarded. */
export interface GateOptions {
  /** Names and addresses in the Host header, without ports; those of loopback are always in it. */
  readonly hosts: readonly string[];
  /** Origins of pages that may use the server, such as `https://app.example`. */
  readonly origins: readonly string[];
  /** One token for everybody. */
  readonly token?: string | undefined;
  /** Tokens of an authorization server. */
  readonly verifier?: TokenVerifier | undefined;
}

/** A request that may go on, with who sent it; or the answer to one that may not. */
export type Admission = { readonly facts: TokenFacts | undefined } | { readonly refusal: Response };

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Whether an address is that of this machine alone. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The name in a Host header; undefined where it is none. */
function nameIn(host: string | null): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/iu.exec(host ?? "")?.[1]?.toLowerCase();
}

/** Makes the check. */
export function makeGate(options: GateOptions): {
  /** Host and Origin: before anything is answered. */
  place(request: Request): Response | undefined;
  /** The token. */
  admit(request: Request): Promise<Admission>;
  /** Headers that let a page of an allowed origin read the answer. */
  crossOrigin(request: Request): Record<string, string>;
} {
  const hosts = new Set([...LOOPBACK, ...options.hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(options.origins);
  return {
    place(request) {
      const host = nameIn(request.headers.get("host"));
      if (host === undefined || !hosts.has(host)) return refused(403, "this host name is not served");
      const origin = request.headers.get("origin");
      // A page of this very server is at home; its name was just found to be ours.
      const own = origin === `http://${request.headers.get("host")}`;
      if (origin !== null && !own && !origins.has(origin)) return refused(403, "this origin is not allowed");
      return undefined;
    },
    async admit(request) {
      const { token, verifier } = options;
      if (token === undefined && verifier === undefined) return { facts: undefined };
      const [, given] = /^Bearer +([^\s]+)$/iu.exec(request.headers.get("authorization") ?? "") ?? [];
      if (given === undefined) return { refusal: unauthorized(verifier) };
      if (token !== undefined && sameToken(given, token))
        return { facts: { clientId: "token", scopes: [], expiresAt: Number.MAX_SAFE_INTEGER, token: given } };
      if (verifier === undefined) return { refusal: unauthorized(verifier, "invalid_token") };
      const facts = await verifier.verify(given);
      if (facts === undefined) return { refusal: unauthorized(verifier, "invalid_token") };
      const missing = verifier.scopes.filter((scope) => !facts.scopes.includes(scope));
      return missing.length === 0 ? { facts } : { refusal: unauthorized(verifier, "insufficient_scope") };
    },
    crossOrigin(request) {
      const origin = request.headers.get("origin");
      if (origin === null || !origins.has(origin)) return {};
      return {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers":
          "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id",
        "access-control-expose-headers": "www-authenticate, mcp-session-id",
        "access-control-max-age": "600",
        vary: "origin",
      };
    },
  };
}

/** Compares without telling by its time how much was right, or how long the right one is. */
function sameToken(given: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}

/** A refusal in the protocol's form, for a request that belongs to nothing. */
export function refused(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_000, message } },
    { status, headers: { "cache-control": "no-store", ...headers } },
  );
}

function unauthorized(verifier: TokenVerifier | undefined, error?: string): Response {
  const status = error === "insufficient_scope" ? 403 : 401;
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(error === "insufficient_scope" ? [`scope="${verifier?.scopes.join(" ")}"`] : []),
    ...(verifier === undefined ? [] : [`resource_metadata="${verifier.metadataUrl}"`]),
  ];
  const challenge = `Bearer${parts.length > 0 ? ` ${parts.join(", ")}` : ""}`;
  const message = status === 403 ? "the token lacks a scope" : "a valid token is needed";
  return refused(status, message, { "www-authenticate": challenge });
}
