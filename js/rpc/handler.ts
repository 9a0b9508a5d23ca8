/**
 * The one place that answers messages of the Model Context Protocol without its SDK: the handshake, `ping`, the
 * list of tools, calls, and the log level. All transports use it: standard input and output, HTTP, and a host in
 * the same process.
 *
 * The SDK parses each message twice and checks it against schemas that it builds first. This takes most of the
 * start time and half of the time of a short call. So a server with the SDK behind it answers here the requests
 * that use nothing but parameters which this handler knows, and broken messages; it leaves the others to the SDK.
 * A server without the SDK answers METHOD_NOT_FOUND to unknown methods, and ignores unknown parameters.
 */
import {
  errorReply,
  type Id,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isId,
  type JsonObject,
  METHOD_NOT_FOUND,
  parseMessage,
  type Reply,
  type RequestMessage,
} from "./message.ts";
import { isObjectWithKeys } from "../schema/check.ts";
import { nearest } from "../schema/nearest.ts";

/**
 * The revisions that `initialize` can agree on, newest first. A client that asks for another one is offered the
 * first. Later revisions have no handshake; each request names its revision.
 */
export const PROTOCOL_REVISIONS: readonly [latest: string, ...older: string[]] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/**
 * A request to call a tool. Its arguments are known to be an object, but not yet checked against the schema
 * of the tool.
 */
interface ToolCall {
  readonly name: string;
  readonly args: JsonObject;
  /** The token under which the caller expects progress notifications; undefined when it expects none. */
  readonly progressToken: Id | undefined;
  /** All parameters of the request. */
  readonly params: JsonObject;
  /** Aborted when the caller cancels the call, or the connection ends. */
  readonly signal: AbortSignal;
}

/** The methods that are answered here. A thrown error becomes the error of the reply, with its `code` if that is an integer. */
export interface AnsweredMethods {
  /** Returns the result of a handshake, to which the handler adds the `protocolVersion`. */
  readonly initialize?: ((params: JsonObject) => object) | undefined;
  readonly ping?: (() => object) | undefined;
  readonly "tools/list"?: (() => Promise<object>) | undefined;
  readonly "tools/call"?: ((call: ToolCall) => Promise<object>) | undefined;
  readonly "logging/setLevel"?: ((level: unknown) => object) | undefined;
}

/** Thrown for a call of an unknown tool. */
export class UnknownToolError extends Error {
  override name = "UnknownTool";
  readonly code: number = INVALID_PARAMS;

  /** @param hint what to do, where that is known better than by the nearest of the `known` names */
  constructor(name: string, known: readonly string[], hint?: string) {
    const close = nearest(name, known);
    const names = close === undefined ? "call tools/list for the names" : `did you mean ${close}?`;
    super(`Unknown tool: ${name.slice(0, 80)}; ${hint ?? names}`);
  }
}

/** Handles the messages of one connection. */
export interface MessageHandler {
  /**
   * Handles a message and returns a promise of its reply. The promise resolves to undefined for a message
   * that gets no reply, such as a cancelled call. Returns undefined instead of a promise if the SDK must
   * handle the message.
   */
  handle(message: unknown): Promise<Reply | undefined> | undefined;
  /** Cancels all running calls. */
  close(): void;
}

/**
 * Creates a handler.
 * @param rest `leave`: the SDK handles the other messages; `refuse`: there is no SDK
 */
export function makeMessageHandler(methods: AnsweredMethods, rest: "leave" | "refuse"): MessageHandler {
  const running = new Set<{ readonly id: Id; readonly abort: AbortController }>();

  const run = async (
    id: Id,
    answer: (signal: AbortSignal) => object | Promise<object>,
  ): Promise<Reply | undefined> => {
    const call = { id, abort: new AbortController() };
    const { signal } = call.abort;
    running.add(call);
    try {
      const result = await answer(signal);
      return signal.aborted ? undefined : { result, jsonrpc: "2.0", id };
    } catch (error) {
      return signal.aborted ? undefined : thrownReply(id, error);
    } finally {
      running.delete(call);
    }
  };
  const cancel = (id: unknown): boolean => {
    const calls = [...running].filter((call) => call.id === id);
    for (const { abort } of calls) abort.abort();
    return calls.length > 0;
  };
  const answer = (request: RequestMessage): Promise<Reply | undefined> | undefined => {
    const { id, method } = request;
    const checked = checkRequest(methods, request);
    if (checked === undefined)
      return rest === "leave"
        ? undefined
        : resolvedReply(errorReply(id, METHOD_NOT_FOUND, `Unknown method: ${method.slice(0, 80)}`));
    if ("invalid" in checked)
      return resolvedReply(errorReply(id, INVALID_PARAMS, `Invalid params: ${checked.invalid}`));
    if (!checked.isPlain && rest === "leave") return undefined;
    return run(id, checked.run);
  };
  return {
    handle(message) {
      const parsed = parseMessage(message);
      if (parsed.kind === "invalid") return resolvedReply(parsed.reply);
      if (parsed.kind === "request") return answer(parsed);
      if (
        parsed.kind === "notification" &&
        parsed.method === "notifications/cancelled" &&
        cancel(parsed.params?.["requestId"])
      )
        return resolvedReply(undefined);
      return rest === "leave" ? undefined : resolvedReply(undefined);
    },
    close() {
      for (const { abort } of running) abort.abort();
    },
  };
}

