/** Text of files and names, with what cannot be seen as escapes. Content is only ever text, never markup. */
import type { ComponentChildren } from "preact";
import { textParts } from "./escapes.ts";

/** The properties of {@link SafeText}. */
interface SafeTextProps {
  /** With undefined nothing is drawn. */
  readonly text: string | undefined;
  /** The class of an element around the text. */
  readonly class?: string;
  /** The tag of that element. Default: `span` with a class, and no element without one. */
  readonly as?: "code" | "span" | "strong";
}

/** Draws a text with its escapes. */
export function SafeText({
  text,
  class: name,
  as: Element = name === undefined ? undefined : "span",
}: SafeTextProps): ComponentChildren {
  if (text === undefined) return null;
  const parts = textParts(text).map(({ text: part, isEscape, hidden }, index) =>
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
  );
  return Element === undefined ? parts : <Element class={name}>{parts}</Element>;
}
