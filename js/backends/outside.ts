/** The refusals of a policy, in words that do not depend on what exists. */
import { type FilewrightError, makeError } from "../engine/errors.ts";
import { escapeControls } from "./paths.ts";
import type { Intent } from "./policy.ts";

/** Longer paths are shown with their middle left out, so that the sentence stays one line. */
const SHOWN_CHARS = 120;

/** A path as it is shown in a sentence: escaped, and cut in the middle when very long. */
export function shownPath(path: string): string {
  const shown = escapeControls(path);
  if (shown.length <= SHOWN_CHARS) return shown;
  const chars = [...shown];
  if (chars.length <= SHOWN_CHARS) return shown;
  const half = SHOWN_CHARS / 2;
  return `${chars.slice(0, half).join("")}…${chars.slice(-half).join("")}`;
}

/** The refusal of a path outside the roots, or of a denied one. */
export function outside(path: string, intent: Intent): FilewrightError {
  const place = intent === "write" ? "write directories" : "directories";
  return makeError("OUTSIDE_ALLOWED", `path '${shownPath(path)}' is outside the allowed ${place}`, { path });
}

/** The refusal of a write to a protected path. */
export function protectedPath(path: string, message = "is protected from changes"): FilewrightError {
  return makeError("PROTECTED_PATH", `path '${shownPath(path)}' ${message}`, { path });
}

/** The refusal of any write under a read-only policy. */
export function readOnly(path: string): FilewrightError {
  return makeError("READ_ONLY", `cannot write '${shownPath(path)}': the workspace is read-only`, { path });
}

/** The refusal to read a secret, or to take it to where it could be read. */
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
