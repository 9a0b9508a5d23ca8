/**
 * The facts of one call, in their order. The stages tell them; the metadata of the answer, the debug line, after hooks and
 * observers read them.
 */
import type { Files } from "../backends/files.ts";
import type { AllowedBy } from "../backends/transaction/step.ts";
import type { CallEffect, CallEnd } from "../hooks/observer.ts";
import type { Location } from "../policy/index.ts";
import type { CanonicalCall } from "../presets/preset.ts";
import type { Arguments } from "../tools/lib/schema.ts";
import type { AnyTool, PathUse } from "../tools/lib/tool.ts";
import type { HookedCall } from "./after-hooks.ts";
import type { MetaApproval } from "./result.ts";

/** What a call waits for. */
type WaitReason = "slot" | "scan" | "lock";

/** One thing that happened in a call. */
export type Fact =
  /** The call is one of this tool. `callId` is its id in the history; empty for a call that only reads. */
  | {
      readonly what: "meant";
      readonly tool: AnyTool;
      readonly meant: CanonicalCall | undefined;
      /** The arguments before they are checked, with their canonical names. */
      readonly raw: Arguments;
      readonly callId: string;
    }
  /** The arguments name these paths. Both lists grow while the paths are resolved. */
  | {
      readonly what: "located";
      readonly args: object;
      readonly uses: readonly PathUse[];
      readonly locations: readonly Location[];
    }
  /** The call sees a shared storage as of this version. */
  | { readonly what: "version"; readonly version: string }
  /** The call reads this storage, which lacks what the rules hide from it. */
  | { readonly what: "sees"; readonly fs: Files }
  | { readonly what: "waited"; readonly reason: WaitReason; readonly ms: number }
  /** The tool has run; told where a workspace has hooks. */
  | { readonly what: "ran"; readonly call: HookedCall }
  /** What changed, and why it was allowed; undefined where nobody asks for it. */
  | {
      readonly what: "changed";
      readonly effects: readonly CallEffect[] | undefined;
      readonly allowedBy: readonly AllowedBy[] | undefined;
    }
  /** A reviewer has approved what was changed, if need be after a change of his own. `note` says what he left out. */
  | {
      readonly what: "reviewed";
      readonly approval: MetaApproval;
      readonly isModified: boolean;
      readonly note: string | undefined;
    }
  /** The call failed. `by` is the answer of the reviewer who refused it; undefined for every other failure. */
  | { readonly what: "failed"; readonly by: CallEnd["approval"] }
  /** A host has undone this call. */
  | { readonly what: "undid"; readonly call: string }
  /** A person has kept calls, which changed these absolute paths. */
  | {
      readonly what: "kept";
      readonly calls: readonly string[];
      readonly by: string | undefined;
      readonly paths: readonly string[];
    };

/** The facts of one call. */
export class Facts {
  /** When the call began, as `performance.now()` counts. */
  readonly started: number = performance.now();
  readonly #told: Fact[] = [];

  tell(fact: Fact): void {
    this.#told.push(fact);
  }

  /** Returns what was told last of one kind; undefined if nothing was. */
  last<What extends Fact["what"]>(what: What): Extract<Fact, { what: What }> | undefined {
    for (let at = this.#told.length - 1; at >= 0; at--) {
      const fact = this.#told[at] as Fact;
      if (fact.what === what) return fact as Extract<Fact, { what: What }>;
    }
    return undefined;
  }

  /** Returns the milliseconds for which the call waited for any of these; undefined where it did not. */
  waitedMs(...reasons: readonly WaitReason[]): number | undefined {
    let sum: number | undefined;
    for (const fact of this.#told)
      if (fact.what === "waited" && reasons.includes(fact.reason)) sum = (sum ?? 0) + fact.ms;
    return sum;
  }
}
