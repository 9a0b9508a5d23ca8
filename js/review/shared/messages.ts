/**
 * The messages between the process that serves a review page and the other processes whose questions it shows. They are
 * checked like the options of a public function: a message with an unknown member, or of an unknown type, is none.
 */
import {
  anything,
  anyText,
  choice,
  choiceOf,
  integer,
  mapOf,
  optionReader,
  options,
  required,
  text,
} from "../../schema/option.ts";
import type { ReviewRole } from "../protocol.ts";
import { REVIEW_ROLES } from "../login.ts";

/** The first message of a process that joins. */
export interface HelloMessage {
  readonly type: "hello";
  /** The version of its package. Only equal ones understand each other's events. */
  readonly version: string;
}

/** An event of a process that has joined. */
export interface EventMessage {
  readonly type: "event";
  readonly event: unknown;
}

/** The head of the response to a request; its body follows as bytes. */
export interface ResponseMessage {
  readonly type: "response";
  readonly id: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to `hello`: the page of this address shows the questions. */
export interface WelcomeMessage {
  readonly type: "welcome";
  readonly url: string;
}

/** The answer to a `hello` of another version. */
export interface RefusedMessage {
  readonly type: "refused";
  readonly why: string;
}

/** A request of a page to a question or a workspace of the receiver; its body follows as bytes. It was checked. */
export interface RequestMessage {
  readonly type: "request";
  readonly id: number;
  readonly method: "GET" | "POST" | "DELETE";
  /** The path below `/review` with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly role: ReviewRole;
  readonly by: string;
}

/** A login of the page, so that it lasts when the receiver serves the page next. */
export interface LoginMessage {
  readonly type: "login";
  readonly cookie: string;
  readonly role: ReviewRole;
  readonly by: string;
  /** In milliseconds since 1970. */
  readonly ends: number;
}

/** The messages of a process that joins. */
export type PeerMessage = HelloMessage | EventMessage | ResponseMessage;
/** The messages of the process that serves the page. */
export type HostMessage = WelcomeMessage | RefusedMessage | RequestMessage | LoginMessage;

type Readers<Message extends { readonly type: string }> = {
  readonly [Type in Message["type"]]: (given: unknown) => (Message & { readonly type: Type }) | undefined;
};

const MAX_SAFE = Number.MAX_SAFE_INTEGER;
const role = required(choiceOf(REVIEW_ROLES));

const PEER_READERS: Readers<PeerMessage> = {
  hello: optionReader<HelloMessage>(
    options("HelloMessage", {
      type: required(choice("hello")),
      version: required(text()),
    }),
  ),
  event: optionReader<EventMessage>(
    options("EventMessage", { type: required(choice("event")), event: required(anything()) }),
  ),
  response: optionReader<ResponseMessage>(
    options("ResponseMessage", {
      type: required(choice("response")),
      id: required(integer(0, MAX_SAFE)),
      status: required(integer(200, 599)),
      headers: required(mapOf(anyText())),
    }),
  ),
};

const HOST_READERS: Readers<HostMessage> = {
  welcome: optionReader<WelcomeMessage>(
    options("WelcomeMessage", { type: required(choice("welcome")), url: required(text()) }),
  ),
  refused: optionReader<RefusedMessage>(
    options("RefusedMessage", { type: required(choice("refused")), why: required(text()) }),
  ),
  request: optionReader<RequestMessage>(
    options("RequestMessage", {
      type: required(choice("request")),
      id: required(integer(0, MAX_SAFE)),
      method: required(choice("GET", "POST", "DELETE")),
      target: required(text({ pattern: "^/" })),
      headers: required(mapOf(anyText())),
      role,
      by: required(text()),
    }),
  ),
  login: optionReader<LoginMessage>(
    options("LoginMessage", {
      type: required(choice("login")),
      cookie: required(text({ pattern: "^[0-9a-f]{64}$" })),
      role,
      by: required(text()),
      ends: required(integer(0, MAX_SAFE)),
    }),
  ),
};

/** Returns a message of a process that joins; undefined when it is none. */
export const readPeerMessage = (header: unknown): PeerMessage | undefined =>
  readMessage(PEER_READERS, header);

/** Returns a message of the process that serves the page; undefined when it is none. */
export const readHostMessage = (header: unknown): HostMessage | undefined =>
  readMessage(HOST_READERS, header);

function readMessage<Message extends { readonly type: string }>(
  readers: Readers<Message>,
  header: unknown,
): Message | undefined {
  const { type } = { ...(header as { readonly type?: unknown } | null) };
  if (typeof type !== "string" || !Object.hasOwn(readers, type)) return undefined;
  return readers[type as Message["type"]](header);
}
