/** What all calls of one workspace share. Made once, by `openWorkspace`. */
import type { Permissions, Resolver } from "../access/index.ts";
import type { Durability, FsBackend } from "../backends/backend.ts";
import type { Hook } from "../hooks/hook.ts";
import type { Readers } from "../readers/index.ts";
import type { Limits } from "../tools/limits.ts";
import type { AccessSummary } from "../tools/tool.ts";
import type { Approvals, Confirm } from "./confirm.ts";
import type { Locker } from "./locks.ts";
import type { Rules } from "./rules.ts";

/** What all calls of one workspace share. */
export interface Session {
  /** Confined: refuses whatever the policy does not allow. */
  readonly fs: FsBackend;
  readonly resolver: Resolver;
  readonly limits: Limits;
  readonly durability: Durability;
  readonly access: AccessSummary;
  /** Undefined where no directory has to be granted. */
  readonly permissions: Permissions | undefined;
  readonly hooks: readonly Hook[];
  /** Told what an `after` hook threw; nothing else is done about it. */
  readonly onHookError: ((error: unknown) => void) | undefined;
  readonly rules: Rules;
  /** What happens to a change that no rule speaks of. */
  readonly byDefault: "allow" | "ask";
  readonly confirm: Confirm | undefined;
  readonly approvals: Approvals;
  readonly locker: Locker;
  /** Render files that are not plain text. */
  readonly readers: Readers;
}
