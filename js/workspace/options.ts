/** The options of a workspace. */
import type { FollowSymlinks, PlacesOptions, Rule } from "../policy/index.ts";
import type { CommandOptions } from "../backends/option-schema.ts";
import type { SandboxProvider } from "../backends/sandbox/sandbox.ts";
import type { Durability, FsBackend } from "../backends/backend.ts";
import type { Confirm } from "../hooks/confirm.ts";
import type { Notify } from "../hooks/events.ts";
import type { AnyHook } from "../hooks/hook.ts";
import type { Observer } from "../hooks/observer.ts";
import type { MirrorOptions } from "../storage/mirror/options.ts";
import type { Storage } from "../storage/storage.ts";
import type { GuardLevel, Preset, PresetName } from "../presets/index.ts";
import type { Reader } from "../readers/index.ts";
import type { WorkspaceLimits } from "../tools/lib/limits.ts";
import type { EditDefaults } from "../tools/lib/tool.ts";
import type { PermissionOptions } from "./permissions.ts";
import type { JournalStore } from "../log/store.ts";
import type { Records } from "../records/records.ts";

/** One root with what may be done below it. */
export interface RootOptions {
  /** A directory, or a single file: a path, or a `file:` URL. */
  readonly path: string | URL;
  /** What may be done below the root. Default `write`, which includes reading. */
  readonly access?: "read" | "write";
}

/** One root: the path or `file:` URL of a directory or of a single file. */
export type RootSpec = string | URL | RootOptions;

/** The paths that may be read and changed, beyond the roots. */
export interface AccessOptions {
  /** Paths that may be read, instead of the roots; null for everything. Relative entries are relative to the cwd. */
  readonly read?: readonly string[] | null | undefined;
  /** Paths that may be changed, instead of the roots. */
  readonly write?: readonly string[] | undefined;
  /** Globs relative to the cwd: matches are refused, even in a root. */
  readonly deny?: readonly string[] | undefined;
  /**
   * Refuse changes of protected places: files that other programs run or read as configuration, such as
   * git's hooks. Default true.
   */
  readonly protect?: boolean | undefined;
  /** Changes to the table of protected and secret places, row by row. Default: none. */
  readonly places?: PlacesOptions | undefined;
  /**
   * `grant`, the default: the content of a secret (`.env`, keys, tokens) is read only if the user has
   * granted that file; searches leave it out. `allow`: secrets are treated like other files.
   */
  readonly secrets?: "grant" | "allow" | undefined;
  /** Refuse every change. */
  readonly readOnly?: boolean | undefined;
  /**
   * Links that lead out of the roots: refused (`inside`), all links refused (`never`), followed (`any`).
   * Default `inside`.
   */
  readonly followSymlinks?: FollowSymlinks | undefined;
}

