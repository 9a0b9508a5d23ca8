/** Makes the sandbox of a workspace's commands from its policy, or refuses one that does not hold it. */
import type { CommandOptions } from "../backends/command-options.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import type { CommandPolicy, SandboxProvider } from "../backends/sandbox.ts";
import type { Rules } from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import { localHost } from "./host.ts";
import type { WorkspaceOptions } from "./options.ts";

/** The sandbox of commands within a policy, and without what the rules deny. */
export type CommandsFor = (policy: SandboxPolicy, rules: Rules) => SandboxProvider | undefined;

/**
 * The sandboxes of a workspace's commands, one for each policy: an agent may be allowed less.
 * `stateDir`: absolute and real, where the workspace has one.
 */
export function commandsOf(
  { commands, backend }: Pick<WorkspaceOptions, "commands" | "backend">,
  stateDir: string | undefined,
): CommandsFor {
  if (commands === undefined) return () => undefined;
  let opened = isProvider(commands) ? commands : undefined;
  return (policy, rules) => {
    const ruled = rules.forCall("run_command").globs(["deny"]);
    const wanted: CommandPolicy = Object.freeze({
      cwd: policy.cwd,
      read: policy.read,
      write: policy.readOnly ? [] : policy.write,
      deny: [...policy.deny, ...(ruled ?? [])],
      protect: policy.protect,
      secrets: policy.secrets === "grant",
      places: policy.places,
      stateDir,
    });
    if (opened === undefined && backend !== undefined) {
      throw new FilewrightError("SANDBOX_SETUP_FAILED", "Commands run on the local disk alone.", {
        complete: true,
        hint: "leave out commands or backend, or bring a provider that runs them where the files are",
      });
    }
    opened ??= localHost().commands(commands === true ? {} : (commands as CommandOptions), wanted);
    const provider = opened.within?.(wanted) ?? opened;
    return checked(provider, [
      ...(wanted.deny.length > 0 ? ["denied paths"] : []),
      ...(wanted.protect ? ["protected places"] : []),
      ...(wanted.secrets ? ["secrets"] : []),
      // No mount says that either, so nothing holds it.
      ...(ruled === undefined ? [UNTOLD] : []),
    ]);
  };
}

const UNTOLD = "deny rules with an exception before them (use access.deny)";

function isProvider(commands: true | CommandOptions | SandboxProvider): commands is SandboxProvider {
  return commands !== true && "run" in commands;
}

/** @throws FilewrightError SANDBOX_SETUP_FAILED where the policy does not hold, unless less will do */
function checked(provider: SandboxProvider, wants: readonly string[]): SandboxProvider {
  const { policy = "none", tier } = provider.status;
  const missing = policy === "enforced" ? wants.filter((want) => want === UNTOLD) : wants;
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
