/** Creates the sandbox of a workspace's commands from its policy, or refuses one that does not enforce it. */
import type { CommandOptions } from "../backends/option-schema.ts";
import { type CommandPolicy, deniesInRoots, type SandboxProvider } from "../backends/sandbox/sandbox.ts";
import { FilewrightError } from "../engine/errors.ts";
import { requireLocalHost } from "./host.ts";
import type { WorkspaceOptions } from "./options.ts";
import type { LinkedWorktree } from "./worktrees.ts";
import type { CommandSandboxFor } from "../pipeline/session.ts";
import type { SandboxPolicy } from "../policy/index.ts";

/**
 * Returns the function that creates the command sandbox of each policy, because an agent may have a
 * stricter one.
 */
export async function commandSandboxOf(
  { commands, backend }: Pick<WorkspaceOptions, "commands" | "backend">,
  places: PlacesOfCommands,
): Promise<CommandSandboxFor> {
  if (commands === undefined) return () => undefined;
  let opened = isSandboxProvider(commands) ? commands : undefined;
  if (opened === undefined && backend !== undefined && !isRemote(commands)) {
    throw new FilewrightError("SANDBOX_SETUP_FAILED", "Commands run on the local disk alone.", {
      complete: true,
      hint: "leave out commands or backend, or bring a provider that runs them where the files are",
    });
  }
  const open = opened === undefined ? await requireLocalHost().commands() : undefined;
  return (policy, rules) => {
    const ruled = rules.forCall("run_command").globs(["deny"]);
    const wanted = commandPolicyOf(policy, ruled ?? [], places);
    opened ??= open?.(commands === true ? {} : (commands as CommandOptions), wanted) as SandboxProvider;
    const provider = opened.within?.(wanted) ?? opened;
    return assertEnforces(provider, [
      ...(deniesInRoots(wanted) ? ["denied paths"] : []),
      ...(wanted.protect ? ["protected places"] : []),
      ...(wanted.secrets ? ["secrets"] : []),
      // Neither globs nor mounts can express these rules, so no sandbox enforces them.
      ...(ruled === undefined ? [INEXPRESSIBLE_RULES_PHRASE] : []),
    ]);
  };
}

/** Places outside the roots that matter to commands. Paths are absolute and real. */
export interface PlacesOfCommands {
  readonly stateDirs: readonly string[];
  readonly worktrees: readonly LinkedWorktree[];
}

/** Returns the restrictions of commands under a policy. `ruled` are the globs that rules deny to commands. */
function commandPolicyOf(
  policy: SandboxPolicy,
  ruled: readonly string[],
  { stateDirs, worktrees }: PlacesOfCommands,
): CommandPolicy {
  const write = policy.readOnly ? [] : policy.write;
  // As `.git` in a root: what a command may do with the root it may do with its repository.
  const repositoriesOf = (roots: readonly string[]): readonly string[] => [
    ...new Set(worktrees.filter(({ root }) => roots.includes(root)).map(({ common }) => common)),
  ];
  const repositories = repositoriesOf(write);
  const readable = repositoriesOf([...(policy.read ?? []), ...policy.write]);
  return Object.freeze({
    cwd: policy.cwd,
    read: policy.read === null ? null : [...policy.read, ...readable],
    write: [...write, ...repositories],
    repositories,
    deny: [...policy.deny, ...ruled],
    protect: policy.protect,
    secrets: policy.secrets === "grant",
    places: policy.places,
    stateDirs,
  });
}

/**
 * The name of the rules that no sandbox enforces, because neither globs nor mounts can express an earlier
 * exception.
 */
const INEXPRESSIBLE_RULES_PHRASE = "deny rules with an exception before them (use access.deny)";

/** Returns true for options whose commands never run on this machine's disk. */
function isRemote(commands: true | CommandOptions | SandboxProvider): boolean {
  return commands !== true && "provider" in commands && commands.provider === "remote";
}

function isSandboxProvider(commands: true | CommandOptions | SandboxProvider): commands is SandboxProvider {
  return commands !== true && "run" in commands;
}

/**
 * Returns the sandbox if it enforces the policy, or if its `degrade` is `allow`.
 * @throws FilewrightError SANDBOX_SETUP_FAILED
 */
function assertEnforces(provider: SandboxProvider, wants: readonly string[]): SandboxProvider {
  const { policy = "none", tier, workspaceFiles } = provider.status;
  // Rules about files hold where none of them is.
  if (workspaceFiles === "absent") return provider;
  const missing = policy === "enforced" ? wants.filter((want) => want === INEXPRESSIBLE_RULES_PHRASE) : wants;
  if (missing.length === 0) return provider;
  if (provider.degrade !== "allow") {
    throw new FilewrightError(
      "SANDBOX_SETUP_FAILED",
      `The sandbox for commands (${tier}) does not hold what this workspace wants of it: ${missing.join(", ")}.`,
      {
        complete: true,
        hint: 'use commands: true (bubblewrap on Linux), or accept it with degrade: "allow"',
      },
    );
  }
  if (policy !== "enforced") return provider;
  return Object.freeze({
    ...provider,
    status: Object.freeze({ ...provider.status, files: "partial", policy: "partial" }),
  });
}
