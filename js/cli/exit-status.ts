/** The exit statuses of the commands, as grep and diff use them. */

/** `nothing`: a search found nothing, or there was nothing to undo. `interrupted`: Ctrl-C. */
export const EXIT = { ok: 0, nothing: 1, error: 2, interrupted: 130 } as const;

/** The statuses in the words of the help. */
export const EXIT_HELP =
  "0 success, 1 nothing was found (grep, glob, find) or there was nothing to undo, 2 an error, a refusal or a wrong command line, 130 interrupted.";
