/** The part of a long list that can be seen. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The height in CSS pixels for which rows are drawn before that of the list is known. */
const FIRST_HEIGHT = 1200;

/** The part of a list that can be seen, in CSS pixels. */
interface ListView {
  readonly top: number;
  readonly height: number;
}

/** Follows the part of a list that can be seen. */
export interface ListViewHandle {
  /** The reference for the element of the list. */
  readonly list: RefObject<HTMLDivElement | null>;
  readonly view: ListView;
  /** The listener for `scroll` of the element. */
  onScroll(): void;
}

/** Follows the part of a list that can be seen, while it is scrolled and changes its size. */
export function useListView(): ListViewHandle {
  const list = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<ListView>({ top: 0, height: FIRST_HEIGHT });
  const measure = (): void => {
    const element = list.current;
    if (element !== null) setView({ top: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(() => {
    if (list.current === null) return undefined;
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  return { list, view, onScroll: measure };
}
