/** One fact in the head of a question or of a past call. */
import type { ComponentChildren, JSX } from "preact";
import { SafeText } from "../diff/text.tsx";

/** The properties of {@link Fact}. */
interface FactProps {
  readonly label: string;
  /** The fact as a text, instead of `children`. */
  readonly text?: string | undefined;
  readonly children?: ComponentChildren;
}

/** Draws a fact with its label; nothing where there is none. */
export function Fact({ label, text, children }: FactProps): JSX.Element | null {
  if (text === undefined && children === undefined) return null;
  return (
    <span class="fact">
      <span class="label">{label}</span> {children}
      <SafeText text={text} />
    </span>
  );
}
