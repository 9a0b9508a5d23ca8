/** The data of the screen "Policy" and its server. There is no code here. */

import type { ApprovalScope } from "../hooks/scope/scope.ts";

/** A gate of a call, as in `ws.why`, with its remedy. */
export interface ExplainedGate {
  readonly gate: string;
  readonly verdict: "passes" | "allows" | "asks" | "stops" | "depends" | "not reached";
  /** The reason in a sentence. */
  readonly because?: string;
  /** The options that configure it. */
  readonly configured: string;
  /** The change of the configuration that leads to another verdict, as a sentence. */
  readonly remedy?: string;
  /** The directories and secrets that can be granted. */
  readonly missing?: readonly { readonly dir: string; readonly access: "read" | "write" }[];
}

/** The answer of `GET /review/why`. */
export interface ExplainedCall {
  readonly tool: string;
  /** The path, as the caller wrote it. */
  readonly path: string;
  readonly agent?: string;
  /** Every gate in the order in which calls pass them. */
  readonly gates: readonly ExplainedGate[];
}

/** The body of `POST /review/grants`. */
export interface NewGrant {
  /** The absolute path of the directory, or of a secret. */
  readonly dir: string;
  readonly access: "read" | "write";
  /** The minutes after which the grant ends. Default: it lasts until it is revoked. */
  readonly minutes?: number | undefined;
}

/** A grant in force. */
export interface ShownGrant {
  readonly dir: string;
  readonly access: "read" | "write";
  /** Times in ISO 8601. */
  readonly granted_at: string;
  readonly expires?: string;
  readonly by?: string;
}

/** An approval that lasts beyond its call. */
export interface ShownApproval {
  readonly id: string;
  /** The calls that it covers, in words. */
  readonly covers: string;
  /** The calls that it covers. Its `until` is its end: `turn`, `session`, `kept` or a time. */
  readonly scope: ApprovalScope;
  /** Times in ISO 8601. */
  readonly granted_at: string;
  readonly expires?: string;
  readonly by?: string;
}

/** The answer of `GET /review/policy`. */
export interface ShownPolicy {
  readonly policy: {
    readonly cwd: string;
    /** Null when everything may be read. */
    readonly read: readonly string[] | null;
    readonly write: readonly string[];
    readonly deny: readonly string[];
    readonly readOnly: boolean;
    readonly followSymlinks: "inside" | "never" | "any";
    readonly protect: boolean;
    readonly secrets: "grant" | "allow";
    readonly permissions: "off" | "prompt";
    readonly guard: "off" | "warn" | "refuse";
    readonly decidedBy: readonly string[];
    readonly rules: readonly {
      /** 0 for the rules of the workspace, 1 and more for those of its agents. */
      readonly list: number;
      readonly index: number;
      readonly tool: string;
      readonly path?: string;
      readonly args?: string;
      readonly decision: "allow" | "review" | "deny" | "ask";
      /** The number of calls that it has decided about. */
      readonly hits: number;
    }[];
  };
  /** The names of the tools, for questions about a call. */
  readonly tools: readonly string[];
  readonly grants: readonly ShownGrant[];
  readonly approvals: readonly ShownApproval[];
}
