/** Creates the sandbox of a workspace's commands from its policy, or refuses one that does not enforce it. */
import type { CommandOptions } from "../backends/option-schema.ts";
import type { CommandPolicy, SandboxProvider } from "../backends/sandbox/sandbox.ts";
import { isWithin, literalGlob } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { requireLocalHost } from "./host.ts";
import type { WorkspaceOptions } from "./options.ts";
import type { CommandSandboxFor } from "../pipeline/session.ts";

/**
 * Returns the function that creates the command sandbox of each policy, because an agent may have a
 * stricter one. `stateDirs` are absolute and real.
 */
export function commandSandboxOf(
  { commands, backend }: Pick<WorkspaceOptions, "commands" | "backend">,
  stateDirs: readonly string[],
): CommandSandboxFor {
  if (commands === undefined) return () => undefined;
  let opened = isSandboxProvider(commands) ? commands : undefined;
  return (policy, rules) => {
    const ruled = rules.forCall("run_command").globs(["deny"]);
    const write = policy.readOnly ? [] : policy.write;
    // Every sandbox hides them outside the write roots; there they are no reason to refuse one.
    const hidden = new Set(
      stateDirs.filter((path) => !write.some((root) => isWithin(path, root))).map(literalGlob),
    );
    const wanted: CommandPolicy = Object.freeze({
      cwd: policy.cwd,
      read: policy.read,
      write,
      deny: [...policy.deny.filter((glob) => !hidden.has(glob)), ...(ruled ?? [])],
      protect: policy.protect,
      secrets: policy.secrets === "grant",
      places: policy.places,
      stateDirs,
    });
    if (opened === undefined && backend !== undefined && !isRemote(commands)) {
      throw new FilewrightError("SANDBOX_SETUP_FAILED", "Commands run on the local disk alone.", {
        complete: true,
        hint: "leave out commands or backend, or bring a provider that runs them where the files are",
      });
    }
    opened ??= requireLocalHost().commands(commands === true ? {} : (commands as CommandOptions), wanted);
    const provider = opened.within?.(wanted) ?? opened;
    return assertEnforces(provider, [
      ...(wanted.deny.length > 0 ? ["denied paths"] : []),
      ...(wanted.protect ? ["protected places"] : []),
      ...(wanted.secrets ? ["secrets"] : []),
      // Neither globs nor mounts can express these rules, so no sandbox enforces them.
      ...(ruled === undefined ? [INEXPRESSIBLE_RULES_PHRASE] : []),
    ]);
  };
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
