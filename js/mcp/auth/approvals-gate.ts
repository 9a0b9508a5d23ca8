/**
 * Lets the commands of a person answer at the queue of a server by a code instead of its token: the server proves itself
 * first, and the token is not sent.
 */
import { makeProofGate } from "../../review/proof/gate.ts";
import { findProgramKey, type ServerKeys } from "../../review/proof/keys.ts";
import { PROOF_HEADER } from "../../review/proof/mac.ts";

/** The path of the queue. */
const APPROVALS_PATH = "/approvals/";

/** Returns the answers of a queue, which itself takes its token alone. */
export function withProofs(
  handle: (request: Request) => Promise<Response>,
  keys: ServerKeys,
): (request: Request) => Promise<Response> {
  const gate = makeProofGate(findProgramKey(keys));
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname === `${APPROVALS_PATH}hello` && request.method === "POST") return gate.hello(request);
    if (!request.headers.has(PROOF_HEADER)) return handle(request);
    const passed = await gate.pass(request, pathname.slice(APPROVALS_PATH.length) + search);
    if (passed === undefined) return Response.json({ error: "the proof is wrong" }, { status: 401 });
    const { request: proven } = passed;
    proven.headers.set("authorization", `Bearer ${keys.token}`);
    return passed.seal(await handle(proven));
  };
}
