/** Unicode normal forms of deny globs and rule paths. */

/**
 * Returns a glob as written, in NFC and in NFD, because a disk may store a name in either form. A glob with
 * non-ASCII characters in brackets is returned alone: in NFD such a letter would become two members of the class.
 */
export function unicodeFormsOfGlob(glob: string): readonly string[] {
  const composed = glob.normalize("NFC");
  const parted = glob.normalize("NFD");
  if (composed === parted || /\[[^\]]*[\u{80}-\u{10ffff}]/u.test(glob)) return [glob];
  return [...new Set([glob, composed, parted])];
}
