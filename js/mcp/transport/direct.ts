/**
 * Answers the most frequent messages of a connection without the protocol's SDK: the handshake of the older
 * era, the list of tools, calls, and the log level.
 *
 * The SDK parses each message twice and validates it against schemas that it builds first. This takes most of
 * the start time and half of the time of a short call. So we answer a message that has exactly the plain
 * form, in the same way as the SDK, and leave all other messages to the SDK. A test compares both answers.
 */
import { revisionFor } from "../../adapters/mcp-revisions.ts";
import type { About } from "../protocol/about.ts";
import { callSignal, callTool, listTools, type Serving } from "../protocol/call.ts";
import type { Message } from "./wire.ts";

/** The parts of a connection that direct answers need. */
export interface DirectParts extends Serving {
  write(message: object): void;
  /** Passes a message to the SDK. */
  leave(message: Message): void;
  /** A promise that resolves when the directories are known; undefined when they are known already. */
  settled(): Promise<unknown> | undefined;
}

/** Answers the messages that have the plain form. */
export interface Direct {
  /** Returns true when this object answers the message, and false when the SDK must answer it. */
  take(message: Message): boolean;
  /** Cancels all running calls. */
  close(): void;
}

type Id = string | number;

/** Returns the answer to a plain handshake of the older era; undefined for any other message. */
export function answerHandshake(
  { jsonrpc, id, method, params }: Message,
  { serverInfo, capabilities, instructions }: About,
): object | undefined {
  if (jsonrpc !== "2.0" || method !== "initialize" || !isId(id) || !isRecord(params)) return undefined;
  const { protocolVersion, capabilities: can, clientInfo, ...more } = params;
  if (typeof protocolVersion !== "string" || Object.keys(more).length > 0) return undefined;
  if (!isRecord(can) || !Object.values(can).every(isRecord) || !isRecord(clientInfo)) return undefined;
  if (typeof clientInfo["name"] !== "string" || typeof clientInfo["version"] !== "string") return undefined;
  const revision = revisionFor(protocolVersion);
  const result = { protocolVersion: revision, capabilities, serverInfo, instructions };
  return { result, jsonrpc, id };
}

/** Creates the direct answers for a connection of the older era, after its handshake. */
export function makeDirect(parts: DirectParts): Direct {
  const running = new Map<Id, AbortController>();

  const answer = async (message: Message, id: Id, run: (signal: AbortSignal) => Promise<unknown>) => {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const result = await run(abort.signal);
      if (abort.signal.aborted) return;
      if (result === undefined) parts.leave(message);
      else parts.write({ result, jsonrpc: "2.0", id });
    } catch (error) {
      if (abort.signal.aborted) return;
      const { code, message: said } = error as { readonly code?: unknown; readonly message?: unknown };
      const known = Number.isSafeInteger(code) ? code : INTERNAL_ERROR;
      parts.write({ jsonrpc: "2.0", id, error: { code: known, message: String(said ?? "Internal error") } });
    } finally {
      if (running.get(id) === abort) running.delete(id);
    }
  };
  const call = (message: Message, id: Id, { name, args, token }: PlainCall): void => {
    void answer(message, id, async (signal) => {
      const asked = parts.settled();
      if (asked !== undefined) await asked;
      const served = await parts.host.workspace();
      // We leave an unknown tool to the SDK, which answers with the error.
      if (served !== undefined && !served.tools.has(name)) return undefined;
      const mcpReq = { signal: callSignal(signal, parts.ending), notify, _meta: metaOf(token) };
      return callTool(parts, name, args, { mcpReq });
    });
  };
  const notify = async (notification: object): Promise<void> =>
    parts.write({ ...notification, jsonrpc: "2.0" });
  return {
    take(message) {
      const { jsonrpc, id, method, params } = message;
      if (jsonrpc !== "2.0") return false;
      if (method === "notifications/cancelled") {
        const whose = isRecord(params) ? params["requestId"] : undefined;
        const abort = running.get(whose as Id);
        abort?.abort();
        return abort !== undefined;
      }
      if (!isId(id) || running.has(id)) return false;
      if (method === "tools/call" && parts.approvals === undefined) {
        const plain = plainCall(params);
        if (plain === undefined) return false;
        call(message, id, plain);
        return true;
      }
      if (method === "logging/setLevel" && parts.clientLog !== undefined) {
        const { clientLog } = parts;
        void answer(message, id, async () => {
          clientLog.setLevel(isRecord(params) ? params["level"] : undefined);
          return {};
        });
        return true;
      }
      const bare = params === undefined || (isRecord(params) && Object.keys(params).length === 0);
      if (!bare || (method !== "tools/list" && method !== "ping")) return false;
      if (method === "ping") parts.write({ result: {}, jsonrpc, id });
      else void answer(message, id, async () => ({ tools: await listTools(parts) }));
      return true;
    },
    close() {
      for (const abort of running.values()) abort.abort();
    },
  };
}

const INTERNAL_ERROR = -32_603;

interface PlainCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly token: Id | undefined;
}

/**
 * Returns the parts of a call that has only a name, arguments and perhaps a progress token; undefined for any
 * other.
 */
function plainCall(params: unknown): PlainCall | undefined {
  if (!isRecord(params)) return undefined;
  const { name, arguments: args = NO_PARAMS, _meta: meta } = params;
  if (typeof name !== "string" || !isRecord(args)) return undefined;
  for (const key in params) if (key !== "name" && key !== "arguments" && key !== "_meta") return undefined;
  if (meta === undefined) return { name, args, token: undefined };
  if (!isRecord(meta)) return undefined;
  for (const key in meta) if (key !== "progressToken") return undefined;
  const { progressToken: token } = meta;
  return token === undefined || isId(token) ? { name, args, token } : undefined;
}

const NO_PARAMS: Readonly<Record<string, unknown>> = Object.freeze({});

function metaOf(token: Id | undefined): { readonly progressToken: Id } | undefined {
  return token === undefined ? undefined : { progressToken: token };
}

function isId(value: unknown): value is Id {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
