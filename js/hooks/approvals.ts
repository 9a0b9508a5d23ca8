/**
 * What a session was told to stop asking about: how far each approval reaches,
 * until when, and how it is taken back.
 */
import type { Decision } from "../access/rules.ts";
import { escapeControls } from "../engine/escape.ts";
import { type Confirm, type ConfirmReply, denied, type Outcome, type Scope } from "./confirm.ts";

/** An approval that lasts beyond its call. */
export interface Approval {
  /** What `revoke` takes. */
  readonly id: string;
  /** What it allows. */
  readonly outcome: "proceed_always" | "proceed_always_tool" | "proceed_always_server";
  /** Absent where every tool is meant. */
  readonly tool?: string;
  /** The roots it holds below; absent where it holds everywhere. */
  readonly roots?: readonly string[];
  /** The same in words. */
  readonly label: string;
  /** ISO 8601. */
  readonly granted_at: string;
  /** ISO 8601; absent where it holds until the workspace is closed. */
  readonly expires?: string;
  /** Who gave it. */
  readonly by?: string;
}

/** What a session was told to stop asking about. */
export interface Approvals {
  /** Whether nobody need be asked about a tool on paths below these roots. */
  covers(tool: string, roots: readonly string[]): boolean;
  /** Keeps an answer that lasts; undefined for one that does not. */
  remember(reply: ConfirmReply, tool: string, roots: readonly string[]): Approval | undefined;
  /** The approvals in force. */
  list(): readonly Approval[];
  /** Takes one back, for calls that begin from now on. */
  revoke(id: string): boolean;
}

/** Makes an empty memory of approvals. `now`: milliseconds since 1970. */
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
        label: labelOf(outcome, tool, roots),
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

/** Every outcome there is to choose from, with what it would allow. */
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
    scopes.map((outcome) => Object.freeze({ outcome, label: labelOf(outcome, tool, roots) })),
  );
}

function labelOf(outcome: Outcome, tool: string, roots: readonly string[]): string {
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

/** Whether somebody must be asked. @throws FilewrightError APPROVAL_DENIED where nobody can be */
export function mustAsk(
  decision: Decision,
  confirm: Confirm | undefined,
  approvals: Approvals,
  tool: string,
  roots: readonly string[],
): boolean {
  if (decision === "allow") return false;
  if (decision === "deny") throw denied(`A rule forbids ${tool} here.`);
  if (approvals.covers(tool, roots)) return false;
  if (confirm === undefined) throw denied(`${tool} needs an approval here, and there is nobody to ask.`);
  return true;
}
