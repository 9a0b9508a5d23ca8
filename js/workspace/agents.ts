/**
 * Several agents on one workspace. Each has its own record of reads, grants, approvals and budget;
 * files, locks and history are shared. The options of an agent can only restrict the access of its
 * workspace.
 */
import { assertRules } from "../policy/rules.ts";
import {
  type AskGrant,
  makePermissions,
  type Permissions,
  type Rule,
  SandboxPolicy,
} from "../policy/index.ts";
import { GRANTS_KIND } from "../policy/grants.ts";
import { RULE_OPTIONS } from "../policy/rules.ts";
import { withWindowsPaths } from "../backends/windows-paths.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { type Approvals, makeApprovals } from "../hooks/approvals.ts";
import { ApproverGroups } from "../hooks/approver-groups.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { notifySafely } from "../hooks/events.ts";
import { type Preset, PRESET_OPTION, type PresetName } from "../presets/index.ts";
import {
  callback,
  flag,
  optionChecker,
  integer,
  list,
  nullable,
  type Options,
  options,
  text,
} from "../schema/option.ts";
import { LIMIT_OPTIONS, type Limits, withoutTokenizer, type WorkspaceLimits } from "../tools/lib/limits.ts";
import { countTokensWith } from "../tools/lib/tokens.ts";
import { type BudgetOptions, makeBudget } from "../pipeline/scheduling/budget.ts";
import type { AccessOptions } from "./options.ts";
import { rulesWithin } from "./reach.ts";
import { makeGates } from "../pipeline/sources.ts";
import { memoryRecords } from "../records/memory.ts";
import { namePart } from "../records/names.ts";
import { RunningCalls } from "../pipeline/scheduling/running.ts";
import type { Session, SessionFiles } from "../pipeline/session.ts";

/**
 * The options of an agent. Each can only restrict the agent further; its default is the option of the
 * workspace.
 */
export interface AgentOptions {
  /** The preset whose names, parameters and texts the agent's tools have. */
  readonly preset?: PresetName | Preset | undefined;
  /**
   * The directories that the agent may read and write, inside those of the workspace. Relative paths begin at
   * the cwd.
   */
  readonly access?: Pick<AccessOptions, "read" | "write" | "deny" | "readOnly"> | undefined;
  /**
   * Directories are granted to this agent only. Its grants are kept in the `records` of the workspace, under its name,
   * else in memory. If the workspace asks for directories, this is the default.
   */
  readonly permissions?:
    | {
        /** The function that asks the user for a grant. Default: the `ask` of the workspace. */
        readonly ask?: AskGrant | undefined;
      }
    | undefined;
  /** Rules in addition to those of the workspace. The stricter decision counts. */
  readonly rules?: readonly Rule[] | undefined;
  /** A reviewer of the changes of this agent, asked after the `confirm` of the workspace. */
  readonly confirm?: Confirm | undefined;
  /** The limits of one call of the agent. Only those lower than the limits of the workspace have an effect, and `tokens`. */
  readonly limits?: Partial<WorkspaceLimits> | undefined;
  /** The limits of all calls of the agent together. */
  readonly budget?: BudgetOptions | undefined;
}

const BUDGET_OPTIONS: Options<BudgetOptions> = options("BudgetOptions", {
  calls: integer(0),
  outputBytes: integer(0),
  name: text(),
  forMs: integer(1),
});

/**
 * The options of an agent.
 *
 * @printed
 */
export const AGENT_OPTIONS: Options<AgentOptions> = options("AgentOptions", {
  preset: PRESET_OPTION,
  access: options<NonNullable<AgentOptions["access"]>>("AccessOptions", {
    read: nullable(list(text())),
    write: list(text()),
    deny: list(text()),
    readOnly: flag(),
  }),
  permissions: options<NonNullable<AgentOptions["permissions"]>>("PermissionOptions", {
    ask: callback(),
  }),
  rules: list(RULE_OPTIONS),
  confirm: callback(),
  limits: LIMIT_OPTIONS,
  budget: BUDGET_OPTIONS,
});

const checkOptions = optionChecker("agent", AGENT_OPTIONS);

