/** Checks by owner and mode that files of the state directory belong to this user alone. */

/**
 * Returns true when a file or directory belongs to this user and its mode has none of the bits `forbidden`. On
 * Windows a mode does not say who may use a file, and the state directory is in the user's profile.
 */
export function isOursAlone(
  facts: { readonly uid: number; readonly mode: number },
  forbidden: number,
): boolean {
  const own = process.getuid?.();
  if (own === undefined) return true;
  return (own === 0 || facts.uid === own) && (facts.mode & forbidden) === 0;
}
