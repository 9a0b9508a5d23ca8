/** The keys of the timeline. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PageEffects } from "../props.ts";

/** The effects of keys, by their names. */
export type TimelineKeys = Readonly<Partial<Record<string, () => unknown>>>;

/** Runs the function of a key that is pressed outside of fields, and that the page has not used itself. */
export function useTimelineKeys({ keyTarget = window }: PageEffects, keys: TimelineKeys): void {
  const current = useRef(keys);
  current.current = keys;
  // Not an effect after the next frame: a key may be pressed before it, when another call has just been chosen.
  useLayoutEffect(() => {
    const onKeyDown = (given: Event): void => {
      const event = given as KeyboardEvent;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const at = event.target as HTMLElement;
      if ((at.getRootNode() as ParentNode).querySelector("dialog") !== null) return;
      if (at.matches("input[type=text], textarea, select")) return;
      // A button or a box has a use of its own for it.
      if (event.key === " " && at.matches("button, input, summary, a")) return;
      const run = Object.hasOwn(current.current, event.key) ? current.current[event.key] : undefined;
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    keyTarget.addEventListener("keydown", onKeyDown);
    return () => keyTarget.removeEventListener("keydown", onKeyDown);
  }, [keyTarget]);
}
