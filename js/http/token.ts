/** Reads and compares bearer tokens. */

/** The minimum length of a token. */
export const MIN_TOKEN_CHARS = 16;

/** Returns the token of an `Authorization: Bearer` header; undefined without one. */
export function bearerOf(request: Request): string | undefined {
  return /^Bearer +([^\s]+)$/iu.exec(request.headers.get("authorization") ?? "")?.[1];
}

/**
 * Compares a token with the right one. The time depends only on the given token, so it reveals
 * neither a matching prefix nor the length of the right one.
 */
export function sameToken(given: string, right: string): boolean {
  let different = given.length ^ right.length;
  for (let at = 0; at < given.length; at++)
    different |= given.charCodeAt(at) ^ right.charCodeAt(at % right.length);
  return different === 0 && given.length > 0;
}
