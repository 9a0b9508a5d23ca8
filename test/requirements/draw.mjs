// Which rows a mutation must show, and the one draw whose result is recorded in docs/requirements.md.
import { createHash } from "node:crypto";

/** The draw that is on record. */
export const SEED = 20261124;
/** Rows of a draw. */
export const COUNT = 60;

/**
 * Some rows that tests show, as a seed picks them. A row that is added or goes changes one row of the draw, not all.
 *
 * @param {readonly { id: string, test?: string }[]} rows
 */
export function draw(rows, seed = SEED, count = COUNT) {
  const rank = ({ id }) => createHash("sha256").update(`${seed}:${id}`).digest("hex");
  return rows
    .filter(({ test }) => test !== undefined)
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .slice(0, count);
}
