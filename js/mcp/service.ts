/** What a server over HTTP serves: directories of this machine, or the workspaces of a storage. */
import type { Confirm } from "../hooks/confirm.ts";
import type { Observer } from "../hooks/observer.ts";
import type { Workspace } from "../workspace/index.ts";
import type { StorageObserver } from "../storage/observe.ts";
import { elicitApprovals } from "./protocol/approvals.ts";
import { localWorkspaceHost, type ServedWorkspace } from "./host.ts";
import type { WriteLogLine } from "./protocol/log.ts";
import { type McpHandler, makeMcpHandler } from "./transport/handler.ts";
import { hostDirectoriesAndOptions, type ServeOptions } from "./transport/stdio.ts";

/** The directories or workspaces that are served. */
export interface Service {
  readonly handler: McpHandler;
  /** The directories, or the storage, for messages. */
  readonly served: readonly string[];
  /** Makes one round trip to the engine of the files; undefined where they are on this machine. */
  ping?(signal: AbortSignal): Promise<void>;
  /** Refuses further calls. Resolves when no call is running. */
  drainCalls(): Promise<void>;
  /** Closes the handler and everything that was opened. */
  close(): Promise<void>;
}

/** What every service needs of its server. */
export interface ServiceParts {
  /** Writes a line about the workspaces that are opened at the start. */
  readonly tell: WriteLogLine;
  readonly logError: (error: unknown) => void;
  /** Asks a person about each change; undefined to ask nobody, or the user of the client (`ask`). */
  readonly confirm: Confirm | undefined;
  /** Aborted when the server stops waiting for running calls. */
  readonly ending: AbortSignal;
  /** Told of all calls, and of all calls of storages. */
  readonly observers: readonly (Observer & StorageObserver)[];
  /** A further observer of the calls in directories; undefined for none. */
  readonly callObserver?: Observer | undefined;
  /** Called with the workspace of directories whenever it is opened. */
  readonly onWorkspace?: ((workspace: Workspace) => void) | undefined;
}

/** Opens the workspace of directories. @throws FilewrightError */
export async function directoryService(options: ServeOptions, parts: ServiceParts): Promise<Service> {
  const approvals = options.ask ? elicitApprovals({ lasting: false }) : undefined;
  const found = hostDirectoriesAndOptions(options, parts.tell, parts.confirm ?? approvals?.confirm);
  const { callObserver } = parts;
  const observers = callObserver === undefined ? parts.observers : [...parts.observers, callObserver];
  const onOpen = (served: ServedWorkspace): void => {
    found.host.onOpen?.(served);
    parts.onWorkspace?.(served.ws);
  };
  const host = localWorkspaceHost(found.dirs, { ...found.host, observers, onOpen });
  await host.workspace();
  const { structured, version } = options;
  const { ending, logError } = parts;
  const handler = makeMcpHandler({ host, structured, approvals, version, ending }, logError);
  return {
    handler,
    served: found.dirs,
    drainCalls: () => host.drain(),
    async close() {
      await handler.close();
      await host.close();
    },
  };
}
