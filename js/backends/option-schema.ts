/** Option tables of backends and of their commands. `js/schema/option.ts` describes how to add an option. */
import {
  choice,
  flag,
  instance,
  integer,
  list,
  nullable,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import { type FsBackend, isFsBackend } from "./backend.ts";
import type { SandboxPolicy } from "./policy.ts";
import {
  COMMAND_LIMITS,
  COMMAND_REACH,
  type CommandLimits,
  type CommandReach,
  SANDBOX_PROVIDER,
  type SandboxProvider,
} from "./sandbox/sandbox.ts";

/** The description of a backend: any object with the methods of {@link FsBackend}. */
export const BACKEND_OPTIONS: Options<FsBackend> = instance<FsBackend>(
  "FsBackend",
  "a backend",
  {},
  { test: (value) => (isFsBackend(value) ? undefined : "lacks methods of FsBackend") },
);

/** The description of a policy: from a factory of `SandboxPolicy`, or an object with the same members. */
export const POLICY_OPTION: Options<SandboxPolicy> = options("SandboxPolicy", {
  cwd: required(text()),
  read: required(nullable(list(text()))),
  write: required(list(text())),
  deny: required(list(text())),
  protect: required(flag()),
  places: list(text()),
  secrets: choice("grant", "allow"),
  gitExcludes: text(),
  paths: choice("windows"),
  foldsCase: flag(),
  readOnly: required(flag()),
  followSymlinks: required(choice("inside", "never", "any")),
  maxOutputBytes: integer(1),
});

/** How a workspace runs commands. */
export interface CommandOptions extends CommandReach {
  /**
   * The kind of sandbox. `auto`, the default: the strictest one of this system. `linux`, `seatbelt`: that one, refused
   * on another system. `remote`: the provider given as `remote`.
   */
  readonly provider?: "auto" | "linux" | "seatbelt" | "remote" | undefined;
  /**
   * The sandbox in containers or on another machine, for `provider: "remote"` or `fallback: "remote"`. Where neither
   * is set, it is refused, because it would never be used.
   */
  readonly remote?: SandboxProvider | undefined;
  /**
   * The sandbox for a system without the requested one. `remote`: the provider given as `remote`, before a weaker
   * sandbox of this system that `degrade` allows. Default: none; opening fails with SANDBOX_SETUP_FAILED.
   */
  readonly fallback?: "remote" | undefined;
  /**
   * The sandbox of commands on Linux. `strict`, the default: bubblewrap, which enforces the denied, protected
   * and secret paths of the workspace in commands, too. `fast`: Landlock and seccomp, which do not enforce
   * these paths inside the writable roots; it needs `degrade: "allow"`.
   */
  readonly tier?: "strict" | "fast" | undefined;
  /**
   * Files and directories that commands may read and run, in addition to the roots of the workspace,
   * the directories of the system and those of the programs on `PATH`. Absolute; null for
   * everything. Default none.
   */
  readonly read?: readonly string[] | null | undefined;
  /** The resource limits of one command. */
  readonly limits?: CommandLimits | undefined;
  /**
   * The reaction to a missing sandbox for commands. `refuse`, the default, fails; `allow` uses
   * a weaker sandbox, or none, even if it does not enforce the policy, and the status reports it.
   */
  readonly degrade?: "refuse" | "allow" | undefined;
  /** The name or path of the program bubblewrap. Default `bwrap`. */
  readonly bubblewrap?: string | undefined;
}

const absoluteDirectory = text({
  test: (path) => {
    if (path.startsWith("/")) return undefined;
    return /^[A-Za-z]:[\\/]/u.test(path)
      ? "must begin with /: it is for the sandboxes of Linux and macOS, and Windows has none"
      : "must be an absolute path";
  },
});

/** How a workspace runs commands. */
export const COMMAND_OPTIONS: Options<CommandOptions> = options<CommandOptions>("CommandOptions", {
  provider: choice("auto", "linux", "seatbelt", "remote"),
  remote: SANDBOX_PROVIDER,
  fallback: choice("remote"),
  tier: choice("strict", "fast"),
  ...COMMAND_REACH,
  read: nullable(list(absoluteDirectory)),
  limits: COMMAND_LIMITS,
  degrade: choice("refuse", "allow"),
  bubblewrap: text(),
});
