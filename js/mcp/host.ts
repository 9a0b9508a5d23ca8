/**
 * The workspace of a server. It is opened at its first use, and opened anew when the directories change.
 *
 * The engine is loaded only then, because clients start all of their servers and use few of them.
 */
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { Confirm } from "../hooks/confirm.ts";
import type { CallBegin, CallEnd, Observer } from "../hooks/observer.ts";
import type { ToolDefinition, Workspace, WorkspaceOptions } from "../workspace/index.ts";
import { missingAddonInstruction } from "../engine/native/addon-notice.node.ts";
import { restoreHeapGrowth } from "./lean.ts";
import { LEAN_TOOLS } from "../presets/served.ts";
import { hasTrait } from "../schema/tool-facts.ts";
import { type OfferOptions, offersOf, recordsChanges, type ServedPreset } from "./offered.ts";

/** An open workspace, and facts about it that a server needs. */
export interface ServedWorkspace {
  readonly ws: Workspace;
  /** The tools that can be called, by name. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** The tools that `tools/list` returns, in this order. */
  readonly listed: readonly ToolDefinition[];
  /** The base of relative paths: the real path of the first directory. */
  readonly cwd: string;
  /** The real paths of all directories. */
  readonly roots: readonly string[];
}

/** The options for opening a server's workspace. */
export interface HostedWorkspaceOptions {
  readonly preset: ServedPreset;
  /** Further options of the workspace; roots and preset are given separately. */
  readonly workspace?: WorkspaceOptions | undefined;
  /** The directories in which nothing may be changed. */
  readonly readOnlyDirs?: readonly string[] | undefined;
  /** True when the directories are not replaced by roots that a client names. */
  readonly keepsRoots?: boolean | undefined;
  /** The tools that are listed and can be called; default: those of the preset. */
  readonly tools?: readonly string[] | undefined;
  /** True when the schemas of tools are listed in their strict form. */
  readonly strictSchemas?: boolean | undefined;
  /** The path of the audit log. */
  readonly audit?: string | undefined;
  /** Observers of all calls, in addition to those of the workspace's options. */
  readonly observers?: readonly Observer[] | undefined;
  /** Called with each workspace that is opened. */
  readonly onOpen?: ((served: ServedWorkspace) => void) | undefined;
  readonly readOnly?: boolean | undefined;
  /** Called before every change; see `approvals.ts`. */
  readonly confirm?: Confirm | undefined;
  /** The directory of locks and of the history. */
  readonly stateDir?: string | undefined;
}

