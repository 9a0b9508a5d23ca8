/**
 * The roots of a client in place of the directories of the command line, as the
 * filesystem server has it. Only for a client that started the server itself:
 * over a network nobody widens what the operator allowed.
 */
import { directoriesOfRoots, type NamedRoot } from "./directories.ts";
import type { Host } from "./host.ts";
import type { Log } from "./log.ts";
import { inputRequired, inputResponse, type Server, type ServerContext } from "./sdk.ts";
import { capabilitiesOf } from "./server.ts";

const KEY = "roots";

/** Learns the roots of one client. */
export interface Roots {
  /** Asks over a connection that lasts, now and whenever the client says that they changed. */
  follow(server: Server): void;
  /** What was last asked for, answered or given up. */
  settled(): Promise<void>;
  /** In a request: waits for what was asked, or gives the question to answer it with. */
  before(context: ServerContext, server: Server): Promise<unknown>;
}

/** How long calls wait for a client that promised roots. */
const PATIENCE_MS = 5000;

/** @param changed called after other directories were put in place */
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
      .listRoots(undefined, { timeout: PATIENCE_MS })
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