function resolvedReply(reply: Reply | undefined): Promise<Reply | undefined> {
  return Promise.resolve(reply);
}

function thrownReply(id: Id, error: unknown): Reply {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const known = Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR;
  return errorReply(id, known, String(message ?? "Internal error"));
}

/** A request with valid parameters, or the reason why they are not valid. */
type CheckedRequest =
  | {
      readonly run: (signal: AbortSignal) => object | Promise<object>;
      /** False when the parameters contain something that only the SDK understands. */
      readonly isPlain: boolean;
    }
  | { readonly invalid: string };

/** Checks the parameters of a request. Returns undefined for a method that is not answered here. */
function checkRequest(
  methods: AnsweredMethods,
  { method, params = NO_PARAMS }: RequestMessage,
): CheckedRequest | undefined {
  switch (method) {
    case "initialize":
      return methods.initialize && checkHandshake(methods.initialize, params);
    case "ping":
      return methods.ping && { run: methods.ping, isPlain: hasOnlyKeys(params, []) };
    case "tools/list": {
      const { cursor } = params;
      if (cursor !== undefined && typeof cursor !== "string")
        return methods["tools/list"] && { invalid: "cursor must be a text" };
      return methods["tools/list"] && { run: methods["tools/list"], isPlain: hasOnlyKeys(params, []) };
    }
    case "tools/call":
      return methods["tools/call"] && checkCall(methods["tools/call"], params);
    case "logging/setLevel": {
      const setLevel = methods["logging/setLevel"];
      return setLevel && { run: () => setLevel(params["level"]), isPlain: true };
    }
    default:
      return undefined;
  }
}

const NO_PARAMS: JsonObject = Object.freeze({});

/** The client capabilities for which the protocol requires an object. */
const CLIENT_CAPABILITIES = ["elicitation", "experimental", "extensions", "roots", "sampling", "tasks"];

function checkHandshake(
  initialize: NonNullable<AnsweredMethods["initialize"]>,
  params: JsonObject,
): CheckedRequest {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== "string") return { invalid: "protocolVersion must be a text" };
  if (!isObjectWithKeys(capabilities)) return { invalid: "capabilities must be an object" };
  for (const name of CLIENT_CAPABILITIES)
    if (capabilities[name] !== undefined && !isObjectWithKeys(capabilities[name]))
      return { invalid: `the capability ${name} must be an object` };
  if (
    !isObjectWithKeys(clientInfo) ||
    typeof clientInfo["name"] !== "string" ||
    typeof clientInfo["version"] !== "string"
  )
    return { invalid: "clientInfo must have a name and a version" };
  return {
    run: () => ({
      protocolVersion: PROTOCOL_REVISIONS.find((known) => known === protocolVersion) ?? PROTOCOL_REVISIONS[0],
      ...initialize(params),
    }),
    isPlain:
      hasOnlyKeys(params, ["protocolVersion", "capabilities", "clientInfo"]) &&
      Object.values(capabilities).every(isObjectWithKeys),
  };
}

function checkCall(callTool: NonNullable<AnsweredMethods["tools/call"]>, params: JsonObject): CheckedRequest {
  const { name, arguments: args = NO_PARAMS, _meta, task } = params;
  if (typeof name !== "string") return { invalid: "name must be a text" };
  if (!isObjectWithKeys(args)) return { invalid: "arguments must be an object" };
  if (task !== undefined && !isObjectWithKeys(task)) return { invalid: "task must be an object" };
  const meta = isObjectWithKeys(_meta) ? _meta : NO_PARAMS;
  const { progressToken } = meta;
  return {
    run: (signal) =>
      callTool({
        name,
        args,
        progressToken: isId(progressToken) ? progressToken : undefined,
        params,
        signal,
      }),
    isPlain: hasOnlyKeys(params, ["name", "arguments", "_meta"]) && hasOnlyKeys(meta, ["progressToken"]),
  };
}

function hasOnlyKeys(params: JsonObject, names: readonly string[]): boolean {
  for (const name in params) if (!names.includes(name)) return false;
  return true;
}
