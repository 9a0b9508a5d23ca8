/**
 * Answers the messages of one connection over standard input and output. In older protocol revisions a
 * connection begins with a handshake; in newer ones each request is independent. Both are supported.
 *
 * The most frequent messages are answered here. The protocol's SDK is loaded only with the first message that
 * needs it.
 */
import { messageOf } from "../../engine/thrown.ts";
import { type MessageHandler, makeMessageHandler } from "../../rpc/handler.ts";
import type { JsonObject } from "../../rpc/message.ts";
import { describeServer, directMethods } from "../protocol/direct.ts";
import type { SdkConnection, ConnectionParts } from "./connection.ts";

/** A connection whose messages are answered. */
interface StdioSession {
  /** Cancels running calls and ends the SDK's side. */
  close(): Promise<void>;
}

/** Begins to answer the messages that arrive on a wire. */
export function answerMessages(parts: ConnectionParts): StdioSession {
  const { wire, version, log, ...serving } = parts;
  const { host } = serving;
  /** The parameters of the handshake, once it was answered here. */
  let greeting: JsonObject | undefined;
  let sdk: Promise<SdkConnection> | undefined;
  let roots: Promise<void> | undefined;
  /** Messages that only the SDK needs, kept until it is loaded. */
  const held: JsonObject[] = [];
  const load = (): Promise<SdkConnection> => {
    sdk ??= import("./connection.ts").then(async ({ connectSdk }) => {
      const connection = await connectSdk(parts, greeting);
      for (const message of held) connection.deliver(message);
      return connection;
    });
    return sdk;
  };
  const leave = (message: JsonObject): void => {
    load().then(
      (connection) => connection.deliver(message),
      (error: unknown) => log(`Error: ${messageOf(error)}`, "error"),
    );
  };
  const opening = makeMessageHandler(
    {
      initialize(params) {
        greeting = params;
        return describeServer(serving, version, { subscribe: true, logging: true });
      },
    },
    "leave",
  );
  const notify = async (notification: object): Promise<void> =>
    wire.write({ ...notification, jsonrpc: "2.0" });
  const greeted = makeMessageHandler(directMethods({ ...serving, notify, settled: () => roots }), "leave");
  /**
   * The handler for a connection that the SDK has handled from its first message: it answers only invalid
   * messages.
   */
  const alone = makeMessageHandler({}, "leave");
  const handler = (): MessageHandler => {
    if (greeting !== undefined) return greeted;
    return sdk === undefined ? opening : alone;
  };
  /** Asks the client for its roots. Calls wait until the directories are set. */
  const askForRoots = (): void => {
    const asked = load()
      .then((connection) => nextTurnOfEventLoop().then(() => connection.settled()))
      .catch(() => {})
      .then(() => {
        if (roots === asked) roots = undefined;
      });
    roots = asked;
  };

  wire.onmessage = (message) => {
    const reply = handler().handle(message);
    if (reply !== undefined)
      return void reply.then((answer) => {
        if (answer !== undefined) wire.write(answer);
      });
    const { method } = message;
    const about = method === "notifications/initialized" && sdk === undefined;
    if (about && host.dirs().length > 0 && !(host.followsRoots && supportsRoots(greeting)))
      return void held.push(message);
    leave(message);
    if (host.followsRoots && (about || method === "notifications/roots/list_changed")) askForRoots();
  };
  return {
    async close() {
      greeted.close();
      await (await sdk)?.close();
    },
  };
}

/** Returns true when the client supports roots. */
function supportsRoots(greeting: JsonObject | undefined): boolean {
  const { capabilities } = (greeting ?? {}) as { readonly capabilities?: { readonly roots?: unknown } };
  return capabilities?.roots !== undefined;
}

/** Resolves in the next turn of the event loop, when delivered messages have reached their handlers. */
export function nextTurnOfEventLoop(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
