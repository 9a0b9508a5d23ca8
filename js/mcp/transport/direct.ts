/** The methods that a server answers without the protocol's SDK, over stdio and over HTTP. */
import type { Methods } from "../../rpc/handler.ts";
import type { Notify } from "../protocol/client-log.ts";
import { callSignal, callTool, listTools, type Serving } from "../protocol/call.ts";

/** The parts of a connection or a request that its methods need. */
export interface DirectParts extends Serving {
  readonly notify: Notify;
  /** A promise that resolves when the directories are known; undefined when they are known already. */
  settled(): Promise<unknown> | undefined;
}

/** Returns the methods of a client that has shaken hands. A call that may ask the user is left to the SDK. */
export function directMethods(parts: DirectParts): Methods {
  const { notify, approvals, clientLog } = parts;
  return {
    ping: () => ({}),
    "tools/list": async () => ({ tools: await listTools(parts) }),
    "tools/call":
      approvals === undefined
        ? async ({ name, args, progressToken, signal }) => {
            const asked = parts.settled();
            if (asked !== undefined) await asked;
            const meta = progressToken === undefined ? undefined : { progressToken };
            const mcpReq = { signal: callSignal(signal, parts.ending), notify, _meta: meta };
            return callTool(parts, name, args, { mcpReq });
          }
        : undefined,
    "logging/setLevel":
      clientLog === undefined
        ? undefined
        : (level) => {
            clientLog.setLevel(level);
            return {};
          },
  };
}
