/** The approvals of a session: their scope, their expiry, and their revocation. */
import type { DecisionSource, Verdict } from "../policy/decide.ts";
import { escapeControls } from "../engine/escape.ts";
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

/** The lasting approvals of a session. */
export interface Approvals {
  /** Returns true when a lasting approval covers a tool on paths below these roots. */
  covers(tool: string, roots: readonly string[]): boolean;
  /** Stores the approval of an answer that covers later calls too; returns undefined for any other answer. */
  remember(reply: ConfirmReply, tool: string, roots: readonly string[]): Approval | undefined;
  /** Returns the approvals that have not ended. */
  list(): readonly Approval[];
  /** Revokes an approval for later calls. Returns false if there is none with this id. */
  revoke(id: string): boolean;
}

/** Creates an empty list of approvals. `now` returns milliseconds since 1970. */
export function makeApprovals(now: () => number = Date.now): Approvals {
  let kept: readonly Approval[] = [];
  let count = 0;
  const list = (): readonly Approval[] => {
    kept = kept.filter(({ expires }) => expires === undefined || Date.parse(expires) > now());
    return kept;
  };
  return Object.freeze({
    covers: (tool: string, roots: readonly string[]) =>
      kept.length > 0 &&
      list().some(
        (one) =>
          (one.tool === undefined || one.tool === tool) &&
          (one.roots === undefined || roots.every((root) => one.roots?.includes(root))),
      ),
    remember(
      { outcome, payload }: ConfirmReply,
      tool: string,
      roots: readonly string[],
    ): Approval | undefined {
      if (outcome === "proceed_once" || outcome === "modify_with_editor" || outcome === "cancel")
        return undefined;
      count += 1;
      const approval: Approval = Object.freeze({
        id: `approval-${count}`,
        outcome,
        ...(outcome === "proceed_always_server" ? {} : { tool }),
        ...(outcome === "proceed_always" ? { roots: Object.freeze([...roots]) } : {}),
        label: scopeLabel(outcome, tool, roots),
        granted_at: new Date(now()).toISOString(),
        ...(payload?.expires === undefined ? {} : { expires: payload.expires.toISOString() }),
        ...(payload?.by === undefined ? {} : { by: payload.by }),
      });
      kept = [...kept, approval];
      return approval;
    },
    list,
    revoke(id: string): boolean {
      const before = kept.length;
      kept = kept.filter((one) => one.id !== id);
      return kept.length < before;
    },
  });
}

/** Returns every outcome that a reviewer may choose, with a description. `editable` adds a changed content. */
export function scopesOf(tool: string, roots: readonly string[], editable: boolean): readonly Scope[] {
  const scopes: Outcome[] = [
    "proceed_once",
    "proceed_always",
    "proceed_always_tool",
    "proceed_always_server",
    ...(editable ? (["modify_with_editor"] as const) : []),
    "cancel",
  ];
  return Object.freeze(
    scopes.map((outcome) => Object.freeze({ outcome, label: scopeLabel(outcome, tool, roots) })),
  );
}

/** Returns the description of an outcome for a reviewer. */
function scopeLabel(outcome: Outcome, tool: string, roots: readonly string[]): string {
  const until = "until this workspace is closed";
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
