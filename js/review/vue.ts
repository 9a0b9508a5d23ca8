/**
 * `filewright/review/vue`: the elements of the review page as components of Vue, and their data as a composable. It
 * needs the package vue.
 *
 * @module filewright/review/vue
 */
import "./elements.ts";
import { type FunctionalComponent, h, onMounted, onUnmounted, type ShallowRef, shallowRef } from "vue";
import { type ReviewActions, reviewClient, type ReviewView } from "./client.ts";
import type { ChangeRows, ReviewQuestion, SettledQuestion } from "./protocol.ts";
import type { ReviewTransport } from "./transport.ts";

export type { ReviewActions, ReviewAnswerDetails, ReviewRewindOptions, ReviewView } from "./client.ts";

/** The properties of the components that are connected to a hub. */
export interface ConnectionProps {
  /** The address of the review page, such as `/review`, with a ticket or without. */
  readonly src?: string;
  /** The connection to the hub, instead of `src`. */
  readonly transport?: ReviewTransport;
}

/** The events of the components that are connected to a hub. */
export type ConnectionEvents = {
  /** The questions that wait have changed. */
  waiting: (event: CustomEvent<readonly ReviewQuestion[]>) => void;
  /** A question does not wait any more. */
  settled: (event: CustomEvent<SettledQuestion>) => void;
};

/** The properties of {@link FilewrightApproval}. */
export interface ApprovalProps extends ConnectionProps {
  /** The id of the question. Default: the one that has waited longest. */
  readonly question?: string;
}

/** The properties of {@link FilewrightDiff}. */
export interface DiffProps {
  /** A unified diff of one file or several. */
  readonly patch?: string;
  /** The rows of a change, instead of a patch. */
  readonly rows?: readonly ChangeRows[];
}

/** The whole review page. */
export const FilewrightReview: FunctionalComponent<ConnectionProps, ConnectionEvents> =
  drawn("filewright-review");

/** One question with its change and its answers. */
export const FilewrightApproval: FunctionalComponent<ApprovalProps, ConnectionEvents> =
  drawn("filewright-approval");

/** The changes that were made, with undo and rewind. */
export const FilewrightTimeline: FunctionalComponent<ConnectionProps, ConnectionEvents> =
  drawn("filewright-timeline");

/** A change, line by line, without a connection. */
export const FilewrightDiff: FunctionalComponent<DiffProps> = drawn("filewright-diff");

/** Draws an element. Vue sets a property where the element has one, and listens to the events of `onName`. */
function drawn<Props extends object, Events extends object = object>(
  tag: string,
): FunctionalComponent<Props, Events & Record<never, never>> {
  const component: FunctionalComponent = (_, { attrs }) => h(tag, attrs);
  component.inheritAttrs = false;
  return component as unknown as FunctionalComponent<Props, Events & Record<never, never>>;
}

/**
 * Returns the data of a hub without any look, and the functions to answer and to rewind. The connection lasts while the
 * component is mounted.
 *
 * @param source the address of the review page, with a ticket or without, or a transport
 *
 * @example
 * const { view, answer } = useReview("/review");
 * // in the template: {{ view.pending.length }} questions wait
 */
export function useReview(
  source: string | ReviewTransport,
): { readonly view: ShallowRef<ReviewView> } & ReviewActions {
  const client = reviewClient(source);
  const view = shallowRef(client.view);
  client.subscribe(() => {
    view.value = client.view;
  });
  onMounted(client.open);
  onUnmounted(client.close);
  const { answer, rewind, load } = client;
  return { view, answer, rewind, load };
}
