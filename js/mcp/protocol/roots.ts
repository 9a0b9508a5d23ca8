/**
 * Replaces the directories of the command line by the roots that the client names, as the reference server
 * does. This is done only for a client that has started the server itself: a client on the network must not
 * extend what the operator has allowed.
 */
import { messageOf } from "../../engine/thrown.ts";
import { usableRootDirectories, type ClientRoot } from "../directories.ts";
import type { WorkspaceHost } from "../host.ts";
import type { WriteLogLine } from "./log.ts";
import { inputRequired, inputResponse, type Server, type ServerContext } from "./sdk.ts";
import { clientCapabilitiesOf } from "./server.ts";

const ROOTS_REQUEST_KEY = "roots";

/** Asks one client for its roots. */
export interface ClientRoots {
  /** Asks for the roots over a lasting connection, at its beginning and whenever the client reports a change. */
  follow(server: Server): void;
  /** Resolves when the last request for roots is answered or has failed. */
  settled(): Promise<void>;
  /**
   * Waits until roots that were requested are known, before a request is handled. Returns a question for the
   * roots if the client must first answer it; otherwise undefined.
   */
  before(context: ServerContext, server: Server): Promise<unknown>;
}

/** The maximum time in milliseconds for which calls wait for the roots of a client. */
const MAX_WAIT_FOR_ROOTS_MS = 5000;

/**
 * Creates the object that asks one client for its roots.
 * @param changed called after the directories were replaced
 */
export function makeClientRoots(
  host: WorkspaceHost,
  log: WriteLogLine,
  changed: (server: Server) => void,
): ClientRoots {
  let asking: Promise<void> = Promise.resolve();
  let known = false;

  const take = (roots: readonly ClientRoot[], server: Server): void => {
    const dirs = usableRootDirectories(roots, log);
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
      .listRoots(undefined, { timeout: MAX_WAIT_FOR_ROOTS_MS })
      .then(({ roots }) => take(roots, server))
      .catch((error: unknown) => log(`Failed to request roots from client: ${messageOf(error)}`));
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
        clientCapabilitiesOf(context, server)["roots"] === undefined
      )
        return undefined;
      const answer = inputResponse(inputResponses, ROOTS_REQUEST_KEY);
      if (answer.kind === "missing")
        return inputRequired({ inputRequests: { [ROOTS_REQUEST_KEY]: inputRequired.listRoots() } });
      if (answer.kind === "roots") take(answer.roots, server);
      return undefined;
    },
  };
}
