/**
 * Logins of the review page. A ticket opens the page once, within two minutes; the tab gets a key for it, which stays in
 * its memory and is never sent. The token of MCP clients is never accepted, and never enters a browser.
 */
import { escapeControls } from "../engine/escape.ts";
import { parseJsonObject } from "../hooks/approval-queue-http.ts";
import { choiceOf, integer, type Options, optionReader, options, required, text } from "../schema/option.ts";
import { bytesOfHex, randomHex } from "../engine/hex.ts";
import { importKey, macOf, TICKET_ID_LENGTH } from "./proof/mac.ts";
import type { ReviewRole } from "./protocol.ts";

/** The roles of a login. Each includes what those before it may do. */
export const REVIEW_ROLES: readonly ReviewRole[] = ["watch", "answer", "manage"];

/** The maximum length of the name of a person. */
const MAX_NAME_LENGTH = 100;

/** Returns why a text cannot be the name of a person; undefined for one that can. */
export function nameFault(name: string): string | undefined {
  if (name.trim() === "" || name.length > MAX_NAME_LENGTH)
    return `must have 1 to ${MAX_NAME_LENGTH} characters`;
  return escapeControls(name) === name ? undefined : "must not have control characters";
}

/** The role of a login and its name. */
export interface ReviewLogin {
  readonly role: ReviewRole;
  /** The name under which it answers. */
  readonly by: string;
}

/** The key that a hello names. */
export interface NamedKey {
  /** The key by which the server proves itself. */
  readonly key: CryptoKey;
  /** The person of a ticket or of a login; undefined for a program. */
  readonly login: ReviewLogin | undefined;
  /** The time at which it ends, in milliseconds since 1970. */
  readonly ends: number;
  /** For a ticket: the login that it becomes. */
  readonly becomes?: { readonly claim: string; readonly bytes: Uint8Array<ArrayBuffer> };
}

/** A login as its tab names it at a server. It is no secret: a server knows its key, and a tab proves that it has it. */
interface Claim extends ReviewLogin {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly ends: number;
}

/** The tickets and logins of one page. */
export interface Logins {
  /** Creates a ticket: 16 bytes of an id and 16 of a key, in hexadecimal. */
  ticket(login: ReviewLogin): string;
  /** Uses up the ticket with an id. Returns its key and its login; undefined for a wrong, used or old one. */
  redeem(id: string): Promise<NamedKey | undefined>;
  /** Returns the key of a login by its claim; undefined for one that has ended, and for a text that is no claim. */
  of(claim: string): Promise<NamedKey | undefined>;
}

const CLAIM: Options<Claim> = options("Claim", {
  id: required(text()),
  role: required(choiceOf(REVIEW_ROLES)),
  by: required(text({ test: nameFault })),
  ends: required(integer(0, Number.MAX_SAFE_INTEGER)),
});
const readClaim = optionReader(CLAIM);

/** The body of `POST /review/tickets`. */
interface TicketRequest {
  /** The rights of the person. Default `manage`. */
  readonly role?: ReviewRole | undefined;
  /** The name under which the person answers. Default `reviewer`. */
  readonly by?: string | undefined;
}

/** The members of a request for a link. */
const TICKET_REQUEST: Options<TicketRequest> = options("TicketRequest", {
  role: choiceOf(REVIEW_ROLES),
  by: text({ test: nameFault }),
});

/** Reads the body of a request for a link; undefined when it is none. */
export const readTicketRequest: (given: unknown) => TicketRequest | undefined = optionReader(TICKET_REQUEST);

/** The time in milliseconds for which a ticket is valid. */
const TICKET_MS = 120_000;
/** The time in milliseconds for which a login is valid. */
const LOGIN_MS: number = 12 * 3_600_000;
/** The maximum number of tickets. With one more, the oldest ends. */
const MAX_TICKETS = 100;

/** A ticket that nobody has used. */
interface Ticket {
  readonly key: string;
  readonly login: ReviewLogin;
  /** In milliseconds since 1970. */
  readonly ends: number;
}

/**
 * Creates the logins of one page. The key of a login follows from its claim and the key of the page, so another process
 * with the same key of the page knows it without being told. `now` returns milliseconds since 1970.
 */
export function makeLogins(
  pageKey: () => Promise<CryptoKey> = newKey(),
  now: () => number = Date.now,
): Logins {
  const tickets = new Map<string, Ticket>();
  const keyOf = async (claim: string): Promise<Uint8Array<ArrayBuffer>> =>
    macOf(await pageKey(), ["login", claim]);
  return {
    ticket(login) {
      const random = randomHex(32);
      const [id, key] = [random.slice(0, TICKET_ID_LENGTH), random.slice(TICKET_ID_LENGTH)];
      tickets.set(id, { key, login, ends: now() + TICKET_MS });
      dropOldest(tickets, MAX_TICKETS);
      return random;
    },
    async redeem(id) {
      const found = tickets.get(id);
      tickets.delete(id);
      if (found === undefined || found.ends <= now()) return undefined;
      const { login, key } = found;
      const ends = now() + LOGIN_MS;
      const claim = JSON.stringify({ id: randomHex(32), ...login, ends } satisfies Claim);
      return {
        key: await importKey(bytesOfHex(key)),
        login,
        ends,
        becomes: { claim, bytes: await keyOf(claim) },
      };
    },
    async of(text) {
      const claim = readClaim(parseJsonObject(text));
      if (claim === undefined || claim.ends <= now()) return undefined;
      const { role, by, ends } = claim;
      return { key: await importKey(await keyOf(text)), login: { role, by }, ends };
    },
  };
}

/** Returns a function that returns a new random key, which is made when it is first needed. */
function newKey(): () => Promise<CryptoKey> {
  let key: Promise<CryptoKey> | undefined;
  return () => (key ??= importKey(crypto.getRandomValues(new Uint8Array(32))));
}

function dropOldest(entries: Map<string, unknown>, most: number): void {
  for (const token of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(token);
  }
}
