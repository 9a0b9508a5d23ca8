/** Keeps a click that was meant for the question before from answering one that has just appeared. */
import { useEffect, useState } from "preact/hooks";
import { KEY_GUARD_MS } from "../state/store.ts";

/**
 * Returns true while the chosen question has just appeared. Its buttons then say with `aria-disabled` that they do
 * nothing yet, and keep the focus.
 *
 * @param chosenAt the time at which it appeared, in milliseconds of the page's clock
 */
export function useAnswerGuard(chosenAt: number): boolean {
  /** The appearance whose time is over. */
  const [over, setOver] = useState<number>();
  const left = chosenAt + KEY_GUARD_MS - performance.now();
  const isGuarded = over !== chosenAt && left > 0;
  useEffect(() => {
    if (!isGuarded) return undefined;
    const timer = setTimeout(() => setOver(chosenAt), left);
    return () => clearTimeout(timer);
  }, [chosenAt]);
  return isGuarded;
}
