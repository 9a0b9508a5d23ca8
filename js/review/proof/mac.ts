/**
 * The codes by which both sides of a connection prove that they know a key, without sending it: HMAC-SHA-256 over a list
 * of texts. The first text says what a code is for, so that none is valid for anything else.
 */

import { hexOf } from "../../engine/hex.ts";
import { hmacSha256, sha256 } from "./sha256.ts";

/** A key: that of a tab as bytes, that of a server or a program for WebCrypto. */
export type ProofKey = CryptoKey | Uint8Array<ArrayBuffer>;

/** The header of a request with its session, its number and its code, and the one of an answer with its code. */
export const PROOF_HEADER = "x-filewright-proof";
/** The headers by which a program says for whom it asks, and with which rights. */
export const NAME_HEADER = "x-filewright-by";
export const ROLE_HEADER = "x-filewright-role";
/** The header that every request that changes something must have, which no form can send. */
export const REVIEW_HEADER = "x-filewright-review";

/** The key that a side names: that of a link, of an open tab, of the owner of the server, or a token. */
type KeyKind = "ticket" | "login" | "owner" | "token";

/** The first message of a client, by which the server learns which key to prove. */
export interface Hello {
  /** 32 random bytes in hexadecimal. */
  readonly nonce: string;
  readonly kind: KeyKind;
  /** The id of a ticket, the claim of a login, or the authority of the server as the client knows it. */
  readonly id: string;
}

/** The answer of a server that knows the key. */
export interface HelloAnswer {
  /** Names the session; 32 random bytes in hexadecimal. */
  readonly session: string;
  /** For a ticket: the claim of the new login. */
  readonly claim?: string;
  /** For a ticket: the key of the new login, hidden by the key of the ticket. */
  readonly key?: string;
  /** The code over all of it. */
  readonly proof: string;
}

/** The number of hexadecimal digits of the id of a ticket; the rest of it is its key, which is never sent. */
export const TICKET_ID_LENGTH = 32;

/** The number of rounds by which the key of a token is derived, because a person may have chosen the token. */
const TOKEN_ROUNDS = 100_000;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Returns a key of these bytes, which cannot be read back. */
export function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

/** Returns the code over these texts. */
export async function macOf(
  key: ProofKey,
  texts: readonly (string | number)[],
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = bytesOf(JSON.stringify(texts));
  return key instanceof Uint8Array
    ? hmacSha256(key, bytes)
    : new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes));
}

/** Returns the code over these texts in hexadecimal. */
async function macText(key: ProofKey, texts: readonly (string | number)[]): Promise<string> {
  return hexOf(await macOf(key, texts));
}

/** Returns a key that is derived from another one. */
export async function deriveKey(key: CryptoKey, ...texts: readonly string[]): Promise<CryptoKey> {
  return importKey(await macOf(key, ["key", ...texts]));
}

/** Returns the key of a token for the server with this authority. */
export async function keyOfToken(token: string, authority: string): Promise<CryptoKey> {
  const given = await crypto.subtle.importKey("raw", bytesOf(token), "PBKDF2", false, ["deriveBits"]);
  const salt = bytesOf(`filewright token ${authority}`);
  const how = { name: "PBKDF2", hash: "SHA-256", salt, iterations: TOKEN_ROUNDS };
  return importKey(new Uint8Array(await crypto.subtle.deriveBits(how, given, 256)));
}

/** Returns the SHA-256 of bytes in hexadecimal, computed as the codes of `key` are. */
export async function digestOf(key: ProofKey, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (key instanceof Uint8Array) return hexOf(sha256(bytes));
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Returns the code of a server's answer to a hello. */
export function helloProof(
  key: ProofKey,
  { nonce, kind, id }: Hello,
  { session, claim = "", key: hidden = "" }: Omit<HelloAnswer, "proof">,
): Promise<string> {
  return macText(key, ["server", nonce, kind, id, session, claim, hidden]);
}

/** Hides the bytes of a key by the key of a ticket, or finds them again. */
export async function hideKey(
  ticket: ProofKey,
  { nonce }: Pick<Hello, "nonce">,
  session: string,
  bytes: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  const mask = await macOf(ticket, ["mask", nonce, session]);
  return mask.map((byte, at) => byte ^ (bytes[at] ?? 0));
}

/** The parts of a request that its code covers. */
export interface ProvenRequest {
  readonly session: string;
  /** The number of the request in its session. No number counts twice. */
  readonly number: number;
  readonly method: string;
  /** The path below the address of the server, with its query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Returns the code of a request. */
export async function requestProof(
  key: ProofKey,
  { session, number, method, target, headers, body }: ProvenRequest,
): Promise<string> {
  const named = [headers.get(NAME_HEADER) ?? "", headers.get(ROLE_HEADER) ?? ""];
  return macText(key, ["request", session, number, method, target, ...named, await digestOf(key, body)]);
}

/** Returns the code of an answer. `digest` is that of its body; empty for a stream. */
export function answerProof(
  key: ProofKey,
  { session, number }: Pick<ProvenRequest, "session" | "number">,
  status: number,
  digest: string,
): Promise<string> {
  return macText(key, ["answer", session, number, status, digest]);
}

/** Returns true for an answer whose body comes in parts: events, and files that are saved. */
export function isStream(headers: Headers): boolean {
  return headers.get("content-type") === "text/event-stream" || headers.has("content-disposition");
}
