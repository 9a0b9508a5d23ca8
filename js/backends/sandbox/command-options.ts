/** The option `commands` of a workspace, for hosts without a provider of their own. */
import { choice, flag, list, nullable, type Options, options, text } from "../../schema/option.ts";
import { COMMAND_LIMITS, type CommandLimits } from "./sandbox.ts";

/** How a workspace runs commands. */
export interface CommandOptions {
  /**
   * On Linux. `strict`, the default: bubblewrap, which enforces the denied, protected and secret paths
   * of the workspace in commands, too. `fast`: Landlock and seccomp, which do not enforce them inside
   * the writable roots; it needs `degrade: "allow"`.
   */
  readonly tier?: "strict" | "fast" | undefined;
  /** Let commands use the network. Default false. */
  readonly network?: boolean | undefined;
  /**
   * Files and directories that commands may read and run, in addition to the roots of the workspace,
   * the directories of the system and those of the programs on `PATH`. Absolute; null for
   * everything. Default none.
   */
  readonly read?: readonly string[] | null | undefined;
  /** The resource limits of one command. */
  readonly limits?: CommandLimits | undefined;
  /**
   * `allow`: if the requested sandbox is missing, use a weaker one, or none, even if it does not enforce
   * the policy. The status reports it. Default `refuse`.
   */
  readonly degrade?: "refuse" | "allow" | undefined;
  /** The bubblewrap program. Default `bwrap`. */
  readonly bubblewrap?: string | undefined;
}

const absolute = text({ test: (path) => (path.startsWith("/") ? undefined : "must be an absolute path") });

/** How a workspace runs commands. */
export const COMMAND_OPTIONS: Options<CommandOptions> = options<CommandOptions>("CommandOptions", {
  tier: choice("strict", "fast"),
  network: flag(),
  read: nullable(list(absolute)),
  limits: COMMAND_LIMITS,
  degrade: choice("refuse", "allow"),
  bubblewrap: text(),
});
