/** Describes the policy of a workspace as data, for the person who reviews its agents. */
import type { FollowSymlinks } from "../backends/policy.ts";
import { displayPath } from "../backends/windows-paths.ts";
import type { NamedSource } from "../policy/decide.ts";
import type { RuleSummary } from "../policy/rules.ts";
import type { GuardLevel } from "../presets/index.ts";
import type { Session } from "./session.ts";
import { decisionSourcesInForce } from "./sources.ts";

/** The policy of a workspace, without anything that only the host knows. */
export interface PolicySummary {
  /** The directory to which relative paths and globs are relative. */
  readonly cwd: string;
  /** The directories below which paths may be read; null when everything may be read. */
  readonly read: readonly string[] | null;
  /** The directories below which paths may be changed. */
  readonly write: readonly string[];
  /** The globs of `access.deny`. The state directory and the file of grants are always denied, and not listed. */
  readonly deny: readonly string[];
  /** True when nothing may be changed. */
  readonly readOnly: boolean;
  /** The links that are followed. */
  readonly followSymlinks: FollowSymlinks;
  /** True when writes to protected places are refused. */
  readonly protect: boolean;
  /** `grant`: the content of secrets is read only with a grant of their own. */
  readonly secrets: "grant" | "allow";
  /** `prompt`: calls outside the directories that are allowed ask for a grant. */
  readonly permissions: "off" | "prompt";
  /** The treatment of a change of content that the agent has not read. */
  readonly guard: GuardLevel;
  /** The names of the options that decide about a change, in their order. */
  readonly decidedBy: readonly NamedSource[];
  /** The rules in their order, with the number of calls that each has decided about. */
  readonly rules: readonly RuleSummary[];
}

/** Returns the policy of a workspace. */
export function summarizePolicy(session: Session): PolicySummary {
  const { policy } = session.files.resolver;
  const shown = (path: string): string => displayPath(path, policy.paths);
  return Object.freeze({
    cwd: shown(policy.cwd),
    read: policy.read && Object.freeze(policy.read.map(shown)),
    write: Object.freeze(policy.write.map(shown)),
    deny: session.files.access.deny,
    readOnly: policy.readOnly,
    followSymlinks: policy.followSymlinks,
    protect: policy.protect,
    secrets: policy.secrets ?? "allow",
    permissions: session.gates.prompting === undefined ? "off" : "prompt",
    guard: session.gates.guard,
    decidedBy: Object.freeze(decisionSourcesInForce(session)),
    rules: Object.freeze(session.gates.rules.summaries()),
  });
}
