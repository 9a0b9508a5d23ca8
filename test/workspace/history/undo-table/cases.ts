/** The cells of the undo table: its rows, and the cells that make no sense. */
import type { Gap, Row } from "./row.ts";
import { COPIES } from "./rows/copies.ts";
import { DIRECTORIES } from "./rows/directories.ts";
import { FILES } from "./rows/files.ts";
import { MOVES } from "./rows/moves.ts";
import { PUTS } from "./rows/puts.ts";

/** The rows. */
export const ROWS: readonly Row[] = [...PUTS, ...FILES, ...DIRECTORIES, ...COPIES, ...MOVES];

/** The kinds of changes that are never in a situation. */
export const GAPS: readonly Gap[] = [
  { kind: "edit", when: "fresh", why: "an edit of a file that is not there is refused" },
  { kind: "edit", when: "inside", why: "an edit makes no directory" },
  { kind: "chmod", when: "fresh", why: "a patch of the bits of a file that is not there is refused" },
  { kind: "chmod", when: "inside", why: "no tool sets the bits of a directory" },
  { kind: "remove", when: "fresh", why: "a removal of what is not there is refused" },
];
