/**
 * Kept approvals in a file below the state directory, one for each workspace. Each is a rule that allows, given by a
 * reviewer and not by the host. A file that is damaged, or that others could have written, allows nothing.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { makePrivateDirectory } from "../backends/private-directory.node.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import { FileRecords, type FileRow, type RecordsFormat } from "../records/file.node.ts";
import type { Approval, ApprovalPlace } from "./approval-list.ts";

/** The longest wait for another process that changes the file, in milliseconds. */
const LOCK_TIMEOUT_MS = 5000;
/** The first member of the file, which distinguishes another version from a damaged file. */
const FORMAT = "filewright approvals 1";

/** An approval of the file, with the agent whose calls it is for. */
interface StoredRule {
  readonly agent: string;
  readonly approval: Approval;
}

/** Returns the kept approvals of a workspace. `name` is the name of their file, without an extension. */
export function fileApprovals(stateDir: string, name: string): ApprovalPlace {
  const file = join(stateDir, "approvals", `${name}.json`);
  const records = new FileRecords({
    file,
    format: approvalsFormat(file),
    stateDir,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    makeDirectory: () => makePrivateDirectory(dirname(file)),
  });
  // In a file the kind of a record is any text, so that the file shows the name of the agent.
  return Object.freeze({ records, kindOf: (agent: string) => agent });
}

/** The form `{format, checksum, rules}`. Approvals with invalid scopes are found later, and cover nothing. */
function approvalsFormat(file: string): RecordsFormat {
  return {
    parse: (text) => rulesOf(text).map(rowOf),
    format(rows) {
      const rules = rows.map(({ kind: agent, value }) => ({ agent, approval: value }));
      return `${JSON.stringify({ format: FORMAT, checksum: checksumOf(rules), rules }, undefined, 2)}\n`;
    },
    live: (value, now) => (hasEnded(value as Approval, now) ? undefined : value),
    refuse: (why, cause) =>
      new FilewrightError(
        "INVALID_ARGUMENT",
        `The file of kept approvals ${escapeControls(file)} is refused and left as it is: ${why}.`,
        { complete: true, details: { option: "stateDir" }, cause },
      ),
  };
}

function checksumOf(rules: unknown): string {
  return `sha256:${createHash("sha256").update(JSON.stringify(rules)).digest("hex")}`;
}

function hasEnded({ expires }: Approval, now: number): boolean {
  return expires !== undefined && Date.parse(expires) <= now;
}

function rulesOf(text: string): readonly unknown[] {
  let given: { readonly format?: unknown; readonly checksum?: unknown; readonly rules?: unknown } | null;
  try {
    given = JSON.parse(text) as typeof given;
  } catch (cause) {
    throw invalidFileError("it is not JSON", cause);
  }
  if (given?.format !== FORMAT) throw invalidFileError(`it does not begin with the format ${FORMAT}`);
  if (given.checksum !== checksumOf(given.rules))
    throw invalidFileError("its checksum does not fit its rules");
  if (!Array.isArray(given.rules)) throw invalidFileError("it has no list of rules");
  return given.rules;
}

function rowOf(rule: unknown): FileRow {
  const { agent, approval } = Object(rule) as Partial<StoredRule>;
  const id = (Object(approval) as Partial<Approval>).id;
  if (typeof agent !== "string" || typeof id !== "string") throw invalidFileError("a rule is no approval");
  return { kind: agent, id, value: approval };
}

function invalidFileError(why: string, cause?: unknown): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", why, { cause });
}
