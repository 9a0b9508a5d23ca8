/** The normal forms of Unicode in which a deny glob and the path of a rule hold. */

/**
 * A glob as it was written and in both normal forms of Unicode, in either of which a disk may hold the name. Within
 * brackets a letter in two parts would be two letters, so such a glob stands alone.
 */
export function inBothForms(glob: string): readonly string[] {
  const composed = glob.normalize("NFC");
  const parted = glob.normalize("NFD");
  if (composed === parted || /\[[^\]]*[\u{80}-\u{10ffff}]/u.test(glob)) return [glob];
  return [...new Set([glob, composed, parted])];
}
