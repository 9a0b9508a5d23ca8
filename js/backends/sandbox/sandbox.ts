/**
 * The interface of a provider that runs commands confined by the operating system.
 * `sandbox-choice.node.ts` chooses those for Linux and macOS; a host may supply one that runs
 * commands in a container, or on another machine.
 */

import {
  callback,
  choice,
  flag,
  instance,
  integer,
  type OptionalOption,
  type Options,
  options,
  required,
  text,
} from "../../schema/option.ts";

import { isWithin, literalGlob } from "../paths.ts";

/** The guarantees of a provider. */
export interface SandboxStatus {
  /** The means by which commands are confined, such as `bubblewrap`, `landlock+seccomp`, or `none`. */
  readonly tier: string;
  /** Confinement of commands to the given files. `partial`: a part of what was requested is not enforced. */
  readonly files: "enforced" | "partial" | "none";
  /** Separation of commands from the network. */
  readonly network: "enforced" | "partial" | "none";
  /**
   * Separation of commands from the denied, secret and protected paths of the workspace. A provider that leaves it
   * out is treated as `none`.
   */
  readonly policy?: "enforced" | "partial" | "none" | undefined;
  /** How far every process that a command started is ended when the command ends. Default `none`. */
  readonly processes?: "enforced" | "partial" | "none" | undefined;
  /** How far the resource limits of commands hold. Default `none`. */
  readonly limits?: "enforced" | "partial" | "none" | undefined;
  /**
   * The files that commands see. `absent`: the sandbox has files of its own, and nothing of the
   * workspace is there. Default `present`.
   */
  readonly workspaceFiles?: "present" | "absent" | undefined;
}

/** What commands may reach beside files, in every table of options for them. */
export const COMMAND_REACH = {
  /** With true, commands may use the network. Default false. */
  network: flag() as OptionalOption<boolean>,
  /**
   * With true, commands of the fast tier may make Unix sockets, and so talk to every service whose socket this user
   * can connect to: Landlock does not restrict that. Connected pairs (`socketpair`) are always allowed. Other
   * sandboxes allow Unix sockets without it. Default false.
   */
  sockets: flag() as OptionalOption<boolean>,
};

/** The options of {@link COMMAND_REACH}. */
export type CommandReach = { readonly [K in keyof typeof COMMAND_REACH]?: boolean | undefined };

/** The resource limits of a command. A command that exceeds a limit is ended. */
export interface CommandLimits {
  /** The maximum number of processes and threads of a command at one time. Default 2,048. */
  readonly processes?: number | undefined;
  /**
   * The maximum memory of all processes of a command together, in bytes, without pages shared with files,
   * measured every 20 ms; one process cannot have more than twice that. Default: half of the memory of the
   * machine or container.
   */
  readonly memoryBytes?: number | undefined;
  /** The maximum size of one file that a command writes, in bytes. Default 4 GiB. */
  readonly fileBytes?: number | undefined;
  /**
   * The maximum processor time of one process of a command, in seconds. Default none: the time limit of the
   * call ends it.
   */
  readonly cpuSeconds?: number | undefined;
}

/** The restrictions of a workspace on its commands. Paths are absolute and real. */
export interface CommandPolicy {
  /** The base directory of deny globs that contain a slash. */
  readonly cwd: string;
  /** Readable paths in addition to the system's own directories; null for everything. */
  readonly read: readonly string[] | null;
  /** The paths that commands may write. */
  readonly write: readonly string[];
  /**
   * Those of `write` that are directories of git repositories outside the roots of the workspace, of which a root is a
   * linked worktree. The same of their entries is protected as of `.git` in a root.
   */
  readonly repositories: readonly string[];
  /** The globs of paths that commands can neither read nor change. */
  readonly deny: readonly string[];
  /** True when places that other programs obey are read-only. */
  readonly protect: boolean;
  /** True when the content of secrets is unreadable. */
  readonly secrets: boolean;
  /** Changes to the table of protected and secret places, as `SandboxPolicy.places`. */
  readonly places?: readonly string[] | undefined;
  /**
   * The state directories, that of the workspace and those that are the default of the user. Commands can neither read
   * nor list them, because they contain keys, tokens, grants and sockets. Some may not exist.
   */
  readonly stateDirs: readonly string[];
}