/** The options of `openWorkspace`. At least one of `root`, `roots` and `access` names the directories. */
export interface WorkspaceOptions {
  /** The directory to work in, readable and writable: a path, or a `file:` URL. */
  readonly root?: string | URL | undefined;
  /** Several roots. The first one is the working directory unless `cwd` is given. */
  readonly roots?: readonly RootSpec[] | undefined;
  /** The storage of the files of the workspace. Default: the local disk, if the platform has one. */
  readonly backend?: FsBackend | undefined;
  /**
   * The storage of the files, shared with other processes and machines, instead of a `backend`: `memoryStorage()`
   * or that of an engine. It is probed at opening, and refused where two writers can win the same condition. The
   * workspace does not close it. Default: none.
   */
  readonly storage?: Storage | undefined;
  /**
   * The copy of the storage's files on this machine, below `stateDir`, which searches of contents use: it is filled
   * when the storage is first searched, and follows it from then on; meanwhile and where it cannot answer, searches
   * read the storage. `false`: there is none. Default: a copy where `stateDir` is given and the native engine loads.
   */
  readonly mirror?: MirrorOptions | false | undefined;
  /** The directory at which relative paths begin. Default: the first root. */
  readonly cwd?: string | undefined;
  /** With true, every change is refused. Default false. */
  readonly readOnly?: boolean | undefined;
  /** The paths that may be read and changed, instead of the roots or beyond them. */
  readonly access?: AccessOptions | undefined;
  /**
   * How directories inside the roots are granted one by one. Default: no grants are needed, unless the preset asks
   * for them.
   */
  readonly permissions?: PermissionOptions | undefined;
  /**
   * The preset whose names, parameters and texts the tools have: its name, or a preset of your own. Default
   * `canonical`.
   */
  readonly preset?: PresetName | Preset | undefined;
  /** The functions that run before and after calls, or that are asked about changes. */
  readonly hooks?: readonly AnyHook[] | undefined;
  /**
   * Names of tools that are not ours, which hooks and rules may name in addition: for lists that are shared with
   * `withHooks`. Default: none, so that a misspelt name is refused.
   */
  readonly foreignTools?: readonly string[] | undefined;
  /** Receives the error of an `after` hook that threw. */
  readonly onHookError?: ((error: unknown) => void) | undefined;
  /** Rules that decide about calls before a question is asked. The first that matches wins. */
  readonly rules?: readonly Rule[] | undefined;
  /** The reviewer, who is asked before changes that no rule allows. */
  readonly confirm?: Confirm | undefined;
  /**
   * With true, every change that no rule allows requires an approval. Without `confirm` such changes are
   * refused.
   */
  readonly requireApproval?: boolean | undefined;
  /**
   * When a person reviews a change about which no rule decides. `before`: `confirm` is asked, where there is one.
   * `after`: the change is made at once and stays unreviewed until `ws.keep` names it; rules with `ask`, and places that
   * always need an approval, still ask first. Default `before`.
   */
  readonly review?: "before" | "after" | undefined;
  /** Receives the events of questions, answers, grants and refusals; see `WorkspaceEvent`. It is not awaited. */
  readonly notify?: Notify | undefined;
  /** The limits of one call: bytes that it may read, keep in memory and return, and times. */
  readonly limits?: Partial<WorkspaceLimits> | undefined;
  /**
   * Readers that render further kinds of files, or known kinds in another way. The first that supports a kind
   * is used, before the built-in ones.
   */
  readonly readers?: readonly Reader[] | undefined;
  /**
   * The names of ignore files that searches respect, lowest precedence first; `.gitignore` comes first
   * if it is listed. Default `.gitignore .ignore .agentignore`.
   */
  readonly ignoreFiles?: readonly string[] | undefined;
  /** The defaults for the arguments of edits. */
  readonly edit?: Partial<EditDefaults> | undefined;
  /** The guarantee of writes: `none`, `atomic` (the default), or `durable`, which also flushes them to the disk. */
  readonly durability?: Durability | undefined;
  /**
   * How a write, copy or move on the local disk treats owner, extended attributes and hard links that it cannot
   * preserve: `possible` preserves as much as it can, `strict` refuses. Default `possible`.
   */
  readonly preserve?: "possible" | "strict" | undefined;
  /**
   * Whether the kernel confines the threads that access files. `prefer`, the default, does so where the kernel
   * can.
   */
  readonly kernel?: "prefer" | "require" | "off" | undefined;
  /**
   * The code that reads and writes the local disk. `auto`, the default: the native addon, or Node where it does not
   * load. `native`: a disk without the addon is refused with UNSUPPORTED_PLATFORM.
   */
  readonly engine?: "auto" | "native" | undefined;
  /**
   * The index for searches of a local disk: made in the background once a search took long, and never
   * behind the disk but for changes that the kernel reports to no watcher. Those through a memory map or
   * asynchronous I/O are found once the file is closed, or when it changes next where no process watched then.
   * Those through a hard link that was made outside since the file was indexed, and those in a layer under a
   * mounted overlay file system, when the file changes next. `strict` finds all of them: the contents of every
   * file are read. `anywhere`: also of a whole file system or a home directory. Default `auto`.
   */
  readonly index?: "auto" | "off" | "anywhere" | "strict" | undefined;
  /**
   * The number of calls that run at once, including those of agents. Others wait in order;
   * `meta.queued_ms` has the time. A call that waits for a person's answer counts. Default: no limit,
   * except for calls that walk a tree.
   */
  readonly concurrency?: number | undefined;
  /**
   * The tenant of the workspace, in a process with workspaces of several: calls that walk a tree get their turns by
   * tenant first, so that a tenant with many agents or workspaces does not delay the others. Default: none; each agent
   * has turns of its own.
   */
  readonly tenant?: string | undefined;
  /**
   * With true, models are also offered `find_symbol`, `outline`, `changes_since` and `find_files`, and answers tell what
   * others changed in a file since the agent read it. With `names`, models are offered `find_files` of these alone. Calls
   * by name work in any case; each tool that is offered costs tokens in every request. Default false.
   */
  readonly knows?: boolean | "names" | undefined;
  /**
   * Offer `run_command`. `true` or options: in the strictest sandbox that this system has, made
   * from the policy of the workspace. A provider: in that one, which must hold the policy or say
   * `degrade: "allow"`. Default: no commands are run.
   */
  readonly commands?: true | CommandOptions | SandboxProvider | undefined;
  /** With true, changing calls can be undone: the previous contents are stored under `stateDir`. Default true. */
  readonly history?: boolean | undefined;
  /**
   * The name of the caller for calls that name none. Each caller has its own record of reads and its own lines
   * in logs.
   */
  readonly agent?: string | undefined;
  /**
   * The treatment of a change to content that the agent has not read in its current state: `refuse` (CONFLICT), `warn`
   * (the answer says so) or `off`. `true` is `refuse`, `false` is `off`. Default: that of the preset; `warn` without
   * one. With a `stateDir` (or `records`) the record of reads survives a restart where the level is `refuse`, or
   * where this option is given.
   */
  readonly guard?: boolean | GuardLevel | undefined;
  /** The observers of calls, such as an audit log, counters or spans. */
  readonly observers?: readonly Observer[] | undefined;
  /**
   * The store in which changes are recorded before they are made, for hosts whose processes share one: what a dead
   * process left unfinished is rolled back by the next one that opens it. Of a storage other than the local disk give
   * the `backendId`, too. The workspace does not close it. Default: below `stateDir`, or in memory.
   */
  readonly journal?: JournalStore | undefined;
  /**
   * The records that the processes of a host share: approvals that last beyond their call, what agents have spent of
   * their budgets, grants where no `permissions.grantsFile` is given, and what each agent has read where the level of the
   * guard is `refuse` or `guard` is given. Default: those of the `storage`, without grants; else memory, and reads below
   * `stateDir`. The workspace does not close them.
   */
  readonly records?: Records | undefined;
  /** The directory of locks and journals, outside every root. */
  readonly stateDir?: string | undefined;
  /**
   * The name of the storage behind `backend`, the same in every process that uses that storage. With it the journal is
   * kept in `stateDir`, and a change that the end of a process cut is rolled back when the next one opens. Without it
   * the journal of a backend other than `LocalBackend` is in memory. At most 200 letters, digits and `. : / - _`.
   */
  readonly backendId?: string | undefined;
}
