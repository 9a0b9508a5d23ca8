/** Counts the values that the server has hidden because they look like secrets. */

/** Returns the number of hidden values in pages of rows, or of a file. */
export function hiddenIn(pages: readonly { readonly hidden?: number }[] = []): number {
  return pages.reduce((sum, { hidden = 0 }) => sum + hidden, 0);
}
