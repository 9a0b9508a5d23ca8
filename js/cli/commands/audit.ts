/** `filewright audit`: verifies an audit log. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { type AuditVerification, verifyAuditFile } from "../../hooks/audit/verify.node.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";
import type { Command, CommandReport } from "../command.ts";

/** The command `audit`. */
export const AUDIT_COMMAND: Command = {
  name: "audit",
  summary: "verify an audit log",
  usage: "filewright audit verify FILE [--head HASH] [--extract]",
  about:
    "Each line of an audit log has the hash of the line before it. Prints the lines at which that is broken, and the hash of the last line. Keep that hash elsewhere: whoever can write the log can remove its last lines, or compute all hashes anew. The status is 1 when the log is broken.",
  help: [
    ["--head HASH", "the hash of a line that the log must still contain"],
    ["--extract", "FILE is a part of a log: accept that the first records of its chains are missing"],
  ],
  examples: [
    ["filewright audit verify audit.jsonl", "that no line was changed, removed or inserted"],
    ["filewright audit verify audit.jsonl --head sha256:…", "that it still contains what it contained then"],
  ],
  sort: "machine",
  takes: [2, 2],
  async report(_ws, { positionals, values }: ParsedCommandLine): Promise<CommandReport> {
    const [verb, file = ""] = positionals;
    if (verb !== "verify") throw new UsageError(`audit can verify, not '${verb}'`);
    const head = values["head"] as string | undefined;
    const verification = await verifyAuditFile(
      file,
      withoutUndefined({
        head,
        extract: values["extract"] === true,
      }),
    );
    const text = verificationText(escapeControls(file), verification);
    return withoutUndefined({ text, data: verification, nothing: verification.ok ? undefined : true });
  },
};

/** Returns the report on a log for a person. */
function verificationText(
  file: string,
  { ok, records, chains, head, problems, problem_count: count }: AuditVerification,
): string {
  const rest = count - problems.length;
  return [
    ...problems.map(
      ({ line, reason }) => `${file}${line === 0 ? "" : `:${line}`}: ${escapeControls(reason)}`,
    ),
    ...(rest > 0 ? [`and ${plural(rest, "further problem")}`] : []),
    `${file}: ${plural(records, "record")} in ${plural(chains, "chain")}, ${ok ? "unbroken" : "broken"}`,
    ...(head === null ? [] : [`head ${head}`]),
  ].join("\n");
}
