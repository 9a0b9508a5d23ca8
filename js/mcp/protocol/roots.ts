/**
 * Replaces the directories of the command line with the client's roots, as the filesystem server does. This
 * is only for a client that has started the server itself: a network client must not extend what the operator
 * allowed.
 */
import { directoriesOfRoots, type NamedRoot } from "../directories.ts";
import type { Host } from "../host.ts";
import type { Log } from "./log.ts";
import { inputRequired, inputResponse, type Server, type ServerContext } from "./sdk.ts";
import { capabilitiesOf } from "./server.ts";

const KEY = "roots";

/** Requests the roots of one client. */
export interface Roots {
  /** Requests the roots over a lasting connection, now and whenever the client reports a change. */
  follow(server: Server): void;
  /** Resolves when the last request for roots is answered or has failed. */
  settled(): Promise<void>;
  /**
   * Waits for requested roots before a request is handled. Returns the question for the roots when the client
   * must answer it first.
   */
  before(context: ServerContext, server: Server): Promise<unknown>;
}

/** Maximum milliseconds that calls wait for the roots of a client. */
const ROOTS_TIMEOUT_MS = 5000;

/**
 * Creates the requests for one client's roots.
 * @param changed called after the directories were replaced
 */
export function clientRoots(host: Host, log: Log, changed: (server: Server) => void): Roots {
  let asking: Promise<void> = Promise.resolve();
  let known = false;

  const take = (roots: readonly NamedRoot[], server: Server): void => {
    const dirs = directoriesOfRoots(roots, log);
    known = true;
    if (dirs.length === 0) {
      log("No valid root directories provided by client");
      return;
    }
    host.replace(dirs);
    log(`Updated allowed directories from MCP roots: ${dirs.length} valid directories`);
    changed(server);
  };
  const ask = (server: Server): void => {
    asking = server
      .listRoots(undefined, { timeout: ROOTS_TIMEOUT_MS })
      .then(({ roots }) => take(roots, server))
      .catch((error: unknown) =>
        log(`Failed to request roots from client: ${error instanceof Error ? error.message : String(error)}`),
      );
  };
  return {
    follow(server) {
      server.oninitialized = () => {
        if (host.followsRoots && server.getClientCapabilities()?.roots !== undefined) ask(server);
        else if (host.dirs().length === 0)
          log("Server cannot operate: no directories were given, and the client has no roots");
      };
      server.setNotificationHandler("notifications/roots/list_changed", () => {
        if (host.followsRoots) ask(server);
      });
    },
    settled: () => asking,
    async before(context, server) {
      await asking;
      const { envelope, inputResponses } = context.mcpReq;
      if (
        known ||
        !host.followsRoots ||
        envelope === undefined ||
        capabilitiesOf(context, server)["roots"] === undefined
      )
        return undefined;
      const answer = inputResponse(inputResponses, KEY);
      if (answer.kind === "missing")
        return inputRequired({ inputRequests: { [KEY]: inputRequired.listRoots() } });
      if (answer.kind === "roots") take(answer.roots, server);
      return undefined;
    },
  };
}
