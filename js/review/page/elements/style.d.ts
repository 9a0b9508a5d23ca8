/** The style of the elements, which the build makes of `review.css` (`scripts/review-page.mjs`). */
declare module "elements-style" {
  /** The rules for a shadow root. */
  export const rules: string;
  /** The names of the custom properties that the page around an element can set. */
  export const properties: readonly string[];
}
