/**
 * The workspace behind a server: opened when it is first needed, opened anew when
 * the directories change.
 *
 * Nothing of the engine is loaded before: a client that only starts its servers
 * pays for what it uses.
 */
import type { Confirm } from "../hooks/confirm.ts";
import type { PresetName } from "../presets/index.ts";
import type { ToolDefinition, Workspace, WorkspaceOptions } from "../workspace/index.ts";
import { growAsUsual } from "./lean.ts";
import type { ServedPreset } from "./tool-list.ts";

/** A workspace with what a server needs to know of it. */
export interface Room {
  readonly ws: Workspace;
  /** The tools that are answered, by their names. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** The tools that are listed, in this order. */
  readonly listed: readonly ToolDefinition[];
  /** What relative paths begin at: the first directory, where it really is. */
  readonly cwd: string;
  /** All directories, where they really are. */
  readonly roots: readonly string[];
}

/** How a workspace is opened for a server. */
export interface HostOptions {
  readonly preset: ServedPreset;
  /** Options of the workspace besides, without roots and preset. */
  readonly workspace?: WorkspaceOptions | undefined;
  /** Which of the directories may only be read. */
  readonly readOnlyDirs?: readonly string[] | undefined;
  /** Whether the directories stay, whatever roots a client names. */
  readonly keepsRoots?: boolean | undefined;
  /** The tools that are offered and answered; default: those of the preset. */
  readonly tools?: readonly string[] | undefined;
  /** Whether schemas are offered in the strict form. */
  readonly strictSchemas?: boolean | undefined;
  /** Where each call is written down. */
  readonly audit?: string | undefined;
  /** Told of the workspace whenever one is opened. */
  readonly onOpen?: ((room: Room) => void) | undefined;
  readonly readOnly?: boolean | undefined;
  /** Asked before every change; see `approvals.ts`. */
  readonly confirm?: Confirm | undefined;
  /** Where locks and the history are kept. */
  readonly stateDir?: string | undefined;
}

