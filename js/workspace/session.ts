/** What all calls of one workspace share. Made once, by `openWorkspace`. */
import type { Permissions, Resolver, Rules, SandboxPolicy } from "../access/index.ts";
import type { SandboxProvider } from "../backends/sandbox.ts";
import type { Durability, FsBackend } from "../backends/backend.ts";
import type { Approvals } from "../hooks/approvals.ts";
import type { Confirm } from "../hooks/confirm.ts";
import type { Notify } from "../hooks/events.ts";
import type { AnyHook } from "../hooks/hook.ts";
import type { Observer } from "../hooks/observer.ts";
import type { Journal } from "../journal/index.ts";
import type { GuardLevel } from "../presets/index.ts";
import type { Readers } from "../readers/index.ts";
import type { Limits } from "../tools/limits.ts";
import type { AccessSummary, EditDefaults } from "../tools/tool.ts";
import type { CommandsFor } from "./commands.ts";
import type { Budget } from "./budget.ts";
import type { Locker } from "./locks.ts";
import type { Prompting } from "./permissions.ts";
import type { Repositories } from "./repositories.ts";
import type { Reads } from "./reads.ts";
import type { RunningCalls } from "./running.ts";
import type { CallSlots } from "./slots.ts";
import type { Views } from "./views.ts";

/** Storage within a policy, and what says so. */
export interface Confined {
  readonly fs: FsBackend;
  readonly resolver: Resolver;
  readonly access: AccessSummary;
  /** The storage as calls see it. */
  readonly views: Views;
  /** Gives back what the storage holds. */
  release(): Promise<void>;
}

/** What all calls of one workspace share. */
export interface Session {
  /** A number that no other workspace of this process has. */
  readonly workspace: number;
  /** The calls under way. */
  readonly running: RunningCalls;
  /** Gives back the descriptors, threads, watches and memory of its storage, once no call uses it. */
  release(): Promise<void>;
  /** Confined: refuses whatever the policy does not allow. */
  readonly fs: FsBackend;
  readonly resolver: Resolver;
  /** The storage as calls see it: without what the rules keep from them. */
  readonly views: Views;
  /** What the repositories below the roots name; undefined where protected places are not refused. */
  readonly repositories: Repositories | undefined;
  readonly limits: Limits;
  readonly durability: Durability;
  readonly edit: EditDefaults;
  /** What each agent has seen of files. */
  readonly reads: Reads;
  /** Who calls, where a call does not say. */
  readonly agent: string | undefined;
  /** What becomes of a change of content that the agent has not seen. */
  readonly guard: GuardLevel;
  /**
   * Whether an edit that quotes what it changes needs no read. A preset's own guard takes the quote for knowledge: models
   * learn of files by other ways, such as a shell or the prompt. A host that sets the guard wants a read.
   */
  readonly acceptsQuotes: boolean;
  readonly observers: readonly Observer[];
  /** Whether one of them wants hashes. */
  readonly hashes: boolean;
  readonly access: AccessSummary;
  /** The storage within what both policies allow; the second one is that of a session already. */
  confine(policy: SandboxPolicy, within: SandboxPolicy): Promise<Confined>;
  /** Undefined where no directory has to be granted. */
  readonly permissions: Permissions | undefined;
  /** How directories are asked for; undefined where they are not. */
  readonly prompting: Prompting | undefined;
  /** What may be used in all; undefined where that is not limited. */
  readonly budget: Budget | undefined;
  readonly hooks: readonly AnyHook[];
  /** Told what an `after` hook threw; nothing else is done about it. */
  readonly onHookError: ((error: unknown) => void) | undefined;
  readonly rules: Rules;
  /** Whether changes that no rule speaks of are asked about, even where nobody can be. */
  readonly requireApproval: boolean;
  /** Who is asked about calls of a tool. */
  confirmFor(tool: string, calledAs?: string): Confirm | undefined;
  /** Told what happens around permissions. */
  readonly notify: Notify | undefined;
  readonly approvals: Approvals;
  readonly locker: Locker;
  /** Whether models are offered `find_files`. */
  readonly findFiles: boolean;
  /** The places of calls that run at once. */
  readonly slots: CallSlots;
  /** Runs commands; undefined where that is off. */
  readonly commands: SandboxProvider | undefined;
  /** The same for an agent that may do less. */
  readonly commandsFor: CommandsFor;
  /** What changing calls found, so that they can be taken back. */
  readonly journal: Journal;
  /** The names of ignore files, lowest precedence first. */
  readonly ignoreFiles: readonly string[];
  /** Render files that are not plain text. */
  readonly readers: Readers;
}
