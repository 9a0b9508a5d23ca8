/** Everything that the filesystem server's units expect and ours do as well. */
import { FILE_CASES } from "./cases-files.ts";
import { LINK_CASES } from "./cases-links.ts";
import { PATH_CASES } from "./cases-paths.ts";
import { TREE_CASES } from "./cases-tree.ts";
import type { UnitCase } from "./units.ts";

/** The list. */
export const CASES: readonly UnitCase[] = [...FILE_CASES, ...TREE_CASES, ...PATH_CASES, ...LINK_CASES];
