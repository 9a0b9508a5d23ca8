/** The workspace for its users: `call`, the tools, and a method for each tool. */
import type { SandboxPolicy } from "../backends/policy.ts";
import { FilewrightError } from "../engine/errors.ts";
import { lazily } from "../engine/lazy.ts";
import { makeRootLookup, ROOT_LOOKUP } from "../pipeline/paths/first-root.ts";
import { type CallGate, makeCallGate } from "../pipeline/scheduling/admission.ts";
import type { Session } from "../pipeline/session.ts";
import { type Preset, type PresetName, presetOf } from "../presets/index.ts";
import { makeAccessMethods } from "./access-methods.ts";
import { makeAgentSession } from "./agents.ts";
import { makeEntrance } from "./entrance.ts";
import type { Forks } from "./forks/forks.ts";
import type { WorkspaceMethods } from "./forks/workspace.ts";
import { assertWorkspace } from "./given-workspace.ts";
import { makeOwnTools } from "./own-tools.ts";
import { makePastMethods } from "./past-methods.ts";
import { presetTools, type PresetTools, type ToolDefinition } from "./preset-tools.ts";
import type { ToolMethods } from "./generated/tool-methods.ts";
import type { AgentWorkspace, Capabilities, Workspace } from "./types.ts";
import { TOOL_FOR_ACCESS } from "../schema/tool-facts.ts";

const forking = lazily("forks", () => import("./forks/index.ts"));

/** The workspace to which an agent's or a fork's belongs, whose hooks and observers it shares. */
interface WorkspaceAbove {
  readonly gate: CallGate;
  readonly kind: "agent" | "fork";
  /** Returns further methods. */
  readonly extend?: (methods: WorkspaceMethods) => object;
}

/** Creates a workspace on its shared state. */
export function makeWorkspace(
  session: Session,
  preset: Preset | undefined,
  capabilities: Capabilities,
  above?: WorkspaceAbove,
): Workspace {
  const gate = makeCallGate(above?.gate);
  const entrance = makeEntrance(session, gate);
  const { assertOpen, assertAdmitted } = entrance;
  const own = makeOwnTools(session, entrance);
  const listOf = (other: Preset): PresetTools => presetTools(session, other, entrance);
  const { call, tools } = preset === undefined ? { call: own.call, tools: own.definitions } : listOf(preset);
  const openForks = new Set<Workspace>();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll(session, openForks, above === undefined));
  const assertForkable = (): void => {
    assertOpen();
    assertAdmitted();
  };
  let forks: Forks | undefined;
  const base: Omit<Workspace, keyof ToolMethods> = {
    call: call as Workspace["call"],
    tools,
    fs: session.files.fs,
    capabilities: () => capabilities,
    recovery: capabilities.recovery,
    ...makeAccessMethods(session, entrance, own.byName),
    ...makePastMethods(session, entrance),
    async agent(name, options = {}) {
      assertOpen();
      const its = await makeAgentSession(session, name, options);
      const other = options.preset === undefined ? preset : presetOf(options.preset);
      return makeWorkspace(its, other, capabilities, { gate, kind: "agent" }) as AgentWorkspace;
    },
    async fork(name, options) {
      assertForkable();
      const { makeForks, makeForkWorkspace } = await forking();
      forks ??= makeForks({ session, assertOpen: assertForkable, run: gate.run });
      const opened = await forks.open(name, options);
      return makeForkWorkspace(opened, {
        parent: capabilities,
        siblings: openForks,
        make: (its, found, extend) => makeWorkspace(its, preset, found, { gate, kind: "fork", extend }),
      });
    },
    drain: gate.drain,
    close,
    [Symbol.asyncDispose]: close,
  };
  const spent = above?.kind === "agent" ? { spent: async () => session.scheduling.budget?.spent() } : {};
  const more = above?.extend?.({ close, tools: own.methods }) ?? {};
  const ws = Object.assign(base, own.methods, spent, more);
  const list: ListOfPreset = (other) => (other === undefined ? own.definitions : listOf(other).tools);
  addHiddenMembers(ws, session, list);
  return Object.freeze(ws) as unknown as Workspace;
}

/** Closes a workspace, its forks first. `isLast` is false where the workspace above it is still in use. */
async function closeAll(session: Session, forks: Iterable<Workspace>, isLast: boolean): Promise<void> {
  await Promise.all([...forks].map((fork) => fork.close()));
  await session.scheduling.running.close();
  await session.past.rollbacks.settled();
  await session.files.release();
  if (!isLast) return;
  await session.past.reads.close();
  for (const observer of session.observers.all) await observer.close?.();
}

/** Adds what only other parts of Filewright ask a workspace for. */
function addHiddenMembers(ws: object, session: Session, list: ListOfPreset): void {
  const logging = session.observers.all.find(({ exportLog }) => exportLog !== undefined);
  Object.defineProperty(ws, toolsByPreset, { value: list });
  Object.defineProperty(ws, AUDIT_LOG, { value: logging?.exportLog?.bind(logging) });
  Object.defineProperty(ws, POLICY, { value: session.files.resolver.policy });
  Object.defineProperty(ws, ROOT_LOOKUP, { value: makeRootLookup(session, TOOL_FOR_ACCESS.look) });
}

/** Returns the tools of a workspace under the names of a preset. */
type ListOfPreset = (preset: Preset | undefined) => readonly ToolDefinition[];

/**
 * The key under which a workspace holds its {@link ListOfPreset}. A WeakMap would keep its values until a full
 * garbage collection, long after the workspace is closed.
 */
const toolsByPreset: unique symbol = Symbol("tools of a preset");

/**
 * Returns the tools of a workspace under the names, parameters and texts of a preset, whatever preset it
 * was opened with. They share its roots, rules, hooks and locks.
 *
 * @example
 * const tools = toolsFor(ws, "gemini"); // [{ name: "write_file", inputSchema, execute, … }, …]
 *
 * @throws FilewrightError INVALID_ARGUMENT for an unknown preset
 */
export function toolsFor(ws: Workspace, preset: PresetName | Preset): readonly ToolDefinition[] {
  assertWorkspace("toolsFor", ws);
  const list = (ws as { readonly [toolsByPreset]?: ListOfPreset })[toolsByPreset];
  if (list === undefined) throw new FilewrightError("INVALID_ARGUMENT", "this is no workspace of Filewright");
  return list(presetOf(preset));
}

/** The key under which a workspace holds its policy, for servers, which tell it to their own clients. */
const POLICY: unique symbol = Symbol("policy");

/** Returns the policy of a workspace. */
export function policyOfWorkspace(ws: Workspace): SandboxPolicy {
  return (ws as unknown as { readonly [POLICY]: SandboxPolicy })[POLICY];
}

/** The key under which a workspace holds the function that reads its audit log. */
const AUDIT_LOG: unique symbol = Symbol("audit log");

/** Returns the function that reads the audit log of a workspace; undefined where it keeps none. */
export function auditLogOfWorkspace(ws: Workspace): (() => AsyncIterable<Uint8Array>) | undefined {
  return (ws as unknown as { readonly [AUDIT_LOG]?: () => AsyncIterable<Uint8Array> })[AUDIT_LOG];
}
