/**
 * `filewright/review/react`: the elements of the review page as components of React, and their data as a hook. It needs
 * the package react. Elsewhere than in a browser the components render the tags of the elements.
 *
 * @module filewright/review/react
 */
import "./elements.ts";
import {
  createElement,
  type CSSProperties,
  type ReactElement,
  useEffect,
  useMemo,
  useSyncExternalStore,
} from "react";
import { type ReviewActions, reviewClient, type ReviewView } from "./client.ts";
import type { ChangeRows, ReviewQuestion, SettledQuestion } from "./protocol.ts";
import type { ReviewTransport } from "./transport.ts";

export type { ReviewActions, ReviewAnswerDetails, ReviewRewindOptions, ReviewView } from "./client.ts";

/** The properties of all components, for the element that they draw. */
export interface ElementProps {
  readonly id?: string;
  readonly className?: string;
  readonly style?: CSSProperties;
}

/** The properties of the components that are connected to a hub. */
export interface ConnectionProps extends ElementProps {
  /** The address of the review page, such as `/review`, with a ticket or without. */
  readonly src?: string;
  /** The connection to the hub, instead of `src`. */
  readonly transport?: ReviewTransport;
  /** Called when the questions that wait have changed. */
  readonly onWaiting?: (event: CustomEvent<readonly ReviewQuestion[]>) => void;
  /** Called when a question does not wait any more. */
  readonly onSettled?: (event: CustomEvent<SettledQuestion>) => void;
}

/** The properties of {@link FilewrightApproval}. */
export interface ApprovalProps extends ConnectionProps {
  /** The id of the question. Default: the one that has waited longest. */
  readonly question?: string;
}

/** The properties of {@link FilewrightDiff}. */
export interface DiffProps extends ElementProps {
  /** A unified diff of one file or several. */
  readonly patch?: string;
  /** The rows of a change, instead of a patch. */
  readonly rows?: readonly ChangeRows[];
}

/** The whole review page. */
export function FilewrightReview(props: ConnectionProps): ReactElement {
  return connected("filewright-review", props);
}

/** One question with its change and its answers. */
export function FilewrightApproval(props: ApprovalProps): ReactElement {
  return connected("filewright-approval", props);
}

/** The changes that were made, with undo and rewind. */
export function FilewrightTimeline(props: ConnectionProps): ReactElement {
  return connected("filewright-timeline", props);
}

/** A change, line by line, without a connection. */
export function FilewrightDiff(props: DiffProps): ReactElement {
  return createElement("filewright-diff", props);
}

/** Draws an element. React sets its properties, and listens to the events after `on` in the case that is given. */
function connected(tag: string, { onWaiting, onSettled, ...props }: ConnectionProps): ReactElement {
  return createElement(tag, { ...props, onwaiting: onWaiting, onsettled: onSettled });
}

/**
 * Returns the data of a hub without any look, and the functions to answer and to rewind. The connection lasts while the
 * component is there.
 *
 * @param source the address of the review page, with a ticket or without, or a transport
 *
 * @example
 * const { pending, answer } = useReview("/review");
 * return pending.map((question) => (
 *   <button key={question.id} onClick={() => answer(question, "refuse")}>Refuse {question.title}</button>
 * ));
 */
export function useReview(source: string | ReviewTransport): ReviewView & ReviewActions {
  const client = useMemo(() => reviewClient(source), [source]);
  useEffect(() => {
    client.open();
    return () => client.close();
  }, [client]);
  const view = useSyncExternalStore(
    client.subscribe,
    () => client.view,
    () => client.view,
  );
  const { answer, rewind, load } = client;
  return { ...view, answer, rewind, load };
}
