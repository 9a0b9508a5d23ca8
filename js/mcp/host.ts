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

/** A workspace with what a server needs to know of it. */
export interface Room {
  readonly ws: Workspace;
  /** The tools by their names, in the order of the list. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** What relative paths begin at: the first directory, where it really is. */
  readonly cwd: string;
  /** All directories, where they really are. */
  readonly roots: readonly string[];
}

/** How a workspace is opened for a server. */
export interface HostOptions {
  readonly preset: PresetName;
  readonly readOnly?: boolean | undefined;
  /** Asked before every change; see `approvals.ts`. */
  readonly confirm?: Confirm | undefined;
  /** Where locks and the history are kept. */
  readonly stateDir?: string | undefined;
}

/** The directories of a server and the workspace over them. */
export interface Host {
  readonly preset: PresetName;
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
      const ws = await openWorkspace({ ...common(options), backend: new MemoryBackend(), root: "/none" });
      return ws.tools;
    },
    replace(next) {
      if (JSON.stringify(next) === JSON.stringify(dirs)) return;
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
  const room = roomOf(ws, tools);
  return {
    preset,
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
  const { openWorkspace, describeRecovery } = await import("./engine.ts");
  const ws = await openWorkspace({
    ...common(options),
    roots: dirs,
    ...(options.confirm === undefined ? {} : { confirm: options.confirm, requireApproval: true }),
    ...(options.stateDir === undefined ? {} : { stateDir: options.stateDir }),
  });
  const recovered = describeRecovery(ws.recovery);
  // Standard output belongs to the protocol.
  if (recovered !== undefined) process.stderr.write(`filewright: ${recovered}\n`);
  return roomOf(ws, ws.tools);
}

function common({ preset, readOnly }: HostOptions): WorkspaceOptions {
  return { preset, findFiles: true, ...(readOnly === true ? { access: { readOnly } } : {}) };
}

async function roomOf(ws: Workspace, tools: readonly ToolDefinition[]): Promise<Room> {
  const { cwd, read_roots: read, write_roots: write } = await ws.accessInfo({});
  const roots = [...new Set([cwd, ...(read ?? []), ...write])];
  return { ws, tools: new Map(tools.map((tool) => [tool.name, tool])), cwd, roots };
}