/**
 * Returns true when a policy denies anything but the state directories outside the writable roots, which every sandbox
 * hides.
 */
export function deniesInRoots({ deny, stateDirs, write }: CommandPolicy): boolean {
  const outside = stateDirs.filter((path) => !write.some((root) => isWithin(path, root)));
  const hidden = new Set(outside.map(literalGlob));
  return deny.some((glob) => !hidden.has(glob));
}

/** A command. It runs without a shell unless it is one. */
export interface SandboxCommand {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** The absolute path of the directory in which the command runs. */
  readonly cwd: string;
  /** Variables that are added to the environment which the provider gives every command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The time limit in milliseconds. Then the command is killed with all its processes. */
  readonly timeoutMs: number;
  /** The maximum number of bytes that are kept of stdout, and of stderr. The rest is discarded. */
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** The result of a command. */
export interface SandboxOutcome {
  /** The exit code; null when a signal ended the command. */
  readonly exitCode: number | null;
  /** The number of the signal that ended the command; null when it exited. */
  readonly signal: number | null;
  readonly timedOut: boolean;
  /** True when the command wrote more than was kept. */
  readonly truncated: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** The resource limit that the command exceeded, if any. */
  readonly exceeded?: "processes" | "memory" | undefined;
  /** Protected places that the command made and that were removed afterwards: absolute paths. */
  readonly removed?: readonly string[] | undefined;
  /** Repositories that the command made, whose hooks were emptied and whose config was reduced: absolute paths. */
  readonly repositories?: readonly string[] | undefined;
}

/** An operation to test inside a sandbox. */
export type SandboxProbe = "write" | "tcp_connect" | "unix_socket";

/** Runs commands under restrictions. */
export interface SandboxProvider {
  /** The guarantees for every command. */
  readonly status: SandboxStatus;
  /**
   * Whether a workspace accepts this provider even if its status does not enforce the policy: `allow` or
   * `refuse`. Default `refuse`.
   */
  readonly degrade?: "refuse" | "allow" | undefined;
  /**
   * Returns the same sandbox for the policy of a workspace, or of one of its agents; it never allows
   * more than this one. A provider without it must report `policy: "enforced"` in its status.
   */
  within?(policy: CommandPolicy): SandboxProvider;
  /** @throws FilewrightError SANDBOX_SETUP_FAILED, NOT_FOUND, PERMISSION_DENIED, CANCELLED */
  run(command: SandboxCommand): Promise<SandboxOutcome>;
  /** Makes a test call; returns the system's error if it fails. */
  probe?(
    kind: SandboxProbe,
    options?: { readonly path?: string | undefined },
  ): Promise<{ readonly ok: boolean; readonly errno?: string }>;
}

/** A sandbox for commands: one of this package, or the host's own. */
export const SANDBOX_PROVIDER: Options<SandboxProvider> = instance<SandboxProvider>(
  "SandboxProvider",
  "a sandbox for commands",
  {
    status: required(
      instance<SandboxStatus>("SandboxStatus", "the status of a sandbox", {
        tier: required(text()),
        files: required(choice("enforced", "partial", "none")),
        network: required(choice("enforced", "partial", "none")),
        policy: choice("enforced", "partial", "none"),
        processes: choice("enforced", "partial", "none"),
        limits: choice("enforced", "partial", "none"),
        workspaceFiles: choice("present", "absent"),
      }),
    ),
    degrade: choice("refuse", "allow"),
    within: callback(),
    run: required(callback()),
    probe: callback(),
  },
);

/** The limits of a command. */
export const COMMAND_LIMITS: Options<CommandLimits> = options<CommandLimits>("CommandLimits", {
  processes: integer(1),
  memoryBytes: integer(1),
  fileBytes: integer(1),
  cpuSeconds: integer(1),
});
