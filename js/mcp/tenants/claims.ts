/**
 * The tenant and the workspace of a request, by the claims of its verified token. Nothing that a client chooses itself,
 * such as an argument or a header, names them.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { byteLength } from "../../backends/paths.ts";
import { refusalResponse } from "../auth/gate.ts";
import type { TokenFacts } from "../auth/oauth.ts";
import type { WorkspaceName } from "../storage/engine.ts";

/** Which workspace requests use: a fixed one, or the one that their token names. */
export interface WorkspaceChoice {
  /** The workspace of requests whose token names none. */
  readonly workspace: string;
  /** The claim that names the tenant; undefined where all requests have one tenant. */
  readonly tenantClaim?: string | undefined;
  /** The claim that names the workspace of the tenant. */
  readonly workspaceClaim?: string | undefined;
}

/** The maximum length of the name of a tenant or a workspace, in bytes of UTF-8. */
const MAX_NAME_BYTES = 200;

/** Returns what is wrong with the name of a tenant or a workspace. */
export function nameFault(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (byteLength(name) > MAX_NAME_BYTES) return `must have at most ${MAX_NAME_BYTES} bytes`;
  // Characters that do not show would let two names look alike in a log.
  if (!name.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name) || name.trim() !== name)
    return "must not contain control characters, nor begin or end with a blank";
  return name === "*" ? "must be another name" : undefined;
}

/** Returns the workspace of a request, or the answer to a request whose token does not name one. */
export function workspaceOfToken(
  { workspace, tenantClaim, workspaceClaim }: WorkspaceChoice,
  facts: TokenFacts | undefined,
): WorkspaceName | Response {
  if (tenantClaim === undefined) return { tenant: undefined, workspace };
  const claims = withoutUndefined({
    tenant: tenantClaim,
    workspace: workspaceClaim,
  });
  const named = factsOfToken<{ readonly tenant: string; readonly workspace?: string }>(claims, facts);
  return named instanceof Response ? named : { workspace, ...named };
}

/**
 * Returns the names in these claims of a token, by the names that they have in `claims`; the answer to the request
 * where one of them is missing or not valid.
 */
export function factsOfToken<T extends object = Readonly<Record<string, string>>>(
  claims: { readonly [K in keyof T]: string },
  facts: TokenFacts | undefined,
): T | Response {
  const named: [string, string][] = [];
  for (const [name, claim] of Object.entries<string>(claims)) {
    const value = nameInClaim(facts, claim);
    // Which claim is missing is not said: the token's owner does not choose it, and the operator knows it.
    if (value === undefined) return refusalResponse(403, "the token names no workspace of this server");
    named.push([name, value]);
  }
  return Object.freeze(Object.fromEntries(named)) as T;
}

/** Returns the name in a claim; undefined where there is none or it is not valid. */
function nameInClaim(facts: TokenFacts | undefined, claim: string): string | undefined {
  const { claims } = facts ?? {};
  const value = claims !== undefined && Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  return typeof value === "string" && nameFault(value) === undefined ? value : undefined;
}
