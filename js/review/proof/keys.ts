/**
 * The keys of programs: the owner's, which every process of one user reads from its state directory, and the one of the
 * token for approvals. Both are bound to the authority of the server, `HOST:PORT`, so that a server at another port
 * cannot pass the messages of a program on.
 */
import type { NamedKey } from "../login.ts";
import { deriveKey, type Hello, keyOfToken } from "./mac.ts";

/** The keys by which a server proves itself to programs. */
export interface ServerKeys {
  /** The token of programs. */
  readonly token: string;
  /** The key of the owner of the server; undefined where there is none. */
  readonly owner: Promise<CryptoKey> | undefined;
  /** Returns the authority at which the server listens; undefined while it is not known: then the Host header counts. */
  readonly authority: () => string | undefined;
}

/** Returns the authority of the server at an address, as a program names it. */
export function authorityOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

/** Returns the key of the owner for the server with this authority. */
export const ownerKeyFor = (owner: CryptoKey, authority: string): Promise<CryptoKey> =>
  deriveKey(owner, "owner", authority);

/** Returns the key of the owner for the page at a port, from which those of its logins follow. */
export const pageKeyFor = (owner: CryptoKey, port: number): Promise<CryptoKey> =>
  deriveKey(owner, "page", String(port));

/** Returns the key of a token for the server with this authority. */
export const tokenKeyFor = async (token: string, authority: string): Promise<CryptoKey> =>
  deriveKey(await keyOfToken(token, nameOf(authority)), "token", authority);

/** Returns a function that finds the key of a program. */
export function findProgramKey({ token, owner, authority }: ServerKeys) {
  // Deriving a key from a token takes long on purpose, and a server has few names.
  const tokenKeys = new Map<string, Promise<CryptoKey>>();
  return async ({ kind, id }: Hello, { headers }: Request): Promise<NamedKey | undefined> => {
    if (!isOwnAuthority(id, authority(), headers.get("host") ?? "")) return undefined;
    const program = { login: undefined, ends: Number.POSITIVE_INFINITY };
    if (kind === "owner")
      return owner === undefined ? undefined : { key: await ownerKeyFor(await owner, id), ...program };
    const name = nameOf(id);
    const known = tokenKeys.get(name) ?? keyOfToken(token, name);
    tokenKeys.set(name, known);
    return { key: await deriveKey(await known, "token", id), ...program };
  };
}

/** The names under which a server listens to more than one address. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "[::]", "localhost"]);

/** Returns true when a program that dials `given` means the server that listens at `own`. */
function isOwnAuthority(given: string, own: string | undefined, hostHeader: string): boolean {
  const host = hostHeader.toLowerCase();
  const name = nameOf(given);
  const isLoopback = /^(?:127\.[\d.]+|\[::1\]|localhost)$/u.test(name);
  if (!isLoopback) return name === nameOf(host);
  if (own === undefined) return given === host || given === `${host}:80`;
  return given === own || (ANY_ADDRESS.has(nameOf(own)) && portOf(given) === portOf(own));
}

function nameOf(authority: string): string {
  return authority.replace(/:\d+$/u, "");
}

function portOf(authority: string): string | undefined {
  return /:(\d+)$/u.exec(authority)?.[1];
}
