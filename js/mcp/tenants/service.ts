/**
 * Serves the workspaces of a storage. Nothing that another replica needs is kept in this process, so any of several
 * replicas answers any request.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { MaybePromise } from "../../backends/backend.ts";
import { observeStorage } from "../../storage/observe.ts";
import type { Storage } from "../../storage/storage.ts";
import {
  type ApprovalState,
  openApprovalState,
  openSharedApprovalState,
  SIGNING_KEY_VARIABLE,
} from "../protocol/approval-state.ts";
import { elicitApprovals } from "../protocol/approvals.ts";
import { localWorkspaceHost } from "../host.ts";
import type { Service, ServiceParts } from "../service.ts";
import type { StorageEngine, WorkspaceName, WorkspaceQuota } from "../storage/engine.ts";
import { openEngine } from "../storage/open-engine.ts";
import type { StorageTarget } from "../storage/url.ts";
import { makeMcpHandler } from "../transport/handler.ts";
import { hostDirectoriesAndOptions, type ServeOptions } from "../transport/stdio.ts";
import { makeCallQuota } from "./call-quota.ts";
import { type WorkspaceChoice, workspaceOfToken } from "./claims.ts";
import {
  MAX_IDLE_MS,
  MAX_OPEN_MS,
  MAX_OPEN_WORKSPACES,
  MAX_REQUESTS_OF_WORKSPACE,
  routeToWorkspaces,
  type ServedTenant,
} from "./router.ts";

/** The storage of a server. */
export interface ServedStorage {
  readonly target: StorageTarget;
  readonly choice: WorkspaceChoice;
  /** The number of requests that a workspace may make in a minute; undefined for no limit. */
  readonly callsPerMinute: number | undefined;
  /** The limits of each workspace that is opened, instead of those that it had; undefined to leave them. */
  readonly quota?: WorkspaceQuota | undefined;
}

/** The directory of a storage that is served. */
const ROOT = "/";

/** Connects to the storage, tries it, and opens its workspace where the server has only one. @throws FilewrightError */
export async function storageService(
  { target, choice, callsPerMinute, quota }: ServedStorage,
  options: ServeOptions,
  parts: ServiceParts,
): Promise<Service> {
  const first: WorkspaceName = { tenant: undefined, workspace: choice.workspace };
  const engine = await openEngine(target, first, process.env, quota);
  const hasTenants = choice.tenantClaim !== undefined;
  const open = (name: WorkspaceName): Promise<ServedTenant> =>
    openServed(engine, name, { options, parts, callsPerMinute, isTold: !hasTenants });
  const limits = {
    workspaces: hasTenants ? MAX_OPEN_WORKSPACES : 1,
    requests: hasTenants ? MAX_REQUESTS_OF_WORKSPACE : Number.POSITIVE_INFINITY,
    openMs: MAX_OPEN_MS,
    idleMs: hasTenants ? MAX_IDLE_MS : Number.POSITIVE_INFINITY,
  };
  const router = routeToWorkspaces<WorkspaceName>({
    name: (facts) => workspaceOfToken(choice, facts),
    key: ({ tenant = "", workspace }) => JSON.stringify([tenant, workspace]),
    open,
    // The engine's own rules for names.
    refusals: new Set(["INVALID_ARGUMENT"]),
    limits,
    onerror: parts.logError,
  });
  if (target.engine === "s3" && target.isPlain)
    parts.tell("Warning: contents are sent to the store without TLS", "warning");
  try {
    if (!hasTenants) await router.warm(first);
  } catch (error) {
    await engine.close();
    throw error;
  }
  const what = hasTenants ? "the workspaces that tokens name" : `workspace ${choice.workspace}`;
  return {
    handler: router,
    served: [`${what} in ${engine.shown}`],
    ping: engine.ping,
    drainCalls: () => router.drainCalls(),
    async close() {
      await router.close();
      await engine.close();
    },
  };
}

async function openServed(
  engine: StorageEngine,
  name: WorkspaceName,
  {
    options,
    parts: { observers, confirm, ending, tell, logError },
    callsPerMinute,
    isTold,
  }: {
    readonly options: ServeOptions;
    readonly parts: ServiceParts;
    readonly callsPerMinute: number | undefined;
    readonly isTold: boolean;
  },
): Promise<ServedTenant> {
  const storage = observeStorage(await engine.open(name), ...observers);
  const approvals = options.ask
    ? elicitApprovals({ lasting: false, state: await approvalStateOf(name, storage) })
    : undefined;
  const found = hostDirectoriesAndOptions(options, isTold ? tell : () => {}, confirm ?? approvals?.confirm);
  const host = localWorkspaceHost([ROOT], {
    ...found.host,
    keepsRoots: true,
    observers,
    workspace: withoutUndefined({
      ...options.workspace,
      storage,
      tenant: name.tenant ?? options.workspace?.tenant,
    }),
  });
  try {
    await host.workspace();
  } catch (error) {
    await storage.close();
    throw error;
  }
  const { structured, version } = options;
  const handler = makeMcpHandler({ host, structured, approvals, version, ending }, logError);
  const { records } = storage;
  return {
    handler,
    quota:
      callsPerMinute === undefined || records === undefined
        ? undefined
        : makeCallQuota(records, callsPerMinute),
    drain: () => host.drain(),
    async close() {
      await handler.close();
      await host.close();
      await storage.close();
    },
  };
}

/** Returns the state of approvals of one workspace: an answer to a question of another workspace is not valid in it. */
function approvalStateOf(
  { tenant = "", workspace }: WorkspaceName,
  { records }: Storage,
): MaybePromise<ApprovalState> {
  const about = JSON.stringify([tenant, workspace]);
  const options = { stateDir: undefined, key: process.env[SIGNING_KEY_VARIABLE], about };
  return records === undefined ? openApprovalState(options) : openSharedApprovalState(records, options);
}
