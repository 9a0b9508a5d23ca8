/** Describes the end of what a person has allowed, in the same words on the page and in the terminal. */

/** Returns a time of the reader's clock, such as `14:05`, or `2026-11-28 14:05` on another day than that of `now`. */
export function timeInWords(at: Date, now: Date): string {
  const two = (part: number): string => String(part).padStart(2, "0");
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/**
 * Returns an end in words. `until` is `turn`, `session`, `kept`, or a time in ISO 8601; undefined for what no time ends.
 * `sessionEnd` says when the end `session` comes, where it is a length of time.
 */
export function endInWords(
  until: string | undefined,
  {
    sessionEnd = "",
    now = new Date(),
  }: { readonly sessionEnd?: string | undefined; readonly now?: Date } = {},
): string {
  switch (until) {
    case undefined:
      return "until it is revoked";
    case "turn":
      return "until the end of the turn";
    case "session":
      return sessionEnd.startsWith("for ") ? sessionEnd : "until the end of the session";
    case "kept":
      return "kept in the rules file";
    default:
      return `until ${timeInWords(new Date(until), now)}`;
  }
}