/** The directories of a server and the workspace over them. */
export interface Host {
  readonly preset: ServedPreset;
  /** Whether schemas are offered in the strict form. */
  readonly strictSchemas: boolean;
  /** Whether a client's roots take the place of the directories. */
  readonly followsRoots: boolean;
  dirs(): readonly string[];
  /** The workspace; undefined where no directory is allowed. */
  room(): Promise<Room | undefined>;
  /** The tools, whatever directories there are. */
  offered(): Promise<readonly ToolDefinition[]>;
  /** Other directories from now on. Calls that run go on in the old workspace. */
  replace(dirs: readonly string[]): void;
  /** Whether the server ends: no call may begin. */
  isDraining(): boolean;
  /** Lets no further call begin. Resolves once none runs, in whichever workspace. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Opens workspaces on the local disk. */
export function localHost(first: readonly string[], options: HostOptions): Host {
  let dirs = first;
  let opened: Promise<Room> | undefined;
  let isDraining = false;
  /** Every workspace that was opened: calls may still run in one whose directories were replaced. */
  const rooms: Promise<Room>[] = [];
  const everyRoom = async (end: (room: Room) => Promise<void>): Promise<void> => {
    await Promise.all(rooms.map((opening) => opening.then(end, () => {})));
  };
  return {
    preset: options.preset,
    strictSchemas: options.strictSchemas === true,
    followsRoots: options.keepsRoots !== true,
    dirs: () => dirs,
    room() {
      if (dirs.length === 0) return Promise.resolve(undefined);
      if (opened === undefined) {
        opened = open(dirs, options);
        rooms.push(opened);
      }
      return opened;
    },
    async offered() {
      const { openWorkspace, MemoryBackend } = await import("./engine.ts");
      const { preset, findFiles } = common(options);
      const ws = await openWorkspace({
        preset,
        findFiles,
        readOnly: isReadOnly(options),
        backend: new MemoryBackend(),
        root: "/none",
      });
      return (await toolsIn(ws, options)).listed;
    },
    replace(next) {
      if (options.keepsRoots === true || JSON.stringify(next) === JSON.stringify(dirs)) return;
      dirs = next;
      opened = undefined;
    },
    isDraining: () => isDraining,
    drain() {
      isDraining = true;
      return everyRoom(({ ws }) => ws.drain());
    },
    close: () => everyRoom(({ ws }) => ws.close()),
  };
}

/** The host of a workspace that somebody else opened, and will close. */
export function hostOf(ws: Workspace, preset: PresetName, tools: readonly ToolDefinition[]): Host {
  const room = roomOf(ws, tools, tools);
  return {
    preset,
    strictSchemas: false,
    followsRoots: false,
    dirs: () => [],
    room: () => room,
    offered: async () => tools,
    replace: () => {},
    isDraining: () => false,
    drain: () => ws.drain(),
    close: () => Promise.resolve(),
  };
}

async function open(dirs: readonly string[], options: HostOptions): Promise<Room> {
  growAsUsual();
  const { openWorkspace, describeRecovery, auditFile } = await import("./engine.ts");
  const { workspace = {}, readOnlyDirs = [], confirm, stateDir, audit } = options;
  const log = audit === undefined ? undefined : await auditFile(audit);
  // What the server looks up for itself is no call of a client.
  let isServing = false;
  const ws = await openWorkspace({
    ...workspace,
    ...common(options),
    roots: dirs.map((path) => ({ path, access: readOnlyDirs.includes(path) ? "read" : "write" })),
    ...(confirm === undefined ? {} : { confirm, requireApproval: true }),
    ...(stateDir === undefined ? {} : { stateDir }),
    ...(log === undefined ? {} : { observers: [{ ...log, end: (call) => isServing && log.end?.(call) }] }),
  });
  const recovered = describeRecovery(ws.recovery);
  // Standard output belongs to the protocol.
  if (recovered !== undefined) process.stderr.write(`filewright: ${recovered}\n`);
  const { answered, listed } = await toolsIn(ws, options);
  const room = await roomOf(ws, answered, listed);
  isServing = true;
  options.onOpen?.(room);
  return room;
}

/** The tools that a workspace answers here, and those of them that are listed. */
async function toolsIn(
  ws: Workspace,
  { preset, tools }: HostOptions,
): Promise<Record<"answered" | "listed", readonly ToolDefinition[]>> {
  if (preset !== "lean") {
    if (tools === undefined) return { answered: ws.tools, listed: ws.tools };
    const { chosenTools } = await import("./tool-list.ts");
    const usual = ws.tools.map(({ name }) => name);
    const listed = chosenTools(ws.tools, tools, usual);
    return { answered: listed, listed };
  }
  const { ANSWERED_NAMES, LEAN_TOOLS, leanPreset, chosenTools, toolsFor } = await import("./lean-tools.ts");
  const commands = ws.tools.filter(({ name }) => name === "run_command");
  const ours = (offered?: readonly string[]): readonly ToolDefinition[] =>
    [...toolsFor(ws, leanPreset(offered)), ...commands].filter(({ name }) => !ANSWERED_NAMES.includes(name));
  const usual = [...LEAN_TOOLS, ...commands.map(({ name }) => name)];
  const listed = chosenTools(ours(), tools, usual);
  const offered = listed.map(({ name }) => name);
  const again = ours(offered).filter(({ name }) => offered.includes(name));
  // Who chooses tools means those and no others.
  if (tools !== undefined) return { answered: again, listed: again };
  const theirs = toolsFor(ws, leanPreset(offered)).filter(({ name }) => ANSWERED_NAMES.includes(name));
  return { answered: [...again, ...theirs], listed: again };
}

function isReadOnly({ readOnly, workspace = {} }: HostOptions): boolean {
  return readOnly === true || workspace.readOnly === true || workspace.access?.readOnly === true;
}

function common(options: HostOptions): WorkspaceOptions {
  return {
    preset: options.preset === "lean" ? "canonical" : options.preset,
    findFiles: options.workspace?.findFiles ?? true,
    ...(options.preset === "lean" ? { guard: options.workspace?.guard ?? "refuse" } : {}),
    ...(isReadOnly(options) ? { readOnly: true } : {}),
  };
}

async function roomOf(
  ws: Workspace,
  tools: readonly ToolDefinition[],
  listed: readonly ToolDefinition[],
): Promise<Room> {
  const { cwd, read_roots: read, write_roots: write } = await ws.accessInfo({});
  const roots = [...new Set([cwd, ...(read ?? []), ...write])];
  return { ws, tools: new Map(tools.map((tool) => [tool.name, tool])), listed, cwd, roots };
}
