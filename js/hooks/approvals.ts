/** The approvals of a session: their scope, their expiry, and their revocation. */
import type { DecisionSource, Verdict } from "../policy/decide.ts";
import type { MaybePromise } from "../backends/backend.ts";
import { escapeControls } from "../engine/escape.ts";
import { callback, instance, integer, type Options, required } from "../schema/option.ts";
import { type Confirm, type ConfirmReply, denied, type Outcome, type Scope } from "./confirm.ts";

/** An approval that lasts beyond its call. */
export interface Approval {
  /** The id that `revoke` takes. */
  readonly id: string;
  /** The outcome that it allows. */
  readonly outcome: "proceed_always" | "proceed_always_tool" | "proceed_always_server";
  /** Absent when it covers every tool. */
  readonly tool?: string;
  /** The roots below which it applies; absent when it applies everywhere. */
  readonly roots?: readonly string[];
  /** A description of the scope. */
  readonly label: string;
  /** When it was given, in ISO 8601. */
  readonly granted_at: string;
  /** When it ends, in ISO 8601; absent when it lasts until the workspace is closed. */
  readonly expires?: string;
  /** The person who gave it. */
  readonly by?: string;
}

/**
 * A store of lasting approvals, which several processes may share. Each agent of a workspace has its own list; that
 * of the workspace itself is the one of the agent `""`.
 */
export interface ApprovalStore {
  /**
   * The time after which an approval ends unless its reviewer has named an earlier one, in milliseconds. Reviewers
   * are told it. Default: when the workspace is closed.
   */
  readonly lastsMs?: number | undefined;
  /** Returns the approvals of an agent, the oldest first; those that have ended may be among them. */
  list(agent: string): MaybePromise<readonly Approval[]>;
  /** Stores an approval, and keeps those that other processes have stored meanwhile. */
  add(agent: string, approval: Approval): MaybePromise<void>;
  /** Removes an approval. Returns false if there is none with this id. */
  remove(agent: string, id: string): MaybePromise<boolean>;
}

/** The description of a store of approvals: any object with these methods. */
export const APPROVAL_STORE: Options<ApprovalStore> = instance<ApprovalStore>(
  "ApprovalStore",
  "a store of approvals",
  {
    lastsMs: integer(1),
    list: required(callback()),
    add: required(callback()),
    remove: required(callback()),
  },
);

/** Creates a store of approvals in memory, for workspaces of one process. */
export function memoryApprovals(): ApprovalStore {
  const kept = new Map<string, readonly Approval[]>();
  const list = (agent: string): readonly Approval[] => kept.get(agent) ?? [];
  return Object.freeze({
    list,
    add: (agent: string, approval: Approval) => void kept.set(agent, [...list(agent), approval]),
    remove(agent: string, id: string): boolean {
      const [before, after] = [list(agent), list(agent).filter((one) => one.id !== id)];
      kept.set(agent, after);
      return after.length < before.length;
    },
  });
}

/** The lasting approvals of an agent, as they were when they were read last. */
export interface Approvals {
  /** The time at which an approval ends that names none, for the question to a reviewer. */
  readonly until: string;
  /**
   * Reads what other processes have approved or revoked. Called before a decision that an approval may change;
   * undefined when no other process can.
   */
  readonly refresh: (() => Promise<void>) | undefined;
  /** Returns true when a lasting approval covers a tool on paths below these roots. */
  covers(tool: string, roots: readonly string[]): boolean;
  /** Stores the approval of an answer that covers later calls too; returns undefined for any other answer. */
  remember(reply: ConfirmReply, tool: string, roots: readonly string[]): Promise<Approval | undefined>;
  /** Returns the approvals that have not ended. */
  list(): Promise<readonly Approval[]>;
  /** Revokes an approval for later calls. Returns false if there is none with this id. */
  revoke(id: string): Promise<boolean>;
}

/** The store of the approvals of one agent. */
export interface StoredApprovals {
  /** The store. */
  readonly store: ApprovalStore;
  /** The agent whose approvals they are. Default: the workspace itself, `""`. */
  readonly agent?: string | undefined;
}

/**
 * Creates the approvals of an agent: an empty list in memory, or those of a store. `now` returns milliseconds since
 * 1970.
 */
