/** The methods of a workspace about what it may do: its policy, approvals and grants, locks, and why a call is refused. */
import type { SandboxPolicy } from "../backends/policy.ts";
import { lazily } from "../engine/lazy.ts";
import { displayPath } from "../backends/windows-paths.ts";
import { lockPathsOfCall } from "../pipeline/path-locks.ts";
import { summarizePolicy } from "../pipeline/policy-summary.ts";
import { errorOfData, unknownToolFailure } from "../pipeline/result.ts";
import type { Session } from "../pipeline/session.ts";
import { makePermissions, type Permissions } from "../policy/index.ts";
import { memoryRecords } from "../records/memory.ts";
import { optionChecker, type Options, options, signalOption } from "../schema/option.ts";
import type { AnyTool } from "../tools/lib/tool.ts";
import type { Entrance } from "./entrance.ts";
import type { OwnTools } from "./own-tools.ts";
import type { Workspace, WorkspaceGrants, WorkspaceLockOptions } from "./types.ts";

const why = lazily("the reasons of decisions", () => import("../pipeline/why.ts"));

/**
 * The options of `ws.lock`.
 *
 * @printed
 */
export const LOCK_OPTIONS: Options<WorkspaceLockOptions> = options("WorkspaceLockOptions", {
  signal: signalOption,
});

const checkLockOptions = optionChecker("lock", LOCK_OPTIONS);

/** The methods of a workspace about what it may do. */
export type AccessMethods = Pick<Workspace, "approvals" | "grants" | "lock" | "policy" | "why">;

/** Makes the methods about what a workspace may do. */
export function makeAccessMethods(
  session: Session,
  { assertOpen }: Entrance,
  byName: OwnTools["byName"],
): AccessMethods {
  const { approvals, permissions } = session.gates;
  const { fs, resolver } = session.files;
  const { list, revoke, restore, wouldHaveCovered } = approvals;
  return {
    approvals: Object.freeze({ list, revoke, restore, wouldHaveCovered }),
    grants: workspaceGrantsOf(
      permissions ?? makePermissions({ mode: "off", records: memoryRecords() }),
      resolver.policy.paths,
    ),
    async lock(path, given = {}) {
      assertOpen();
      const { signal } = checkLockOptions(given);
      const location = resolver.resolve(path, "write");
      const use = { argument: "path", typed: path, intent: "write", missing: "accept" } as const;
      return { release: await lockPathsOfCall(session, [use], { fs, locations: [location], signal }) };
    },
    policy() {
      assertOpen();
      return summarizePolicy(session);
    },
    async why(given) {
      assertOpen();
      const { checkWhyQuestion, explainDecision } = await why();
      const question = checkWhyQuestion(given);
      const tool = byName.get(question.tool);
      if (tool !== undefined) return explainDecision(session, tool as unknown as AnyTool, question);
      throw errorOfData(unknownToolFailure(question.tool, byName.keys()).error);
    },
  };
}

function workspaceGrantsOf(
  { list, add, revoke }: Permissions,
  paths: SandboxPolicy["paths"],
): WorkspaceGrants {
  const shown = async () => (await list()).map((grant) => ({ ...grant, dir: displayPath(grant.dir, paths) }));
  return Object.freeze({ list: paths === undefined ? list : shown, add, revoke });
}
