/** A list of any length: its entries are drawn once they come near what can be seen. */
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

/** The number of entries that are drawn at first, and that are added each time. */
const ENTRIES_PER_STEP = 40;
/** The height in CSS pixels that an entry has until it is drawn, about that of a card. */
const ENTRY_HEIGHT = 60;
/** The distance in CSS pixels between the visible part and the end of the drawn entries at which more are drawn. */
const NEAR = "600px";

/** The properties of {@link LongList}. */
interface LongListProps<T> {
  readonly items: readonly T[];
  keyOf(item: T): string;
  /** The key of the chosen entry, which is drawn and scrolled to. */
  readonly chosen: string | undefined;
  /** Draws an entry. It is called again only for another item, or when the entry is chosen or left. */
  draw(item: T, isChosen: boolean): JSX.Element;
}

/** Draws the list. */
export function LongList<T>({ items, keyOf, chosen, draw }: LongListProps<T>): JSX.Element {
  const [limit, setLimit] = useState(ENTRIES_PER_STEP);
  const list = useRef<HTMLUListElement>(null);
  const later = useRef<HTMLLIElement>(null);
  const chosenAt = chosen === undefined ? -1 : items.findIndex((item) => keyOf(item) === chosen);
  const count = Math.min(items.length, Math.max(limit, chosenAt + 1 + ENTRIES_PER_STEP / 2));
  const rest = items.length - count;

  useLayoutEffect(() => {
    const element = later.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setLimit(count + ENTRIES_PER_STEP);
      },
      { rootMargin: NEAR },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [count, rest > 0]);

  useLayoutEffect(() => {
    list.current?.children[chosenAt]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  return (
    <ul ref={list}>
      {items.slice(0, count).map((item) => (
        <Entry key={keyOf(item)} item={item} isChosen={keyOf(item) === chosen} draw={draw} />
      ))}
      {rest > 0 && (
        <li ref={later} class="later" style={{ height: `${rest * ENTRY_HEIGHT}px` }}>
          {rest} more
        </li>
      )}
    </ul>
  );
}

interface EntryProps<T> {
  readonly item: T;
  readonly isChosen: boolean;
  draw(item: T, isChosen: boolean): JSX.Element;
}

function Entry<T>({ item, isChosen, draw }: EntryProps<T>): JSX.Element {
  return useMemo(() => <li>{draw(item, isChosen)}</li>, [item, isChosen]);
}
