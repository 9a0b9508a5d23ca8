// The side of a tab and of a program in the protocol of the review page, written a second time and with node:crypto, so
// that tests can send what the page itself never would.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

const TICKET_ID_LENGTH = 32;

/** @returns {Buffer} the code over these texts */
export const codeOf = (/** @type {Uint8Array} */ key, /** @type {readonly (string | number)[]} */ texts) =>
  createHmac("sha256", key).update(JSON.stringify(texts)).digest();

/**
 * Says hello. `base` is the address of the page, `key` that by which the server has to prove itself.
 * @param {string} base
 * @param {{ kind: string, id: string, key: Uint8Array }} credential
 * @param {Record<string, string>} [headers]
 */
export async function sayHello(base, { kind, id, key }, headers = {}) {
  const nonce = randomBytes(32).toString("hex");
  const response = await fetch(`${base}/hello`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-filewright-review": "1", ...headers },
    body: JSON.stringify({ nonce, kind, id }),
  });
  if (!response.ok) return { status: response.status, session: "", key, claim: "", isProven: false };
  const { session, claim = "", key: hidden = "", proof } = /** @type {any} */ (await response.json());
  const right = codeOf(key, ["server", nonce, kind, id, session, claim, hidden]).toString("hex");
  const mask = codeOf(key, ["mask", nonce, session]);
  const own = hidden === "" ? key : mask.map((byte, at) => byte ^ (Buffer.from(hidden, "hex")[at] ?? 0));
  return { status: response.status, session, key: own, claim, isProven: proof === right };
}

/** @returns the credential of a link */
export function ticketOf(/** @type {string} */ link) {
  const { hash } = new URL(link);
  const [id, key] = [hash.slice(3, 3 + TICKET_ID_LENGTH), hash.slice(3 + TICKET_ID_LENGTH)];
  return { kind: "ticket", id, key: Buffer.from(key, "hex") };
}

/** @returns the key of a token for the server with this authority */
export function keyOfProgram(/** @type {string} */ token, /** @type {string} */ authority) {
  const name = authority.replace(/:\d+$/u, "");
  const slow = pbkdf2Sync(token, `filewright token ${name}`, 100_000, 32, "sha256");
  return codeOf(slow, ["key", "token", authority]);
}

/** @typedef {Awaited<ReturnType<typeof openTab>>} Tab */

/** Logs in at the review page by a link, as a tab. @throws if the ticket is refused */
export async function openTab(/** @type {string} */ link) {
  const base = link.replace(/#.*$/u, "");
  const { origin } = new URL(link);
  const { status, session, key, claim, isProven } = await sayHello(base, ticketOf(link), { origin });
  if (!isProven) throw new Error(`login: ${status}`);
  let count = 0;
  /** @returns the header of a request for a path below the page */
  const sign = (
    /** @type {string} */ method,
    /** @type {string} */ path,
    /** @type {string} */ body = "",
  ) => {
    count += 1;
    const digest = createHash("sha256").update(body).digest("hex");
    const { pathname, search } = new URL(`${base}/${path}`);
    const target = pathname.slice("/review/".length) + search;
    const code = codeOf(key, ["request", session, count, method, target, "", "", digest]).toString("hex");
    return { "x-filewright-proof": `${session} ${count} ${code}` };
  };
  /** @returns the headers that the page itself sends, of a new request */
  const headers = (
    /** @type {string} */ method,
    /** @type {string} */ path,
    /** @type {string} */ body = "",
  ) => ({
    origin,
    "content-type": "application/json",
    "x-filewright-review": "1",
    ...sign(method, path, body),
  });
  return {
    ...{ origin, base, claim, key, session, sign, headers },
    get: (/** @type {string} */ path, /** @type {Record<string, string>} */ more = {}) =>
      fetch(`${base}/${path}`, { headers: { ...sign("GET", path), ...more } }),
    post: (
      /** @type {string} */ path,
      /** @type {unknown} */ given,
      /** @type {Record<string, string>} */ more = {},
    ) => {
      const body = typeof given === "string" ? given : JSON.stringify(given);
      return fetch(`${base}/${path}`, {
        method: "POST",
        headers: { ...headers("POST", path, body), ...more },
        body,
      });
    },
  };
}
