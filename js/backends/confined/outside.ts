/** The errors of a policy. Their texts do not depend on what exists. */
import { type FilewrightError, makeError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { PlaceRow } from "./places.ts";
import type { Intent } from "../policy.ts";

/**
 * The maximum length of a path in a message, in code points. The middle of a longer one is left out, so that the
 * sentence stays on one line.
 */
const MAX_SHOWN_CHARS = 120;

/** Returns a path for use in a sentence: escaped, and shortened in the middle when very long. */
export function shownPath(path: string): string {
  const shown = escapeControls(path);
  if (shown.length <= MAX_SHOWN_CHARS) return shown;
  const chars = [...shown];
  if (chars.length <= MAX_SHOWN_CHARS) return shown;
  const half = MAX_SHOWN_CHARS / 2;
  return `${chars.slice(0, half).join("")}…${chars.slice(-half).join("")}`;
}

/** Returns the error for a path that is outside the roots or denied. */
export function outside(path: string, intent: Intent): FilewrightError {
  const place = intent === "write" ? "write directories" : "directories";
  return makeError("OUTSIDE_ALLOWED", `path '${shownPath(path)}' is outside the allowed ${place}`, { path });
}

/** Returns the error for a write to a protected path. */
export function protectedPath(path: string, message = "is protected from changes"): FilewrightError {
  return makeError("PROTECTED_PATH", `path '${shownPath(path)}' ${message}`, { path });
}

/**
 * Returns the error for a write to a protected place of the table. It names the program that runs or reads the
 * place.
 */
export function protectedPlace(path: string, { pattern, reason }: PlaceRow): FilewrightError {
  return makeError("PROTECTED_PATH", `path '${shownPath(path)}' is protected from changes`, {
    path,
    details: { reason: "place", place: pattern, because: reason },
  });
}

/**
 * Returns the error for a path with a name of Filewright's own temporary files. What has such a name can be removed by
 * the next change in its directory.
 */
export function temporaryName(path: string): FilewrightError {
  return makeError("PROTECTED_PATH", `path '${shownPath(path)}' has the name of a temporary file`, {
    path,
    details: { reason: "temporary" },
  });
}

/** Returns the error for a change in a directory that git takes for a repository, or that would become one. */
export function repositoryPath(path: string): FilewrightError {
  const message = `path '${shownPath(path)}' is part of a directory that git takes for a repository`;
  return makeError("PROTECTED_PATH", message, { path, details: { reason: "repository" } });
}

/** Returns the error for a write under a read-only policy. */
export function readOnly(path: string): FilewrightError {
  return makeError("READ_ONLY", `cannot write '${shownPath(path)}': the workspace is read-only`, { path });
}

/** Returns the error for reading a file that contains a private key. */
export function secretContent(path: string): FilewrightError {
  return makeError("GRANT_DENIED", `'${shownPath(path)}' holds a private key, and nobody has granted it`, {
    path,
    details: { reason: "secret", by: "content" },
  });
}

/** Returns the error for reading a secret, or for moving it to a path where it could be read. */
export function secret(path: string): FilewrightError {
  return makeError(
    "GRANT_DENIED",
    `'${shownPath(path)}' is a secret by its name, and nobody has granted it`,
    {
      path,
      details: { reason: "secret" },
    },
  );
}
