/** The code of `filewright/review/elements`: registers the elements where there is a DOM. */
import { properties } from "elements-style";
import type * as declared from "../../elements.ts";
import { FilewrightDiff } from "./diff-element.tsx";
import { FilewrightApproval, FilewrightReview, FilewrightTimeline } from "./session-element.tsx";

export const ELEMENT_PROPERTIES: typeof declared.ELEMENT_PROPERTIES = properties;

export const ELEMENT_PARTS: typeof declared.ELEMENT_PARTS = [
  "header",
  "waiting",
  "calls",
  "question",
  "diff",
  "answers",
  "allow",
  "refuse",
  "screen",
];

const ELEMENTS = {
  "filewright-review": FilewrightReview,
  "filewright-approval": FilewrightApproval,
  "filewright-timeline": FilewrightTimeline,
  "filewright-diff": FilewrightDiff,
} satisfies Readonly<Record<string, CustomElementConstructor>>;

if (typeof customElements !== "undefined") {
  for (const [name, element] of Object.entries(ELEMENTS))
    if (customElements.get(name) === undefined) customElements.define(name, element);
}
