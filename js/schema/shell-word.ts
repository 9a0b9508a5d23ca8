/** Returns a word as a POSIX shell reads it, and PowerShell unless the word contains a single quote. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
