/** One check of `filewright doctor`: its result, and how it is kept from ending the others. */
import { messageOf } from "../../engine/thrown.ts";

/** `ok`; `absent`: an optional part that is not there; `warning`; `broken`: it prevents work. */
export type CheckStatus = "ok" | "absent" | "warning" | "broken";

/** The result of one check. */
export interface Check {
  /** The name of the check, in one word. */
  readonly name: string;
  readonly status: CheckStatus;
  /** The finding, as a clause. */
  readonly message: string;
  /** The remedy, as a clause; a command where one helps. */
  readonly remedy?: string | undefined;
}

/** The first column of a line for each status. */
export const MARK_BY_STATUS: Readonly<Record<CheckStatus, string>> = {
  ok: "ok",
  absent: "-",
  warning: "!",
  broken: "x",
};

/** Runs a check. One that fails unexpectedly is reported as broken and does not end the others. */
export async function runCheck(name: string, run: () => Check | Promise<Check>): Promise<Check> {
  try {
    return await run();
  } catch (error) {
    const message = messageOf(error).split("\n")[0] ?? "";
    return { name, status: "broken", message: `the check failed: ${message}`, remedy: "please report it" };
  }
}
