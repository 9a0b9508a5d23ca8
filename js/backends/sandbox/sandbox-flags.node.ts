/** A command's sandbox as four flags and a working directory, for hosts that keep their policy in that form. */
import { isAbsolute, resolve } from "node:path";
import { flag, gateOf, list, type Options, options as described, text } from "../../schema/option.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { LinuxSandboxOptions } from "./sandbox.node.ts";
import { systemDirectories } from "./sandbox-places.node.ts";

/** The access of commands. */
export interface SandboxFlags {
  /** Let them use the network. Default false. */
  readonly fullNetworkAccess?: boolean | undefined;
  /** Let them read everything; if false, the directories of the system and the writable roots. Default true. */
  readonly fullDiskReadAccess?: boolean | undefined;
  /** Let them change everything. Default false. */
  readonly fullDiskWriteAccess?: boolean | undefined;
  /** Paths that they may change in addition to the working directory; relative to it. Default: none. */
  readonly writableRoots?: readonly string[] | undefined;
}

/**
 * The options of {@link sandboxOptionsOf}.
 *
 * @printed
 */
export const SANDBOX_FLAGS: Options<SandboxFlags> = described("SandboxFlags", {
  fullNetworkAccess: flag(),
  fullDiskReadAccess: flag(),
  fullDiskWriteAccess: flag(),
  writableRoots: list(text()),
});

const gate = gateOf("sandboxOptionsOf", SANDBOX_FLAGS);

/**
 * Returns the options of `linuxSandbox` for a policy of flags. The working directory is writable
 * too.
 *
 * @example
 * const options = sandboxOptionsOf({ writableRoots: ["../cache"] }, "/repo");
 * console.log(options.writableRoots); // [ "/cache", "/repo" ]
 *
 * @param cwd the working directory of the commands, absolute
 * @throws FilewrightError INVALID_ARGUMENT naming the option
 */
export function sandboxOptionsOf(flags: SandboxFlags, cwd: string): LinuxSandboxOptions {
  const { fullNetworkAccess, fullDiskReadAccess, fullDiskWriteAccess, writableRoots = [] } = gate(flags);
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw new FilewrightError("INVALID_ARGUMENT", "sandboxOptionsOf: 'cwd' must be an absolute path", {
      complete: true,
    });
  }
  const roots = [...new Set([...writableRoots.map((root) => resolve(cwd, root)), resolve(cwd)])];
  return {
    writableRoots: fullDiskWriteAccess === true ? ["/"] : roots,
    readRoots: fullDiskReadAccess === false ? [...systemDirectories(), ...roots] : null,
    network: fullNetworkAccess === true,
  };
}