export function makeApprovals(now: () => number = Date.now, stored?: StoredApprovals): Approvals {
  const { store = memoryApprovals(), agent = "" } = stored ?? {};
  const { lastsMs } = store;
  const until =
    lastsMs === undefined
      ? "until this workspace is closed"
      : `for ${phraseOfDuration(lastsMs)}, at every replica`;
  let kept: readonly Approval[] = [];
  const inForce = (): readonly Approval[] =>
    kept.filter(({ expires }) => expires === undefined || Date.parse(expires) > now());
  const refresh = async (): Promise<void> => {
    kept = await store.list(agent);
  };
  return Object.freeze({
    until,
    refresh: stored === undefined ? undefined : refresh,
    covers: (tool: string, roots: readonly string[]) =>
      kept.length > 0 &&
      inForce().some(
        (one) =>
          (one.tool === undefined || one.tool === tool) &&
          (one.roots === undefined || roots.every((root) => one.roots?.includes(root))),
      ),
    async remember(
      { outcome, payload }: ConfirmReply,
      tool: string,
      roots: readonly string[],
    ): Promise<Approval | undefined> {
      if (outcome === "proceed_once" || outcome === "modify_with_editor" || outcome === "cancel")
        return undefined;
      const ends = Math.min(payload?.expires?.getTime() ?? Infinity, now() + (lastsMs ?? Infinity));
      const approval: Approval = Object.freeze({
        id: `approval-${crypto.randomUUID()}`,
        outcome,
        ...(outcome === "proceed_always_server" ? {} : { tool }),
        ...(outcome === "proceed_always" ? { roots: Object.freeze([...roots]) } : {}),
        label: scopeLabel(outcome, tool, roots, until),
        granted_at: new Date(now()).toISOString(),
        ...(ends === Infinity ? {} : { expires: new Date(ends).toISOString() }),
        ...(payload?.by === undefined ? {} : { by: payload.by }),
      });
      await store.add(agent, approval);
      await refresh();
      return approval;
    },
    async list() {
      await refresh();
      return inForce();
    },
    async revoke(id: string) {
      const removed = await store.remove(agent, id);
      await refresh();
      return removed;
    },
  });
}

/** Returns a duration in words, in the largest unit that it has a whole number of. */
function phraseOfDuration(ms: number): string {
  const units = [
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const;
  const [unit, size] = units.find(([, of]) => ms >= of && ms % of === 0) ?? ["second", 1000];
  const count = Math.max(1, Math.round(ms / size));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/**
 * Returns every outcome that a reviewer may choose, with a description. `editable` adds a changed content; `until` is
 * that of the {@link Approvals} that would store a lasting one.
 */
export function scopesOf(
  tool: string,
  roots: readonly string[],
  editable: boolean,
  until: string,
): readonly Scope[] {
  const scopes: Outcome[] = [
    "proceed_once",
    "proceed_always",
    "proceed_always_tool",
    "proceed_always_server",
    ...(editable ? (["modify_with_editor"] as const) : []),
    "cancel",
  ];
  return Object.freeze(
    scopes.map((outcome) => Object.freeze({ outcome, label: scopeLabel(outcome, tool, roots, until) })),
  );
}

/** Returns the description of an outcome for a reviewer. */
function scopeLabel(outcome: Outcome, tool: string, roots: readonly string[], until: string): string {
  switch (outcome) {
    case "proceed_once":
      return "this call only";
    case "proceed_always":
      return `${tool} below ${roots.map(escapeControls).join(" and ")}, ${until}`;
    case "proceed_always_tool":
      return `${tool} on every path of this workspace, ${until}`;
    case "proceed_always_server":
      return `every tool on every path of this workspace, ${until}`;
    case "modify_with_editor":
      return "change the content first";
    case "cancel":
      return "refuse";
  }
}

/**
 * Creates the source for lasting approvals. It allows a call that would be asked about if an approval covers it.
 * Without `roots` in the facts of the call, no approval covers it.
 */
export function approvalsSource(approvals: Approvals, isInForce = true): DecisionSource {
  const name = "approvals";
  return {
    name,
    isInForce,
    decide: ({ tool, roots }, before) =>
      before?.decision === "ask" && roots !== undefined && approvals.covers(tool, roots)
        ? { decision: "allow", source: name }
        : undefined,
  };
}

/** Creates the source that denies a call which needs an approval when nobody can be asked. */
export function approverSource(confirm: Confirm | undefined, isInForce = true): DecisionSource {
  const name = "approver";
  return {
    name,
    isInForce,
    decide({ tool }, before) {
      if (before?.decision !== "ask" || confirm !== undefined) return undefined;
      const reason = `${tool} needs an approval here, and there is nobody to ask.`;
      return { decision: "deny", source: name, reason };
    },
  };
}

/**
 * Returns true when a call needs an approval.
 * @throws FilewrightError for a denial: that of its source, or APPROVAL_DENIED
 */
export function mustAsk(verdict: Verdict): boolean {
  if (verdict.decision === "deny") throw verdict.error ?? denied(verdict.reason);
  return verdict.decision === "ask";
}
