/** Keeps the focus in a part of the page whose contents are replaced. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Gives the focus to a part when it shows something else and the focus was in it, on a button or a row that is gone.
 * `shown` names what it shows; undefined for nothing. Returns the reference for its element, which needs `tabIndex={-1}`.
 */
export function useKeptFocus<T extends HTMLElement>(shown: string | undefined): RefObject<T | null> {
  const part = useRef<T>(null);
  const wasInside = useRef(false);
  useLayoutEffect(() => {
    const onFocus = (event: FocusEvent): void => {
      const path = event.composedPath();
      // A dialog gives the focus back.
      if (path.some((one) => one instanceof HTMLDialogElement)) return;
      wasInside.current = part.current !== null && path.includes(part.current);
    };
    document.addEventListener("focusin", onFocus);
    return () => document.removeEventListener("focusin", onFocus);
  }, []);
  useLayoutEffect(() => {
    if (part.current === null) wasInside.current = false;
    else if (wasInside.current && document.activeElement === document.body)
      part.current.focus({ preventScroll: true });
  }, [shown]);
  return part;
}
