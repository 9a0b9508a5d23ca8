/** Says that text is hidden which looks like a secret, and shows it when it is asked for. */
import type { JSX } from "preact";
import { hiddenIn } from "../state/hidden.ts";

/** The properties of {@link SecretsBar}. */
interface SecretsBarProps {
  readonly pages: readonly { readonly hidden?: number }[] | undefined;
  /** True when secrets are shown. */
  readonly isShown: boolean;
  /** Shows them, or hides them again. */
  onToggle(): void;
}

/** Draws the bar; nothing where no secret is hidden or shown. */
export function SecretsBar({ pages, isShown, onToggle }: SecretsBarProps): JSX.Element | null {
  const hidden = hiddenIn(pages);
  if (hidden === 0 && !isShown) return null;
  return (
    <div class="bar ended with-action">
      <p class="bar-text" role="status">
        {isShown
          ? "Secret-looking text is shown."
          : `${hidden} secret-looking ${hidden === 1 ? "value" : "values"} hidden.`}
      </p>
      <button type="button" class="small" aria-keyshortcuts="h" onClick={onToggle}>
        {isShown ? "Hide it" : "Show secret-looking text"} <kbd>h</kbd>
      </button>
    </div>
  );
}
