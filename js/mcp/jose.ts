/**
 * `jose`, the library for signed tokens: everything of it that we use.
 *
 * The one file that names the package. The build puts the package's code in its place (`scripts/bundle.mjs`), so
 * that nothing is installed with Filewright.
 */
export { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify, type JWTPayload } from "jose";
