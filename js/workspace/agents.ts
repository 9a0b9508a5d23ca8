/**
 * Several agents on one workspace: each with a memory, grants, approvals and a
 * budget of its own, over the same files, locks and history. What an agent may do
 * is never more than what its workspace may: everything given here narrows.
 */
import {
  type AskGrant,
  compileRules,
  type Decision,
  type GrantStore,
  makePermissions,
  memoryGrants,
  type Permissions,
  type Place,
  type Rule,
  type Rules,
  SandboxPolicy,
} from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import { makeApprovals } from "../hooks/approvals.ts";
import { oneOf } from "../hooks/approvers.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { tell } from "../hooks/events.ts";
import type { Preset, PresetName } from "../presets/index.ts";
import { DEFAULT_LIMITS, type Limits } from "../tools/limits.ts";
import { type BudgetOptions, makeBudget } from "./budget.ts";
import type { AccessOptions } from "./options.ts";
import type { Session } from "./session.ts";

/** What an agent is given of its workspace. All of it narrows; what is left out is as the workspace has it. */
export interface AgentOptions {
  /** Whose names, parameters and texts its tools have. */
  readonly preset?: PresetName | Preset | undefined;
  /** Where it may read and write, inside what the workspace may. Relative entries are relative to the cwd. */
  readonly access?: Pick<AccessOptions, "read" | "write" | "deny" | "readOnly"> | undefined;
  /**
   * Directories are granted to this agent alone, in a store of its own. Where the
   * workspace asks for directories this holds without being said.
   */
  readonly permissions?:
    | { readonly ask?: AskGrant | undefined; readonly store?: GrantStore | undefined }
    | undefined;
  /** Hold beside those of the workspace: the stricter decision counts. */
  readonly rules?: readonly Rule[] | undefined;
  /** Asked about this agent's changes, after whom the workspace asks. */
  readonly confirm?: Confirm | undefined;
  /** Lower limits for its calls. */
  readonly limits?: Partial<Limits> | undefined;
  /** What it may use up in all. */
  readonly budget?: BudgetOptions | undefined;
}

// A record, so that an option missing from it does not compile.
const KNOWN: Record<keyof AgentOptions, true> = {
  preset: true,
  access: true,
  permissions: true,
  rules: true,
  confirm: true,
  limits: true,
  budget: true,
};

/** What an agent's calls share. @throws FilewrightError INVALID_ARGUMENT for what makes no sense */
export async function agentSession(session: Session, name: string, options: AgentOptions): Promise<Session> {
  if (typeof name !== "string" || name === "")
    throw new FilewrightError("INVALID_ARGUMENT", "an agent needs a name");
  for (const option of Object.keys(options)) {
    if (Object.hasOwn(KNOWN, option)) continue;
    throw new FilewrightError("INVALID_ARGUMENT", `there is no option '${option}' of an agent`);
  }
  const asks = options.permissions !== undefined || session.prompting !== undefined;
  // What is granted of secrets is granted to a backend: an agent that is asked by itself has its own.
  const apart = options.access !== undefined || asks;
  const own = apart ? await session.confine(policyOf(session, options), session.resolver.policy) : {};
  const { confirm, budget } = options;
  return Object.freeze({
    ...session,
    ...own,
    agent: name,
    limits: lower(session.limits, options.limits ?? {}),
    rules: strictest(session.rules, compileRules(options.rules ?? [])),
    approvals: makeApprovals(),
    permissions: asks ? permissionsOf(session, options) : session.permissions,
    ...(confirm === undefined ? {} : { confirmFor: withOwn(session, confirm) }),
    budget: budget === undefined ? session.budget : makeBudget(budget, session.budget),
  });
}

/** What the agent would be allowed, were it not for the workspace. */
function policyOf({ resolver: { policy } }: Session, { access = {} }: AgentOptions): SandboxPolicy {
  return SandboxPolicy.allowList({
    cwd: policy.cwd,
    read: access.read === undefined ? policy.read : access.read,
    write: access.write ?? policy.write,
    deny: access.deny,
    readOnly: access.readOnly,
    followSymlinks: "any",
  });
}

function permissionsOf(session: Session, { permissions: own = {} }: AgentOptions): Permissions {
  const { ask = session.prompting?.ask, store = memoryGrants() } = own;
  const { now, file } = session.prompting ?? {};
  return makePermissions({
    mode: "prompt",
    store,
    ask,
    now,
    file,
    onEvent: (event) => tell(session.notify, event),
  });
}

function lower(limits: Limits, wanted: Partial<Limits>): Limits {
  const entries = Object.entries(wanted).filter(([, value]) => value !== undefined);
  for (const [name, value] of entries) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw new FilewrightError("INVALID_ARGUMENT", `there is no limit '${name}'`);
    if (!(Number.isSafeInteger(value) && value > 0))
      throw new FilewrightError("INVALID_ARGUMENT", `limits.${name} must be a positive integer`);
  }
  const least = entries.map(([name, value]) => [name, Math.min(limits[name as keyof Limits], value)]);
  return Object.freeze({ ...limits, ...Object.fromEntries(least) });
}

/** The rules of the workspace, and those of the agent where they restrict more. */
function strictest(workspace: Rules, agent: Rules): Rules {
  return Object.freeze({
    byPath: workspace.byPath || agent.byPath,
    decide(tool: string, places: readonly Place[], args: object): Decision | undefined {
      const first = workspace.decide(tool, places, args);
      const own = agent.decide(tool, places, args);
      if (first === "deny" || own === undefined || own === "allow") return first;
      return own;
    },
  });
}

function withOwn(session: Session, confirm: Confirm): Session["confirmFor"] {
  return (tool) => {
    const others = session.confirmFor(tool);
    return oneOf([...(others === undefined ? [] : [others]), confirm]);
  };
}
