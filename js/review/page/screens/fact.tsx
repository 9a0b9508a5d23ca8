/** One fact in the head of a question or of a past call. */
import type { ComponentChildren, JSX } from "preact";

/** Draws a fact with its label. */
export function Fact({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <span class="fact">
      <span class="label">{label}</span> {children}
    </span>
  );
}
