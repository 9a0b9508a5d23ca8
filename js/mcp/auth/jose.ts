/**
 * The parts that we use of `jose`, a library for signed tokens.
 *
 * This is the only file that names the package. The build replaces it with the package's code
 * (`scripts/bundle.mjs`), so that Filewright installs no dependency.
 */
export { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify, type JWTPayload } from "jose";
