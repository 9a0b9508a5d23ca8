/** Checks the events that another process sends, before they reach the state of a page. */
import { anyText, choice, list, optionReader, options, required } from "../../schema/option.ts";
import type { ReviewEvent, UnnumberedEvent } from "../protocol.ts";

/** The member of an event that names its question or its call; `nothing` for an event without members. */
type Subject = "id" | "question" | "call" | "workspaces" | "nothing";

/** The subjects of all events, so that the compiler names a type that is missing here. */
const SUBJECT_BY_TYPE: Readonly<Record<ReviewEvent["type"], Subject>> = {
  asked: "question",
  answered: "id",
  withdrawn: "id",
  stale: "id",
  subject: "workspaces",
  history: "nothing",
  "call.begin": "call",
  "call.end": "call",
};

/** The maximum length of an id in UTF-16 units. */
const MAX_ID_LENGTH = 200;

/** An event of another process, with the id of its question or call. */
export interface RelayedEvent {
  readonly event: UnnumberedEvent;
  /** The id of the question; undefined for an event of a call. */
  readonly question: string | undefined;
}

/**
 * Returns an event without its number, which is that of its own process; undefined for data that is no event. The
 * members of questions and calls are not checked further: both processes have the same version and the same owner, and
 * the page shows every text as text.
 */
export function readRelayedEvent(given: unknown): RelayedEvent | undefined {
  if (!isObject(given)) return undefined;
  const { seq: _, ...event } = given;
  const { type } = event;
  if (typeof type !== "string" || !Object.hasOwn(SUBJECT_BY_TYPE, type)) return undefined;
  const subject = SUBJECT_BY_TYPE[type as ReviewEvent["type"]];
  if (subject === "workspaces") {
    const said = readSubject(event);
    return said === undefined ? undefined : { event: said, question: undefined };
  }
  if (subject === "nothing") return { event: { type: "history" }, question: undefined };
  const named = subject === "id" ? event : event[subject];
  if (!isObject(named)) return undefined;
  const { id } = named;
  if (typeof id !== "string" || id === "" || id.length > MAX_ID_LENGTH) return undefined;
  return {
    event: event as unknown as UnnumberedEvent,
    question: subject === "call" ? undefined : id,
  };
}

/** Returns the event about the subject of a process, of which the page uses every name. */
const readSubject = optionReader(
  options<UnnumberedEvent & { readonly type: "subject" }>("SubjectEvent", {
    type: required(choice("subject")),
    subject: required(anyText()),
    workspaces: required(list(anyText())),
  }),
);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
