/**
 * The checks of a server before it answers its first message, and the line that says why it does not start.
 *
 * A client shows a server as connected once it has answered, so nobody sees a later failure. The checks take
 * few milliseconds: the workspace is not opened for them.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { reasonOfSystemError, systemErrorName } from "../backends/node/errors.node.ts";
import { makePrivateDirectory } from "../backends/private-directory.node.ts";
import { assertWritableStateDirectory } from "../backends/state-directory.node.ts";
import { messageOf } from "../engine/thrown.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import { loadNative } from "../engine/load.node.ts";
import type { Program } from "./program.ts";
import { UsageError } from "../schema/command-line.node.ts";
import type { WorkspaceOptions } from "../workspace/options.ts";

/** The facts about a server that the checks need. */
interface ServerToStart {
  readonly workspace: WorkspaceOptions;
  readonly roots: readonly { readonly access: "read" | "write" }[];
  readonly readOnly: boolean;
  readonly audit: string | undefined;
  /** The storage of the files, which needs no state directory on this machine. */
  readonly storage?: object | undefined;
}

/** Checks that an engine, the state directory and the audit log can be used. @throws FilewrightError */
export async function assertStartable({
  workspace,
  roots,
  readOnly,
  audit,
  storage,
}: ServerToStart): Promise<void> {
  await assertEngine();
  const needsNoState =
    storage !== undefined ||
    readOnly ||
    workspace.readOnly === true ||
    workspace.access?.readOnly === true ||
    (roots.length > 0 && roots.every(({ access }) => access === "read"));
  if (!needsNoState) assertWritableStateDirectory(workspace.stateDir);
  if (audit !== undefined) assertAuditFile(audit);
}

/** Checks that there is an engine. WebAssembly is loaded only where the native addon does not load. */
async function assertEngine(): Promise<void> {
  if ("binding" in loadNative()) return;
  const { engine } = await import("../engine/index.node.ts");
  engine();
}

/** Creates the audit log if it is missing and opens it, as the workspace will. @throws FilewrightError IO_ERROR */
function assertAuditFile(path: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const refused = (reason: string): FilewrightError =>
    new FilewrightError("IO_ERROR", `The audit log '${escapeControls(path)}' cannot be written: ${reason}.`, {
      complete: true,
      path,
      hint: "name another file with --audit or server.audit",
    });
  let isFile: boolean;
  try {
    makePrivateDirectory(dirname(path));
    const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    isFile = fstatSync(descriptor).isFile();
    closeSync(descriptor);
  } catch (error) {
    throw refused(reasonOfSystemError(systemErrorName(error) ?? "unknown error"));
  }
  if (!isFile) throw refused("it is not a regular file");
}

/** Why a program does not start. */
interface StartFailure {
  /** One line for standard error. */
  readonly line: string;
  /** 2 for a wrong command line or option, otherwise 1, also for a token file that is wrong. */
  readonly status: 1 | 2;
}

/** Returns what to print for an error with which a server or command ends, and the exit status. */
export function startFailureOf(error: unknown, { env, stderr }: Program): StartFailure {
  const said = (message: string, status: 1 | 2): StartFailure => ({
    line: `filewright: ${message.replaceAll(/\s*\n\s*/gu, " ")}`,
    status,
  });
  if (error instanceof UsageError) return said(error.message, 2);
  if (error instanceof FilewrightError) {
    const isUsage = error.code === "INVALID_ARGUMENT" && error.details?.["reason"] !== "file";
    return said(sentenceOf(error), isUsage ? 2 : 1);
  }
  const message = messageOf(error);
  if (typeof (error as NodeJS.ErrnoException).syscall === "string")
    return said(`${message}${remedyOfSystemError(error as ListenError)}`, 1);
  if ((env["FILEWRIGHT_DEBUG"] ?? "") !== "")
    stderr.write(`${error instanceof Error ? (error.stack ?? message) : message}\n`);
  return said(
    `failed unexpectedly: ${message}; please report it with the output of: filewright doctor --json`,
    1,
  );
}

/** Returns the message of an error with its remedy, once. */
function sentenceOf({ message, hint, complete, path }: FilewrightError): string {
  const whole =
    complete || path === undefined || message.includes(path)
      ? message
      : `${message}: ${escapeControls(path)}`;
  // Where the message itself ends in a command, that is the remedy.
  if (hint === undefined || whole.includes(hint) || /\brun: /u.test(whole)) return whole;
  return whole.endsWith(".") ? `${whole} ${hint[0]?.toUpperCase()}${hint.slice(1)}.` : `${whole}; ${hint}`;
}

interface ListenError extends NodeJS.ErrnoException {
  readonly port?: number;
}

/** Returns the remedy for a port or an address that cannot be used, as a clause; otherwise nothing. */
function remedyOfSystemError({ syscall, code }: ListenError): string {
  if (syscall !== "listen" && syscall !== "getaddrinfo") return "";
  if (code === "EADDRINUSE") return "; choose another port with --port (0 takes any free one)";
  if (code === "EACCES") return "; choose a port from 1024 on with --port";
  return "; --host takes an address of this machine";
}