/** Returns the shared state of an agent's calls. @throws FilewrightError INVALID_ARGUMENT for invalid options */
export async function makeAgentSession(
  session: Session,
  name: string,
  given: AgentOptions,
): Promise<Session> {
  if (typeof name !== "string" || name === "")
    throw new FilewrightError("INVALID_ARGUMENT", "an agent needs a name");
  const wanted = checkOptions(given);
  assertRules("agent", "rules", wanted.rules ?? []);
  const asks = wanted.permissions !== undefined || session.gates.prompting !== undefined;
  // Access to secrets is granted to a backend, so an agent with its own grants needs its own backend.
  const apart = wanted.access !== undefined || asks;
  const files: SessionFiles = {
    ...session.files,
    // Closing an agent that uses the storage of its workspace releases nothing.
    release: async () => {},
    ...(apart &&
      (await session.files.confine(agentPolicyOf(session, wanted), session.files.resolver.policy))),
  };
  const { policy } = files.resolver;
  const { caller, gates, scheduling, settings, stores } = session;
  const { sandbox, sandboxFor } = session.commands;
  const key = caller.key === "" ? name : `${caller.key}/${name}`;
  const rules = gates.rules.with(rulesWithin(wanted, policy, asks || sandbox !== undefined));
  const { confirm, budget, limits = {} } = wanted;
  return Object.freeze({
    ...session,
    caller: { ...caller, agent: name, key },
    files,
    gates: makeGates(
      {
        ...gates,
        rules,
        approvals: agentApprovalsOf(session, key, policy),
        permissions: asks ? agentPermissionsOf(session, key, wanted) : gates.permissions,
        hasApprover: gates.hasApprover || confirm !== undefined,
        confirmFor: confirm === undefined ? gates.confirmFor : confirmAfterOthers(session, confirm),
      },
      { hooks: session.hooks.bound, resolver: files.resolver },
    ),
    settings: {
      ...settings,
      limits: lowerLimits(settings.limits, limits),
      tokens: limits.tokens === undefined ? settings.tokens : countTokensWith(limits.tokens),
    },
    commands: { ...session.commands, sandbox: sandboxFor(policy, rules) },
    scheduling: {
      ...scheduling,
      running: new RunningCalls(scheduling.running),
      budget:
        budget === undefined
          ? scheduling.budget
          : makeBudget(budget, { agent: name, records: stores.budgets, outer: scheduling.budget }),
    },
  });
}

/** Returns the approvals of an agent, in the records of the workspace. */
function agentApprovalsOf({ stores }: Session, agent: string, bases: SandboxPolicy): Approvals {
  return makeApprovals(() => Date.now(), { ...stores.approvals, agent, bases });
}

/** Returns the policy of the agent's own options; the caller intersects it with that of the workspace. */
function agentPolicyOf({ files }: Session, { access = {} }: AgentOptions): SandboxPolicy {
  const { policy } = files.resolver;
  const windows = policy.paths === "windows";
  const listed = (list: readonly string[]): readonly string[] =>
    windows ? list.map((path) => engine().windows.root(path, policy.cwd)) : list;
  const own = SandboxPolicy.allowList({
    cwd: policy.cwd,
    read: access.read === undefined ? policy.read : access.read && listed(access.read),
    write: access.write === undefined ? policy.write : listed(access.write),
    deny: access.deny,
    readOnly: access.readOnly,
    followSymlinks: "any",
  });
  return windows ? withWindowsPaths(own) : own;
}

/** Returns the permissions of an agent. `key` is its name, by which its grants are kept. */
function agentPermissionsOf(session: Session, key: string, { permissions }: AgentOptions): Permissions {
  const { ask = session.gates.prompting?.ask } = permissions ?? {};
  const { now, file } = session.gates.prompting ?? {};
  return makePermissions({
    mode: "prompt",
    paths: session.files.resolver.policy.paths,
    records: session.stores.grants ?? memoryRecords(now),
    kind: `${GRANTS_KIND} ${namePart(key)}`,
    ask,
    now,
    file,
    onEvent: (event) => notifySafely(session.gates.notify, event),
  });
}

function lowerLimits(limits: Limits, wanted: Partial<WorkspaceLimits>): Limits {
  const entries = Object.entries(withoutTokenizer(wanted)).filter(([, value]) => value !== undefined);
  const least = entries.map(([name, value]) => [name, Math.min(limits[name as keyof Limits], value)]);
  return Object.freeze({ ...limits, ...Object.fromEntries(least) });
}

function confirmAfterOthers(session: Session, confirm: Confirm): Session["gates"]["confirmFor"] {
  const groups = new ApproverGroups();
  return (tool, calledAs) => {
    const others = session.gates.confirmFor(tool, calledAs);
    return groups.of([...(others === undefined ? [] : [others]), confirm]);
  };
}
