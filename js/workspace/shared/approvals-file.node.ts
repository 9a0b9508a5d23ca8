/**
 * Kept approvals in a file below the state directory, one for each workspace. Each is a rule that allows, given by a
 * reviewer and not by the host. A file that is damaged, or that others could have written, allows nothing.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { openDisk } from "../../backends/disk.node.ts";
import { makePrivateDirectory } from "../../backends/private-directory.node.ts";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Approval, ApprovalStore } from "../../hooks/approvals.ts";
import { readTrustedText, stampOfFile } from "../../policy/trusted-file.node.ts";

/** The maximum size of the file, in bytes. A larger file is refused. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** The longest wait for another process that changes the file, in milliseconds. */
const LOCK_TIMEOUT_MS = 5000;
/** The first member of the file, which distinguishes another version from a damaged file. */
const FORMAT = "filewright approvals 1";

/** An approval of the file, with the agent whose calls it is for. */
interface StoredRule {
  readonly agent: string;
  readonly approval: Approval;
}

/** Creates the store of the kept approvals of a workspace. `name` is the name of its file, without an extension. */
export function fileApprovals(stateDir: string, name: string): ApprovalStore {
  const file = join(stateDir, "approvals", `${name}.json`);
  let seen: { readonly stamp: string; readonly rules: readonly StoredRule[] } | undefined;

  const read = (): readonly StoredRule[] => {
    const stamp = stampOfFile(file);
    if (seen?.stamp === stamp) return seen.rules;
    const refuse = (why: string, cause?: unknown): FilewrightError => untrustedFileError(file, why, cause);
    if (stamp === "") seen = { stamp, rules: [] };
    else {
      const found = readTrustedText(file, MAX_FILE_BYTES, refuse);
      seen = { stamp: found.stamp, rules: parseRules(found.text, refuse) };
    }
    return seen.rules;
  };

  const change = async (next: (rules: readonly StoredRule[]) => readonly StoredRule[]): Promise<boolean> => {
    makePrivateDirectory(dirname(file));
    const disk = openDisk({ stateDir, durability: "durable" });
    const lock = await disk.lock(file, { timeoutMs: LOCK_TIMEOUT_MS, resolved: true });
    try {
      seen = undefined;
      const rules = read();
      const changed = next(rules);
      if (changed.length === rules.length) return false;
      await disk.writeText(file, formatRules(changed), { mode: 0o600, durability: "durable" });
      return true;
    } finally {
      seen = undefined;
      lock.release();
    }
  };

  return Object.freeze({
    keeps: true,
    list: (agent: string) => read().flatMap((rule) => (rule.agent === agent ? [rule.approval] : [])),
    async add(agent: string, approval: Approval): Promise<void> {
      await change((rules) => [...rules, { agent, approval }]);
    },
    remove: (agent: string, id: string) =>
      change((rules) => rules.filter((rule) => rule.agent !== agent || rule.approval.id !== id)),
  });
}

function formatRules(rules: readonly StoredRule[]): string {
  return `${JSON.stringify({ format: FORMAT, checksum: checksumOf(rules), rules }, undefined, 2)}\n`;
}

function checksumOf(rules: unknown): string {
  return `sha256:${createHash("sha256").update(JSON.stringify(rules)).digest("hex")}`;
}

/** Reads the text of the file. Approvals with invalid scopes are found later, and cover nothing. */
function parseRules(
  text: string,
  refuse: (why: string, cause?: unknown) => FilewrightError,
): readonly StoredRule[] {
  let given: { readonly format?: unknown; readonly checksum?: unknown; readonly rules?: unknown } | null;
  try {
    given = JSON.parse(text) as typeof given;
  } catch (error) {
    throw refuse("it is not JSON", error);
  }
  if (given?.format !== FORMAT) throw refuse(`it does not begin with the format ${FORMAT}`);
  if (given.checksum !== checksumOf(given.rules)) throw refuse("its checksum does not fit its rules");
  return Object.freeze(given.rules as readonly StoredRule[]);
}

function untrustedFileError(file: string, why: string, cause?: unknown): FilewrightError {
  return new FilewrightError(
    "INVALID_ARGUMENT",
    `The file of kept approvals ${escapeControls(file)} is refused and left as it is: ${why}.`,
    { complete: true, details: { option: "stateDir" }, cause },
  );
}
