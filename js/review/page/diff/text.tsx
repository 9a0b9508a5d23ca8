/** Text of files and names, with what cannot be seen as escapes. Content is only ever text, never markup. */
import type { JSX } from "preact";
import { textParts } from "./escapes.ts";

/** Draws a text with its escapes. */
export function SafeText({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {textParts(text).map(({ text: part, isEscape, hidden }, index) =>
        hidden !== undefined ? (
          <span key={index} class="secret" title={hidden}>
            <span aria-hidden="true">{part}</span>
            <span class="unseen">hidden</span>
          </span>
        ) : isEscape ? (
          <span key={index} class="escape">
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}
