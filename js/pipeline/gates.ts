/** The gates of a call, as they are told to who asks why it is allowed or refused (`why.ts`). */
import type { Grant } from "../policy/index.ts";
import type { PathGate } from "../policy/resolve.ts";

/** The name of a gate: a check of the policy, or a source of decisions. */
export type GateName =
  | PathGate
  | "secret"
  | "hooks"
  | "rules"
  | "grants"
  | "default"
  | "places"
  | "approvals"
  | "approver"
  | "guard";

/** One gate of a call. */
export interface WhyGate {
  /** The name of the gate. */
  readonly gate: GateName;
  /**
   * `passes`: the gate changes nothing. `allows` and `asks`: it decides so. `stops`: the call is refused here. `depends`:
   * it decides by what is known only during the call. `not reached`: an earlier gate stopped the call.
   */
  readonly verdict: "passes" | "allows" | "asks" | "stops" | "depends" | "not reached";
  /** The reason, in one sentence; absent for a gate that changes nothing. */
  readonly because?: string;
  /** The options that configure the gate. */
  readonly configured: string;
  /** The directories and secrets that the gate `grants` misses and that `ws.grants.add` can grant; absent for none. */
  readonly missing?: readonly Pick<Grant, "dir" | "access">[];
}
