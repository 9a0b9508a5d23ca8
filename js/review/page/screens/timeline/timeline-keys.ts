/** The keys of the timeline. */
import { useEffect, useRef } from "preact/hooks";

/** The effects of keys, by their names. */
export type TimelineKeys = Readonly<Partial<Record<string, () => unknown>>>;

/** Runs the function of a key that is pressed outside of fields, and that the page has not used itself. */
export function useTimelineKeys(keys: TimelineKeys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const target = event.target as HTMLElement;
      if (target.matches("input[type=text], textarea, select")) return;
      const run = Object.hasOwn(current.current, event.key) ? current.current[event.key] : undefined;
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
