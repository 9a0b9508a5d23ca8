/**
 * `filewright/review/elements`: the review page and its parts as custom elements, for pages of your own. Importing it
 * registers them; where there is no DOM, as on a server that renders pages, it registers nothing.
 *
 * This file has the declarations. The build replaces its code with that of `page/elements/`, which is made of the
 * components of the review page.
 *
 * @module filewright/review/elements
 */
import type { ChangeRows, ReviewQuestion, SettledQuestion } from "./protocol.ts";
import type { ReviewTransport } from "./transport.ts";

/** The members of all elements that are connected to a hub. */
export interface ReviewConnection {
  /**
   * The address of the review page, such as `/review`, of the same origin as the page around the element; also an
   * attribute. With `#t=…` at its end, as `link()` and `ticket()` of the server return it, it logs in once.
   */
  src: string;
  /** The connection to the hub, instead of `src`: that of `hubTransport`, or your own. */
  transport: ReviewTransport | undefined;
}

/** The events of all elements that are connected to a hub. They do not bubble. */
export interface ReviewElementEvents {
  /** The questions that wait have changed. */
  waiting: CustomEvent<readonly ReviewQuestion[]>;
  /** A question does not wait any more: a person has answered it, or its caller has stopped waiting. */
  settled: CustomEvent<SettledQuestion>;
}

/** `<filewright-review>`: the whole review page. */
export interface FilewrightReviewElement extends HTMLElement, ReviewConnection {}

/** `<filewright-approval>`: one question with its change and its answers. */
export interface FilewrightApprovalElement extends HTMLElement, ReviewConnection {
  /** The id of the question, also an attribute. Default: the one that has waited longest. */
  question: string;
}

/** `<filewright-timeline>`: the changes that were made, with undo and rewind. */
export interface FilewrightTimelineElement extends HTMLElement, ReviewConnection {}

/** `<filewright-diff>`: a change, line by line, without a connection. Set `patch` or `rows`. */
export interface FilewrightDiffElement extends HTMLElement {
  /** A unified diff of one file or several. */
  patch: string;
  /** The rows of a change, as `GET /review/approvals/ID/changes/N` answers them. */
  rows: readonly ChangeRows[];
}

declare global {
  interface HTMLElementTagNameMap {
    "filewright-review": FilewrightReviewElement;
    "filewright-approval": FilewrightApprovalElement;
    "filewright-timeline": FilewrightTimelineElement;
    "filewright-diff": FilewrightDiffElement;
  }
}

/**
 * The custom properties of CSS that the elements take from the page around them, each with the prefix `--filewright-`.
 * A value may differ by the colour scheme with `light-dark()`; the elements follow `color-scheme` of that page.
 */
export declare const ELEMENT_PROPERTIES: readonly string[];

/**
 * The names of the elements for `::part()`, such as `filewright-review::part(allow)`.
 */
export declare const ELEMENT_PARTS: readonly string[];
