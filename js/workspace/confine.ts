/** Confines the files of a workspace further, for an agent: a policy within the one that is in force. */
import type { Files } from "../backends/files.ts";
import { createResolver, type Resolver, type Rules, SandboxPolicy } from "../policy/index.ts";
import type { SandboxProvider } from "../backends/sandbox/sandbox.ts";
import { makeViews, type Views } from "../pipeline/views.ts";
import type { CommandSandboxFor, Session } from "../pipeline/session.ts";
import type { MadeParts } from "./made.ts";

/** The parts of a confinement. */
export interface ConfineParts {
  /** The files, by which links are followed. */
  readonly files: Files;
  /** Takes what has to end with the workspace at the latest. */
  readonly made: MadeParts;
  readonly rules: Rules;
  readonly commandsFor: CommandSandboxFor;
  /** Returns the files confined to a policy. */
  confine(policy: SandboxPolicy): Files;
  /** Returns how calls that walk a tree of a shared storage enter a moment of it. */
  momentsFor(policy: SandboxPolicy, views: Views): Session["files"]["enterMoment"];
  /** Returns the summary of a policy. `wanted` is the one that was asked for. */
  summarize(
    both: Resolver,
    wanted: SandboxPolicy,
    commands: SandboxProvider | undefined,
  ): Session["files"]["access"];
}

/** Creates the function by which a workspace confines its files to a further policy. */
export function makeConfine(parts: ConfineParts): Session["files"]["confine"] {
  const { files, made, rules, commandsFor, confine, momentsFor, summarize } = parts;
  return async (wanted, within) => {
    // Links are followed before the comparison, because access depends on real paths.
    const real = (path: string): Promise<string> => files.realpath(path);
    const own = (await createResolver(wanted, real)).policy;
    const both = await createResolver(SandboxPolicy.intersect(within, own), real);
    const there = confine(both.policy);
    const views = makeViews(there, (globs) =>
      confine({ ...both.policy, deny: [...both.policy.deny, ...globs] }),
    );
    const release = made.add(async () => {
      await views.close();
      await there.close();
    });
    const access = summarize(both, wanted, commandsFor(both.policy, rules));
    const enterMoment = momentsFor(both.policy, views);
    return { fs: there, resolver: both, views, enterMoment, access, release };
  };
}
