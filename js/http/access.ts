/**
 * Decides which clients may reach an HTTP server, by bearer tokens and by the Host and Origin headers.
 *
 * Any web page can make a browser send requests to this machine under a name of its own (DNS rebinding).
 * Therefore both headers are checked before anything else, even when the server listens on loopback only.
 */

/** The minimum length of a token in characters. A shorter one is refused. */
export const MIN_TOKEN_CHARS = 16;

/** Returns the token of an `Authorization: Bearer` header; undefined without one. */
export function bearerTokenOf(request: Request): string | undefined {
  return /^Bearer +([^\s]+)$/iu.exec(request.headers.get("authorization") ?? "")?.[1];
}

/**
 * Compares a token with the right one. The time depends only on the given token, so it reveals
 * neither a matching prefix nor the length of the right one.
 */
export function tokensAreEqual(given: string, right: string): boolean {
  let different = given.length ^ right.length;
  for (let at = 0; at < given.length; at++)
    different |= given.charCodeAt(at) ^ right.charCodeAt(at % right.length);
  return different === 0 && given.length > 0;
}

/** The names of a server, and the web pages that may use it. */
export interface AllowedOrigins {
  /**
   * The names and addresses that the Host header may contain, without ports. Those of loopback are always
   * allowed.
   */
  readonly hosts: readonly string[];
  /** Origins of pages that may use the server, such as `https://app.example`. */
  readonly origins: readonly string[];
}

/** Checks the Host and Origin headers of requests. */
export interface OriginGuard {
  /** Returns the reason why a request is refused; undefined for an allowed one. */
  refusal(headers: Headers): string | undefined;
  /** Returns the CORS headers that let a page of an allowed origin read the answer; none for other pages. */
  crossOrigin(headers: Headers): Readonly<Record<string, string>>;
}

const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const ALLOWED_REQUEST_HEADERS =
  "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id";

/** The form of the Origin header of a page. The name has no pattern, and neither does the port. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/u;
/** The schemes whose pages have an origin that a URL shows. */
const WEB_SCHEMES = /^https?:/iu;
/** The schemes whose pages send the origin `null`, or none. */
const SCHEMES_WITHOUT_ORIGIN = /^(?:about|blob|data|file|filesystem|ftp|javascript|wss?):/iu;

/**
 * Returns what is wrong with an origin that is to be allowed; undefined for the exact text that browsers send for the
 * pages of one server or extension. Any other text allows no page, or like `null` each page that has no origin.
 */
export function originFault(origin: string): string | undefined {
  const isOrigin =
    ORIGIN.test(origin) &&
    !SCHEMES_WITHOUT_ORIGIN.test(origin) &&
    (!WEB_SCHEMES.test(origin) || originOfUrl(origin) === origin);
  if (isOrigin) return undefined;
  const meant = WEB_SCHEMES.test(origin) ? originOfUrl(origin) : undefined;
  const example = meant !== undefined && ORIGIN.test(meant) ? meant : "https://app.example";
  return `must be the origin of a page, as browsers send it: scheme, name and port without a path, such as ${example}`;
}

function originOfUrl(url: string): string | undefined {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
}

/** Creates the check for a server. */
export function originGuard(options: AllowedOrigins): OriginGuard {
  const hosts = new Set([...LOOPBACK_HOSTS, ...options.hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(options.origins);
  return {
    refusal(headers) {
      const host = hostNameIn(headers.get("host"));
      if (host === undefined || !hosts.has(host)) return "this host name is not served";
      const origin = headers.get("origin");
      // A page of this server itself is allowed: its origin is the name in the Host header, which was checked
      // before.
      const isOwn = origin === `http://${headers.get("host")}`;
      return origin === null || isOwn || origins.has(origin) ? undefined : "this origin is not allowed";
    },
    crossOrigin(headers) {
      const origin = headers.get("origin");
      if (origin === null || !origins.has(origin)) return {};
      return {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers": ALLOWED_REQUEST_HEADERS,
        "access-control-expose-headers": "www-authenticate, mcp-session-id",
        "access-control-max-age": "600",
        vary: "origin",
      };
    },
  };
}

/** Returns the name in a Host header, without its port; undefined when the header is invalid. */
function hostNameIn(host: string | null): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/iu.exec(host ?? "")?.[1]?.toLowerCase();
}
