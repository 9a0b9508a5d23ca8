/**
 * Logins of the review page. A ticket opens the page once, within two minutes; the browser gets a cookie for it, which
 * no script can read. The token of MCP clients is never accepted, and never enters a browser.
 */
import { tokensAreEqual } from "../http/access.ts";
import { type Options, optionReader, options, required, text } from "../schema/option.ts";
import type { ReviewRole } from "./protocol.ts";

/** The role of a login and its name. */
export interface ReviewLogin {
  readonly role: ReviewRole;
  /** The name under which it answers. */
  readonly by: string;
}

/** The tickets and logins of one page. */
export interface Logins {
  /** Creates a ticket. */
  ticket(login: ReviewLogin): string;
  /** Uses up a ticket. Returns the value of the new cookie; undefined for a wrong, used or old ticket. */
  redeem(ticket: string): string | undefined;
  /** Returns the login of the cookie of a request; undefined without a valid one. */
  of(cookie: string | undefined): ReviewLogin | undefined;
}

/** The body of a login. */
interface LoginBody {
  readonly ticket: string;
}

const LOGIN_BODY: Options<LoginBody> = options("LoginBody", { ticket: required(text()) });

/** Reads the body of a login; undefined when it is none. */
export const readLogin: (given: unknown) => LoginBody | undefined = optionReader(LOGIN_BODY);

/** The time in milliseconds for which a ticket is valid. */
const TICKET_MS = 120_000;
/** The time in milliseconds for which a login is valid. */
export const LOGIN_MS: number = 12 * 3_600_000;
/** The maximum numbers of tickets and of logins. With one more, the oldest ends. */
const MAX_TICKETS = 100;
const MAX_LOGINS = 100;

/** A login with the time at which it ends, in milliseconds since 1970. */
interface Expiring {
  readonly login: ReviewLogin;
  readonly ends: number;
}

/** Creates the logins of one page. `now` returns milliseconds since 1970. */
export function makeLogins(now: () => number = Date.now): Logins {
  const tickets = new Map<string, Expiring>();
  const logins = new Map<string, Expiring>();
  return {
    ticket(login) {
      const ticket = randomToken();
      tickets.set(ticket, { login, ends: now() + TICKET_MS });
      dropOldest(tickets, MAX_TICKETS);
      return ticket;
    },
    redeem(given) {
      const found = findToken(tickets, given);
      if (found === undefined) return undefined;
      tickets.delete(found.token);
      if (found.entry.ends <= now()) return undefined;
      const cookie = randomToken();
      logins.set(cookie, { login: found.entry.login, ends: now() + LOGIN_MS });
      dropOldest(logins, MAX_LOGINS);
      return cookie;
    },
    of(given) {
      const found = given === undefined ? undefined : findToken(logins, given);
      if (found === undefined) return undefined;
      if (found.entry.ends > now()) return found.entry.login;
      logins.delete(found.token);
      return undefined;
    },
  };
}

/** Returns the entry of a token. All are compared, so that the time does not reveal which one matches. */
function findToken(
  entries: ReadonlyMap<string, Expiring>,
  given: string,
): { readonly token: string; readonly entry: Expiring } | undefined {
  let found: { readonly token: string; readonly entry: Expiring } | undefined;
  for (const [token, entry] of entries) if (tokensAreEqual(given, token)) found = { token, entry };
  return found;
}

function dropOldest(entries: Map<string, unknown>, most: number): void {
  for (const token of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(token);
  }
}

/** Returns 32 random bytes in hexadecimal. */
function randomToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(32))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
