/** The Unicode normal forms of deny globs and rule paths. */

/**
 * Returns a glob as written and in both Unicode normal forms, since a disk may contain the name in
 * either. A glob with brackets stays as it is, because a decomposed letter would become two
 * members of the class.
 */
export function unicodeFormsOfGlob(glob: string): readonly string[] {
  const composed = glob.normalize("NFC");
  const parted = glob.normalize("NFD");
  if (composed === parted || /\[[^\]]*[\u{80}-\u{10ffff}]/u.test(glob)) return [glob];
  return [...new Set([glob, composed, parted])];
}
