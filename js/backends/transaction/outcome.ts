/** The error of a change that was rolled back, with what the rollback has left. */
import { FilewrightError, fromEngine, makeError } from "../../engine/errors.ts";
import type { RollbackOutcome } from "./rollback.ts";

/** Adds the paths that the rollback could not restore to an error. */
export function withOutcome(
  error: unknown,
  outcome: Pick<RollbackOutcome, "conflicts" | "failed" | "remade">,
): unknown {
  const left = [...outcome.conflicts, ...outcome.failed];
  if (left.length === 0 && outcome.remade.length === 0) return error;
  // An error raised by a hook passes to the caller unchanged.
  if (!(error instanceof FilewrightError) && left.length === 0) return error;
  const { code, message, path, hint, details, cause, complete } = fromEngine(error);
  const told = {
    ...(left.length === 0 ? {} : { rolled_back: false, not_restored: left }),
    ...(outcome.remade.length === 0 ? {} : { remade: outcome.remade }),
  };
  return makeError(code, message, { path, hint, cause, complete, details: { ...details, ...told } });
}