/** The directories of a server, and the workspace for them. */
export interface WorkspaceHost {
  readonly preset: ServedPreset;
  /** True when schemas are listed in the strict form. */
  readonly strictSchemas: boolean;
  /** True when a client's roots replace the directories. */
  readonly followsRoots: boolean;
  /** Returns true when the server lists the tool with a name. */
  offers(name: string): boolean;
  /** Returns true when the server would list the tool with a name if `--tools` added it. */
  canAdd(name: string): boolean;
  /** A further sentence about the disk for the model; undefined for none. */
  notice?(): string | undefined;
  dirs(): readonly string[];
  /** Returns the workspace; undefined when no directory is allowed. */
  workspace(): Promise<ServedWorkspace | undefined>;
  /** Returns the listed tools, which do not depend on the directories. */
  tools(): Promise<readonly ToolDefinition[]>;
  /** Replaces the directories. Running calls continue in the workspace of the old ones. */
  replace(dirs: readonly string[]): void;
  /** Returns true when the server shuts down and accepts no further call. */
  isDraining(): boolean;
  /** Stops accepting calls. Resolves when no call is running in any workspace that was opened. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Creates a host that opens workspaces on the local disk. */
export function localWorkspaceHost(first: readonly string[], options: HostedWorkspaceOptions): WorkspaceHost {
  let dirs = first;
  let opened: Promise<ServedWorkspace> | undefined;
  let isDraining = false;
  /** All workspaces that were opened, because calls may still run in one whose directories were replaced. */
  const workspaces: Promise<ServedWorkspace>[] = [];
  const eachWorkspace = async (end: (served: ServedWorkspace) => Promise<void>): Promise<void> => {
    await Promise.all(workspaces.map((opening) => opening.then(end, () => {})));
  };
  return {
    preset: options.preset,
    strictSchemas: options.strictSchemas === true,
    followsRoots: options.keepsRoots !== true,
    offers: offersOf(offerOptionsOf(options)),
    canAdd: (name) => offersOf({ ...offerOptionsOf(options), tools: [`+${name}`] })(name),
    notice: missingAddonInstruction,
    dirs: () => dirs,
    workspace() {
      if (dirs.length === 0) return Promise.resolve(undefined);
      if (opened === undefined) {
        opened = openServedWorkspace(dirs, options);
        workspaces.push(opened);
      }
      return opened;
    },
    async tools() {
      const { openWorkspace } = await import("../workspace/index.node.ts");
      const { MemoryBackend } = await import("../backends/memory/memory.ts");
      const { preset, knows } = commonWorkspaceOptions(options);
      const ws = await openWorkspace({
        preset,
        knows,
        readOnly: isReadOnlyHost(options),
        backend: new MemoryBackend(),
        root: "/none",
      });
      return (await answeredAndListedTools(ws, options)).listed;
    },
    replace(next) {
      if (options.keepsRoots === true || JSON.stringify(next) === JSON.stringify(dirs)) return;
      dirs = next;
      opened = undefined;
    },
    isDraining: () => isDraining,
    drain() {
      isDraining = true;
      return eachWorkspace(({ ws }) => ws.drain());
    },
    close: () => eachWorkspace(({ ws }) => ws.close()),
  };
}

/** Creates a host for a workspace that the caller has opened and will close. Its tools are those of the preset. */
export async function hostOfOpenWorkspace(ws: Workspace, preset: ServedPreset): Promise<WorkspaceHost> {
  const { toolsFor } = await import("../workspace/workspace.ts");
  const own = preset === "lean" ? ws.tools : toolsFor(ws, preset);
  const { answered, listed } = await answeredAndListedTools(ws, { preset }, own);
  const served = servedWorkspaceOf(ws, answered, listed);
  return {
    preset,
    strictSchemas: false,
    followsRoots: false,
    offers: (name) => listed.some((one) => one.name === name),
    canAdd: () => false,
    dirs: () => [],
    workspace: () => served,
    tools: async () => listed,
    replace: () => {},
    isDraining: () => false,
    drain: () => ws.drain(),
    close: () => Promise.resolve(),
  };
}

async function openServedWorkspace(
  dirs: readonly string[],
  options: HostedWorkspaceOptions,
): Promise<ServedWorkspace> {
  restoreHeapGrowth();
  const { openWorkspace } = await import("../workspace/index.node.ts");
  const { describeRecovery } = await import("../pipeline/past/recover.ts");
  const { workspace = {}, readOnlyDirs = [], confirm, stateDir, audit, observers: given = [] } = options;
  const log =
    audit === undefined
      ? undefined
      : await (await import("../hooks/audit/audit-file.node.ts")).auditFile(audit);
  // Calls that the server itself makes while it opens the workspace are neither written to the audit log nor counted,
  // because no client made them.
  let isServing = false;
  const observers = [
    ...(workspace.observers ?? []),
    ...[...given, ...(log === undefined ? [] : [log])].map((one) => whileServing(one, () => isServing)),
  ];
  // With a review after the change only rules and places ask.
  const asksForAll = confirm !== undefined && workspace.review !== "after";
  const ws = await openWorkspace(
    withoutUndefined({
      ...workspace,
      ...commonWorkspaceOptions(options),
      roots: dirs.map((path) => ({ path, access: readOnlyDirs.includes(path) ? "read" : "write" }) as const),
      confirm: confirm ?? workspace.confirm,
      requireApproval: asksForAll ? true : workspace.requireApproval,
      stateDir: stateDir ?? workspace.stateDir,
      observers: observers.length === 0 ? workspace.observers : observers,
    }),
  );
  const recovered = describeRecovery(ws.recovery);
  // Standard output carries only protocol messages.
  if (recovered !== undefined) process.stderr.write(`filewright: ${recovered}\n`);
  const { answered, listed } = await answeredAndListedTools(ws, options);
  const served = await servedWorkspaceOf(ws, answered, listed);
  isServing = true;
  options.onOpen?.(served);
  return served;
}

/** Returns an observer that is told only of calls that begin while `isServing` returns true. */
function whileServing(observer: Observer, isServing: () => boolean): Observer {
  const { begin, end, within } = observer;
  return withoutUndefined({
    ...observer,
    begin: begin && ((call: CallBegin) => (isServing() ? begin.call(observer, call) : undefined)),
    end: end && ((call: CallEnd) => void (isServing() && end.call(observer, call))),
    within:
      within &&
      ((call: CallBegin, run: () => void) => (isServing() ? within.call(observer, call, run) : run())),
  });
}

/**
 * Returns the tools that can be called on a workspace, and the tools that are listed. `own` are all tools of the preset,
 * unless it is `lean`.
 */
async function answeredAndListedTools(
  ws: Workspace,
  options: HostedWorkspaceOptions,
  own: readonly ToolDefinition[] = ws.tools,
): Promise<Record<"answered" | "listed", readonly ToolDefinition[]>> {
  const { preset, tools } = options;
  if (preset !== "lean" && tools === undefined) return { answered: own, listed: own };
  const { chosenTools } = await import("./served-tools.ts");
  if (preset !== "lean") {
    const usual = own.map(({ name }) => name);
    const listed = chosenTools(own, tools, usual);
    return { answered: listed, listed };
  }
  const { toolsFor } = await import("../workspace/workspace.ts");
  const { leanPreset, UNLISTED_CALLABLE_NAMES: ANSWERED_NAMES } = await import("../presets/lean.ts");
  const commands = ws.tools.filter(({ name }) => hasTrait(name, "runsCommands"));
  const ours = (all: readonly ToolDefinition[]): readonly ToolDefinition[] =>
    [...all, ...commands].filter(
      ({ name }) => !ANSWERED_NAMES.includes(name) && (recorded || !hasTrait(name, "needsHistory")),
    );
  const recorded = recordsChanges(offerOptionsOf(options));
  const usual = [...LEAN_TOOLS, ...commands.map(({ name }) => name)];
  const listed = chosenTools(ours(toolsFor(ws, leanPreset())), tools, usual);
  const offered = listed.map(({ name }) => name);
  const all = toolsFor(ws, leanPreset(offered));
  const again = ours(all).filter(({ name }) => offered.includes(name));
  // If tools were chosen explicitly, the names of the reference server are not accepted either.
  if (tools !== undefined) return { answered: again, listed: again };
  const theirs = all.filter(({ name }) => ANSWERED_NAMES.includes(name));
  return { answered: [...again, ...theirs], listed: again };
}

/** Returns the options on which the offered tools depend. */
function offerOptionsOf(options: HostedWorkspaceOptions): OfferOptions {
  const { preset, tools, workspace = {} } = options;
  return { preset, tools, readOnly: isReadOnlyHost(options), history: workspace.history !== false };
}

function isReadOnlyHost({ readOnly, workspace = {} }: HostedWorkspaceOptions): boolean {
  return readOnly === true || workspace.readOnly === true || workspace.access?.readOnly === true;
}

function commonWorkspaceOptions(options: HostedWorkspaceOptions): WorkspaceOptions {
  return withoutUndefined({
    preset: options.preset === "lean" ? "canonical" : options.preset,
    knows: options.workspace?.knows ?? "names",
    guard: options.preset === "lean" ? (options.workspace?.guard ?? "refuse") : undefined,
    readOnly: isReadOnlyHost(options) ? true : undefined,
  });
}

async function servedWorkspaceOf(
  ws: Workspace,
  tools: readonly ToolDefinition[],
  listed: readonly ToolDefinition[],
): Promise<ServedWorkspace> {
  const { cwd, read_roots: read, write_roots: write } = await ws.accessInfo({});
  const roots = [...new Set([cwd, ...(read ?? []), ...write])];
  return { ws, tools: new Map(tools.map((tool) => [tool.name, tool])), listed, cwd, roots };
}
