/**
 * Logins of the review page. A ticket opens the page once, within two minutes; the browser gets a cookie for it, which
 * no script can read. The token of MCP clients is never accepted, and never enters a browser.
 */
import { escapeControls } from "../engine/escape.ts";
import { tokensAreEqual } from "../http/access.ts";
import { choiceOf, type Options, optionReader, options, required, text } from "../schema/option.ts";
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

/** The tickets and logins of one page. */
export interface Logins {
  /** Creates a ticket. */
  ticket(login: ReviewLogin): string;
  /** Uses up a ticket. Returns the value of the new cookie; undefined for a wrong, used or old ticket. */
  redeem(ticket: string): string | undefined;
  /** Returns the login of the cookie of a request; undefined without a valid one. */
  of(cookie: string | undefined): ReviewLogin | undefined;
  /** Returns the logins that are valid. */
  all(): readonly StoredLogin[];
  /** Accepts a login of another process. */
  adopt(login: StoredLogin): void;
}

/** A login as other processes store it, so that it stays valid when one of them serves the page next. */
export interface StoredLogin extends ReviewLogin {
  readonly cookie: string;
  /** In milliseconds since 1970. */
  readonly ends: number;
}

/** The body of a login. */
interface LoginBody {
  readonly ticket: string;
}

const LOGIN_BODY: Options<LoginBody> = options("LoginBody", { ticket: required(text()) });

/** Reads the body of a login; undefined when it is none. */
export const readLogin: (given: unknown) => LoginBody | undefined = optionReader(LOGIN_BODY);

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
export const LOGIN_MS: number = 12 * 3_600_000;
/** The maximum numbers of tickets and of logins. With one more, the oldest ends. */
const MAX_TICKETS = 100;
const MAX_LOGINS = 100;

/** A login with the time at which it ends, in milliseconds since 1970. */
interface Expiring {
  readonly login: ReviewLogin;
  readonly ends: number;
}

/** Creates the logins of one page. `now` returns milliseconds since 1970; `onLogin` is called with each new login. */
export function makeLogins(
  now: () => number = Date.now,
  onLogin: (login: StoredLogin) => void = () => {},
): Logins {
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
      const { login } = found.entry;
      const ends = now() + LOGIN_MS;
      logins.set(cookie, { login, ends });
      dropOldest(logins, MAX_LOGINS);
      onLogin({ ...login, cookie, ends });
      return cookie;
    },
    of(given) {
      const found = given === undefined ? undefined : findToken(logins, given);
      if (found === undefined) return undefined;
      if (found.entry.ends > now()) return found.entry.login;
      logins.delete(found.token);
      return undefined;
    },
    all: () =>
      [...logins]
        .filter(([, { ends }]) => ends > now())
        .map(([cookie, { login, ends }]) => ({ ...login, cookie, ends })),
    adopt({ role, by, cookie, ends }) {
      logins.set(cookie, { login: { role, by }, ends: Math.min(ends, now() + LOGIN_MS) });
      dropOldest(logins, MAX_LOGINS);
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
