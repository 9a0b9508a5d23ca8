/** From the option `permissions` to the permissions of a workspace. */
import {
  type AskGrant,
  type GrantEvent,
  type GrantStore,
  literalGlob,
  makePermissions,
  memoryGrants,
  type Permissions,
} from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import { type Notify, tell } from "../hooks/events.ts";
import { localHost } from "./host.ts";
import type { Prompting } from "./session.ts";

/** Whether directories must be granted before they are used. */
export interface PermissionOptions {
  /** `prompt`: a directory is used when it was granted, or when `ask` grants it. Default `off`. */
  readonly mode?: "off" | "prompt" | undefined;
  /** Where grants are written down: a file outside every root. Default: nowhere, until the workspace is closed. */
  readonly grantsFile?: string | undefined;
  /** Another place to keep grants, instead of a file. */
  readonly store?: GrantStore | undefined;
  /** Asked where a directory was not granted. Without it such directories are refused. */
  readonly ask?: AskGrant | undefined;
  /** The clock that ends grants, in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

// A record, so that an option missing from it does not compile.
const KNOWN: Record<keyof PermissionOptions, true> = {
  mode: true,
  grantsFile: true,
  store: true,
  ask: true,
  now: true,
};
const OPTIONS: ReadonlySet<string> = new Set(Object.keys(KNOWN));

/** What a workspace keeps of the option. */
export interface OpenedPermissions {
  /** Undefined where nothing is asked and nothing is to be guarded. */
  readonly permissions: Permissions | undefined;
  /** Undefined where directories are not asked for. */
  readonly prompting: Prompting | undefined;
  /** Globs that keep the record of the grants out of reach. */
  readonly deny: readonly string[];
}

/** Opens the record of the grants. @throws FilewrightError INVALID_ARGUMENT where it cannot be trusted */
export async function openPermissions(
  options: PermissionOptions | undefined,
  stateDir: string | undefined,
  notify: Notify | undefined,
): Promise<OpenedPermissions> {
  const { mode = "off", grantsFile, store, ask, now } = options ?? {};
  for (const name of Object.keys(options ?? {})) {
    if (!OPTIONS.has(name)) {
      throw new FilewrightError("INVALID_ARGUMENT", `there is no option 'permissions.${name}'`);
    }
  }
  if (mode !== "off" && mode !== "prompt") {
    throw new FilewrightError("INVALID_ARGUMENT", `there is no permissions.mode '${String(mode)}'`);
  }
  if (grantsFile !== undefined && store !== undefined) {
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "give permissions.grantsFile or permissions.store, not both",
    );
  }
  const setup = { mode, ask, now, onEvent: (event: GrantEvent) => tell(notify, event) };
  if (grantsFile === undefined) {
    if (mode === "off") return { permissions: undefined, prompting: undefined, deny: [] };
    const prompting = { ask, now, file: undefined };
    return {
      permissions: makePermissions({ ...setup, store: store ?? memoryGrants() }),
      prompting,
      deny: [],
    };
  }
  const { file, ...kept } = await localHost().grants(grantsFile, stateDir);
  return {
    permissions: makePermissions({ ...setup, store: kept, file }),
    prompting: mode === "off" ? undefined : { ask, now, file },
    deny: [literalGlob(file)],
  };
}
