/**
 * Messages of JSON-RPC 2.0, restricted as in the Model Context Protocol: an identifier is a string or an
 * integer, parameters are an object, and there are no batches.
 */
import { isObjectWithKeys } from "../schema/check.ts";

/** The identifier of a request. */
export type Id = string | number;

/** A JSON object whose members are not checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The reply to a message. Its identifier is null when the message had none that could be read. */
export interface Reply {
  readonly jsonrpc: "2.0";
  readonly id: Id | null;
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A request, whose reply must have the same identifier. */
export interface RequestMessage {
  readonly kind: "request";
  readonly id: Id;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** The result of checking a message. */
export type ParsedMessage =
  | RequestMessage
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject | undefined }
  | { readonly kind: "response" }
  | { readonly kind: "invalid"; readonly reply: Reply };

/** The error codes that JSON-RPC defines. */
const PARSE_ERROR = -32_700;
export const INVALID_REQUEST: number = -32_600;
export const METHOD_NOT_FOUND: number = -32_601;
export const INVALID_PARAMS: number = -32_602;
export const INTERNAL_ERROR: number = -32_603;

/** Returns a reply that reports an error. */
export function errorReply(id: Id | null, code: number, message: string): Reply {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** Returns the reply to a text that is not JSON. */
export function notJsonReply(): Reply {
  return errorReply(null, PARSE_ERROR, "Parse error: the message is not JSON");
}

/** Checks the form of a message. Whether its method exists is not checked here. */
export function parseMessage(message: unknown): ParsedMessage {
  if (!isObjectWithKeys(message)) return invalidMessage(null, "a message is one object");
  const { jsonrpc, id, method, params } = message;
  // An invalid response gets no reply, because two servers could otherwise answer each other forever.
  if (method === undefined && ("result" in message || "error" in message)) return { kind: "response" };
  if (typeof method !== "string") return invalidMessage(null, "method must be a text");
  const echoed = typeof id === "string" || typeof id === "number" ? id : null;
  if (jsonrpc !== "2.0") return invalidMessage(echoed, 'jsonrpc must be "2.0"');
  if (id !== undefined && !isId(id)) return invalidMessage(echoed, "id must be a text or an integer");
  if (params !== undefined && !isParams(params))
    return invalidMessage(echoed, "params must be an object, and so must its _meta");
  const known = (id === undefined ? 0 : 1) + (params === undefined ? 0 : 1) + 2;
  if (Object.keys(message).length > known)
    return invalidMessage(echoed, "a message has only jsonrpc, id, method and params");
  return id === undefined
    ? { kind: "notification", method, params }
    : { kind: "request", id, method, params };
}

function invalidMessage(id: Id | null, reason: string): ParsedMessage {
  return { kind: "invalid", reply: errorReply(id, INVALID_REQUEST, `Invalid request: ${reason}`) };
}

/** Returns true for a string or a safe integer. */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/**
 * Returns true for an object whose `_meta`, if present, is an object with a valid progress token, because
 * every request may carry one.
 */
function isParams(params: unknown): params is JsonObject {
  if (!isObjectWithKeys(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  return isObjectWithKeys(meta) && (meta["progressToken"] === undefined || isId(meta["progressToken"]));
}
