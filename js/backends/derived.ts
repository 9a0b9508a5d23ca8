/**
 * The large default methods of `CompleteFiles`: searches, listings, copies and removals of trees; and `moveEntry` for hidden
 * paths. `complete.ts` loads them with the first call of one, because a class such as the local disk has its own.
 */
export { copyContent, copyTree, moveEntry, removeEntries } from "./fallback/fallback-tree.ts";
export { walkedTree } from "./fallback/tree-page.ts";
export { searchCode } from "./search/search-code.ts";
export { rankFiles } from "./search/search-fuzzy.ts";
export { findByWalk, grepByWalk } from "./search/search.ts";
