/** Tells refusals from other failures of calls: about a refusal, the page explains which gate has stopped the call. */

/** The error codes of refusals by the policy, by rules, by grants, by hooks and by people. */
const REFUSAL_CODES: ReadonlySet<string> = new Set([
  "OUTSIDE_ALLOWED",
  "PROTECTED_PATH",
  "READ_ONLY",
  "PERMISSION_DENIED",
  "GRANT_DENIED",
  "APPROVAL_DENIED",
  "HOOK_BLOCKED",
]);

/** Returns true for the error code of a refused call. */
export function isRefusal(code: string | undefined): boolean {
  return code !== undefined && REFUSAL_CODES.has(code);
}
