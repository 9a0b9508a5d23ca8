/** A program at a socket of an approval queue: it receives notices of questions, reads whole ones, and answers them. */
import { tokensAreEqual } from "../../http/access.ts";
import { type AnswerResult, parseJsonObject } from "../approval-queue-http.ts";
import type { EventLog } from "../../http/event-log.ts";
import type { QueueEvent, QueueState } from "./events.ts";
import type { PendingApproval } from "./summary.ts";

/** One end of a WebSocket, or of another text channel. */
export interface QueueSocket {
  send(text: string): void;
}

/** The members of an approval queue that a socket uses. */
interface SocketQueue {
  readonly token: string;
  readonly log: EventLog<QueueEvent>;
  state(): QueueState;
  find(id: string): PendingApproval | undefined;
  take(id: string, reply: unknown): AnswerResult;
}

/** The program at a socket. */
export class SocketClient {
  readonly #queue: SocketQueue;
  readonly #socket: QueueSocket;
  /** Ends the events; undefined until the client has sent the token. */
  #stop: (() => void) | undefined;

  constructor(queue: SocketQueue, socket: QueueSocket) {
    this.#queue = queue;
    this.#socket = socket;
  }

  /** Takes a message of the client. */
  receive(text: string): void {
    const message = parseJsonObject(text);
    if (this.#stop === undefined) this.#begin(message);
    else if (typeof message?.["get"] === "string") this.#show(message["get"]);
    else this.#answer(String(message?.["id"] ?? ""), message?.["reply"]);
  }

  /** Ends the events. */
  close(): void {
    this.#stop?.();
  }

  #begin(message: Readonly<Record<string, unknown>> | undefined): void {
    const { token, log, state } = this.#queue;
    if (!tokensAreEqual(String(message?.["token"] ?? ""), token)) {
      this.#send({ type: "refused" });
      return;
    }
    const sendEvent = (event: QueueEvent | QueueState): void =>
      this.#send({ event_id: log.idOf(event.seq), ...event });
    this.#stop = log.watch(sendEvent);
    const missed = log.after(String(message?.["after"] ?? ""));
    for (const event of missed ?? [state()]) sendEvent(event);
  }

  #show(id: string): void {
    const question = this.#queue.find(id);
    this.#send(question === undefined ? { type: "refused", id } : { type: "question", question });
  }

  #answer(id: string, reply: unknown): void {
    const { result, ...more } = this.#queue.take(id, reply);
    if (result !== "answered") this.#send({ type: "refused", id, why: result, ...more });
  }

  #send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }
}
