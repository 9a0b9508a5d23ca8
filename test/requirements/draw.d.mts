/** The recorded draw's seed. */
export const SEED: number;
/** Rows of a draw. */
export const COUNT: number;
/** Some rows that tests show, as a seed picks them. */
export function draw<Row extends { readonly id: string; readonly test?: string }>(
  rows: readonly Row[],
  seed?: number,
  count?: number,
): Row[];
