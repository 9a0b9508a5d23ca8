/** The option `commands` of a workspace, for hosts without a provider of their own. */
import { choice, flag, list, nullable, type Options, options, text } from "../../schema/option.ts";
import { COMMAND_LIMITS, type CommandLimits } from "./sandbox.ts";

/** How a workspace runs commands. */
export interface CommandOptions {
  /**
   * On Linux. `strict`, the default: bubblewrap, where everything that the workspace denies,
   * protects and keeps secret holds for commands too. `fast`: Landlock and seccomp, where that
   * does not hold inside the writable roots, so that it takes `degrade: "allow"`.
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
   * `allow`: the next best sandbox, down to none, where the one asked for is missing, and
   * commands although the policy does not hold for them. The status tells. Default `refuse`.
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
