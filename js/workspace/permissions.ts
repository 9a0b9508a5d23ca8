/** Creates the permissions of a workspace from the option `permissions`. */
import { type AskGrant, type GrantEvent, makePermissions, type Permissions } from "../policy/index.ts";
import { type Notify, notifySafely } from "../hooks/events.ts";
import { memoryRecords } from "../records/memory.ts";
import type { Records } from "../records/records.ts";
import { literalGlob } from "../backends/paths.ts";
import { hasWindowsPaths, pathForStorage } from "../backends/windows-paths.ts";
import { requireLocalHost } from "./host.ts";
import type { GrantPromptSettings } from "../pipeline/session.ts";

/** The option that requires directories to be granted before they are used. */
export interface PermissionOptions {
  /**
   * Whether directories need a grant. With `prompt` a directory is used when it was granted, or when `ask`
   * grants it. Default `off`.
   */
  readonly mode?: "off" | "prompt" | undefined;
  /**
   * The file that stores grants, outside every root. Default: none; grants are kept in the option `records`, else they
   * last until the workspace is closed.
   */
  readonly grantsFile?: string | undefined;
  /**
   * The function that is called to ask for a directory that is not granted. Without it such directories are
   * refused.
   */
  readonly ask?: AskGrant | undefined;
  /** Returns the current time, at which grants end, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The permissions of a workspace. */
export interface OpenedPermissions {
  /** The permissions; undefined when directories need no grant and there is no file of grants to protect. */
  readonly permissions: Permissions | undefined;
  /** The settings for asking for directories; undefined when directories need no grant. */
  readonly prompting: GrantPromptSettings | undefined;
  /** Globs that deny access to the file of grants. */
  readonly deny: readonly string[];
}

/** The options of a workspace by which its grants are kept. */
interface GrantHost {
  readonly stateDir?: string | undefined;
  readonly notify?: Notify | undefined;
  readonly records?: Records | undefined;
}

/** Opens the records of grants. @throws FilewrightError INVALID_ARGUMENT when it cannot be trusted */
export async function openPermissions(
  options: PermissionOptions | undefined,
  { stateDir, notify, records }: GrantHost,
  storage: object,
): Promise<OpenedPermissions> {
  const { mode = "off", grantsFile, ask, now } = options ?? {};
  const paths = hasWindowsPaths(storage) ? ("windows" as const) : undefined;
  const setup = { mode, paths, ask, now, onEvent: (event: GrantEvent) => notifySafely(notify, event) };
  if (grantsFile === undefined) {
    if (mode === "off") return { permissions: undefined, prompting: undefined, deny: [] };
    const prompting = { ask, now, file: undefined };
    return {
      permissions: makePermissions({ ...setup, records: records ?? memoryRecords(now) }),
      prompting,
      deny: [],
    };
  }
  const { file, records: kept } = await requireLocalHost().grants(grantsFile, stateDir);
  return {
    permissions: makePermissions({ ...setup, records: kept, file }),
    prompting: mode === "off" ? undefined : { ask, now, file },
    deny: [literalGlob(pathForStorage(storage, file))],
  };
}
