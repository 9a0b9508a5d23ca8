/**
 * The messages between a remote sandbox and `filewright serve`: JSON over HTTP, one request for one command. The path
 * is beside that of the MCP server, and takes the same tokens.
 */
import type { CommandPolicy, SandboxCommand, SandboxOutcome, SandboxStatus } from "../sandbox.ts";
import {
  choice,
  flag,
  integer,
  list,
  nullable,
  type Options,
  options,
  required,
  text,
  anyText,
} from "../../../schema/option.ts";

/** The answer to a GET request: what the server offers. */
export interface SandboxOffer {
  readonly protocol: number;
  /** The working directory of the server's workspace, absolute. */
  readonly cwd: string;
  /** The directories that its commands may change, absolute. */
  readonly write: readonly string[];
  readonly status: SandboxStatus;
  /** True when protected places are read-only for its commands. */
  readonly protect: boolean;
  /** True when secrets are unreadable for its commands. */
  readonly secrets: boolean;
  /** Its changes to the table of protected and secret places. */
  readonly places: readonly string[];
}

/** The restrictions that a client adds to those of the server. Paths are absolute, globs relative to the server's `cwd`. */
export type NarrowedPolicy = Pick<CommandPolicy, "read" | "write" | "deny">;

/** The body of a POST request that runs a command. */
export interface RunRequest {
  readonly command: Pick<SandboxCommand, "argv" | "cwd" | "timeoutMs" | "maxOutputBytes">;
  readonly policy: NarrowedPolicy;
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** The beginning of the name of the file by which a client tells whether the server has the same files. */
export const SAME_FILE_PREFIX = ".filewright-same-";
const SAME_FILE_NAME = new RegExp(`^${SAME_FILE_PREFIX.replace(".", "\\.")}${UUID}$`, "u");
const SAME_FILE_TEXT = new RegExp(`^${UUID}$`, "u");

/** Returns true for a file that a client may have made to be asked about, so that no other content is ever compared. */
export function isSameFileRequest({ path, text }: SameRequest["same"]): boolean {
  return SAME_FILE_NAME.test(path.slice(path.lastIndexOf("/") + 1)) && SAME_FILE_TEXT.test(text);
}

/** The body of a POST request that asks whether a file of the server has this text. Name and text have random parts. */
export interface SameRequest {
  readonly same: { readonly path: string; readonly text: string };
}

/** The answer to a POST request. */
export type SandboxAnswer =
  | { readonly outcome: SandboxOutcome }
  | { readonly same: boolean }
  | {
      readonly error: { readonly code: string; readonly message: string; readonly hint?: string | undefined };
    };

/** The check of {@link RunRequest}. */
export const RUN_REQUEST: Options<RunRequest> = options<RunRequest>("RunRequest", {
  command: required(
    options<RunRequest["command"]>("Command", {
      argv: required(list(anyText(), { minItems: 1 })),
      cwd: required(text()),
      timeoutMs: required(integer(1)),
      maxOutputBytes: required(integer(1)),
    }),
  ),
  policy: required(
    options<NarrowedPolicy>("NarrowedPolicy", {
      read: required(nullable(list(text()))),
      write: required(list(text())),
      deny: required(list(text())),
    }),
  ),
});

/** The check of {@link SameRequest}. */
export const SAME_REQUEST: Options<SameRequest> = options<SameRequest>("SameRequest", {
  same: required(
    options<SameRequest["same"]>("SameFile", { path: required(text()), text: required(text()) }),
  ),
});

const guarantee = choice("enforced", "partial", "none");

/** The check of {@link SandboxOffer}. */
export const SANDBOX_OFFER: Options<SandboxOffer> = options<SandboxOffer>("SandboxOffer", {
  protocol: required(integer(1)),
  cwd: required(text()),
  write: required(list(text())),
  protect: required(flag()),
  secrets: required(flag()),
  places: required(list(text())),
  status: required(
    options<SandboxStatus>("SandboxStatus", {
      tier: required(text()),
      files: required(guarantee),
      network: required(guarantee),
      policy: guarantee,
      processes: guarantee,
      limits: guarantee,
      workspaceFiles: choice("present", "absent"),
    }),
  ),
});

/** The check of the result of a command. */
export const SANDBOX_OUTCOME: Options<SandboxOutcome> = options<SandboxOutcome>("SandboxOutcome", {
  exitCode: required(nullable(integer(0))),
  signal: required(nullable(integer(1))),
  timedOut: required(flag()),
  truncated: required(flag()),
  stdout: required(anyText()),
  stderr: required(anyText()),
  exceeded: choice("processes", "memory"),
  removed: list(text()),
  repositories: list(text()),
});
