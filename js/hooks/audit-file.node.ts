/** The audit log as a file of JSON lines that only its owner can read. */
import { constants, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { makePrivateDirectory } from "../backends/private-directory.node.ts";
import { FilewrightError } from "../engine/errors.ts";
import { optionChecker } from "../schema/option.ts";
import { AUDIT_OPTIONS, type AuditOptions, type AuditRecord, type AuditSink, audit } from "./audit.ts";
import type { Observer } from "./observer.ts";

const checkOptions = optionChecker("auditFile", AUDIT_OPTIONS);

/**
 * Creates an audit log that appends records to a file (mode 0600), which is created if missing and never
 * rewritten. Several processes may append to one file, because each line is one write. A symbolic link is refused.
 * The file must be outside every root, or the agent could write its own log.
 *
 * @throws FilewrightError INVALID_ARGUMENT when the path is a link or no file, and for an invalid option
 */
export async function auditFile(path: string, options: AuditOptions = {}): Promise<Observer> {
  // Checked before the file is created: refused options leave nothing open.
  const checked = checkOptions(options);
  return audit(await fileSink(path), checked);
}

/** Opens the file and returns a sink that writes each record as one line. */
async function fileSink(path: string): Promise<AuditSink> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const opened = async () => {
    makePrivateDirectory(dirname(path));
    return open(path, flags | constants.O_NONBLOCK, 0o600);
  };
  const file = await opened().catch((cause: unknown) => {
    throw new FilewrightError("INVALID_ARGUMENT", "the audit log cannot be opened, or is a link", {
      path,
      cause,
    });
  });
  if (!(await file.stat()).isFile()) {
    await file.close();
    throw new FilewrightError("INVALID_ARGUMENT", "the audit log is not a regular file", { path });
  }
  return {
    write(record: AuditRecord): void {
      // Synchronous, so that a call that was answered is in the log, whatever happens to the process next.
      writeSync(file.fd, `${JSON.stringify(record)}\n`);
    },
    close: () => file.close(),
  };
}
