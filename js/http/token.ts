/** Bearer tokens: how they are read from a request, and how they are compared. */

/** The fewest characters of a token that is accepted. */
export const MIN_TOKEN_CHARS = 16;

/** The token of an `Authorization: Bearer` header; undefined where there is none. */
export function bearerOf(request: Request): string | undefined {
  return /^Bearer +([^\s]+)$/iu.exec(request.headers.get("authorization") ?? "")?.[1];
}

/**
 * Compares a token with the right one. The time depends on the given token alone: it tells neither how much
 * of it was right nor how long the right one is.
 */
export function sameToken(given: string, right: string): boolean {
  let different = given.length ^ right.length;
  for (let at = 0; at < given.length; at++)
    different |= given.charCodeAt(at) ^ right.charCodeAt(at % right.length);
  return different === 0 && given.length > 0;
}
