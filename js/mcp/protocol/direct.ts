/** Answers requests without the protocol's SDK, over stdio and HTTP, and describes the server to clients. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { AnsweredMethods } from "../../rpc/handler.ts";
import { instructionsFor } from "../offered.ts";
import type { SendNotification } from "./log.ts";
import { callSignal, callTool, listTools, type SharedRequestParts } from "./call.ts";

/** The parts of a connection or a request that its methods need. */
export interface DirectParts extends SharedRequestParts {
  readonly notify: SendNotification;
  /**
   * A promise that resolves when the directories are known, for example after the client has named its roots;
   * undefined when they are known already.
   */
  settled(): Promise<unknown> | undefined;
}

/**
 * Returns the methods that are answered for a client after its handshake. A call about which the user may
 * have to be asked is left to the SDK.
 */
export function directMethods(parts: DirectParts): AnsweredMethods {
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

/** The facts about the server in the answer to `initialize`. A model reads `instructions`. */
export interface ServerDescription {
  readonly serverInfo: { readonly name: string; readonly title: string; readonly version: string };
  readonly capabilities: {
    readonly tools: Readonly<Record<string, never>>;
    readonly resources: { readonly listChanged: true; readonly subscribe?: true };
    readonly prompts: Readonly<Record<string, never>>;
    readonly completions: Readonly<Record<string, never>>;
    readonly logging?: Readonly<Record<string, never>>;
  };
  readonly instructions: string;
}

/** The capabilities that depend on the transport and on the revision of the protocol. */
export interface OfferedCapabilities {
  /** True when clients can subscribe to changes of resources. */
  readonly subscribe: boolean;
  /**
   * True when the server can send log messages, because it keeps a level for the client or each request
   * states one.
   */
  readonly logging: boolean;
}

/** Returns the name, capabilities and instructions that a server sends in its `initialize` answer. */
export function describeServer(
  { host }: Pick<SharedRequestParts, "host">,
  version: string,
  { subscribe, logging }: OfferedCapabilities,
): ServerDescription {
  const about = [instructionsFor(host.preset, host.offers)];
  const notice = host.notice?.();
  if (notice !== undefined) about.push(notice);
  return {
    serverInfo: { name: "filewright", title: "Filewright", version },
    capabilities: withoutUndefined({
      tools: {},
      resources: { listChanged: true, ...(subscribe ? { subscribe } : {}) },
      prompts: {},
      completions: {},
      logging: logging ? {} : undefined,
    }),
    instructions: about.join(" "),
  };
}
