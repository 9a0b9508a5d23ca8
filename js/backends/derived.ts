/**
 * Methods of files that follow from others by walks: searches, listings, copies and removals of trees. They are loaded with
 * the first call of one of them, because files with their own, such as the disk, need none.
 */
export { copyContent, copyTree, moveEntry, removeEntries } from "./fallback/fallback-tree.ts";
export { walkedTree } from "./fallback/tree-page.ts";
export { rankFiles } from "./search/search-fuzzy.ts";
export { findByWalk, grepByWalk } from "./search/search.ts";
