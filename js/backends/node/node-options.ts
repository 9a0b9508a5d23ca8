/** The options of a disk without the native addon and of its changes, and what it reports about its protection. */
import { choice, type Options, options, text } from "../../schema/option.ts";
import type { Durability } from "../backend.ts";
import { type CallChecks, standardChecks } from "../call-options.ts";
import { POLICY_OPTION } from "../option-schema.ts";
import type { SandboxPolicy } from "../policy.ts";

/** The options of {@link NodeBackend}. */
export interface NodeOptions {
  /** The paths that may be read and changed; default: all. */
  readonly policy?: SandboxPolicy | undefined;
  /** The directory of lock files; default: the user's state directory. Share it between processes. */
  readonly stateDir?: string | undefined;
  /** The guarantee of writes, unless a call sets it: `none`, `atomic` (the default), or `durable`, which also flushes them. */
  readonly durability?: Durability | undefined;
}

/** The options of a disk without the native addon. */
export const NODE_OPTIONS: Options<NodeOptions> = options("NodeOptions", {
  policy: POLICY_OPTION,
  stateDir: text(),
  durability: choice("none", "atomic", "durable"),
});

/** How the files of a {@link NodeBackend} are protected. */
export interface NodeCapabilities {
  /** How paths are resolved: name by name, and compared with what was opened. */
  readonly resolver: "node";
  /** How directories are held while they are used. */
  readonly reason: string;
  /** The access that the kernel restricts: none. */
  readonly kernel: { readonly files: "none"; readonly reason: string };
}

/** The checks of the options of single calls. */
export const NODE_CALL_CHECKS: CallChecks = standardChecks("NodeBackend");
