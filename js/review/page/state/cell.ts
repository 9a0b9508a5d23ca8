/** A value that changes, such as the state of the page, for components and other listeners. */
import { useEffect, useState } from "preact/hooks";

/** A value that changes. To change it, set `value`. */
export interface Cell<T> {
  value: T;
  /** Calls `listener` now, and after each change until the returned function is called. */
  watch(listener: (value: T) => void): () => void;
}

/** Creates a cell with its first value. */
export function cell<T>(first: T): Cell<T> {
  const listeners = new Set<(value: T) => void>();
  let current = first;
  return {
    get value() {
      return current;
    },
    set value(next) {
      if (next === current) return;
      current = next;
      for (const listener of listeners) listener(next);
    },
    watch(listener) {
      // A listener that is added twice is called twice, so each has a function of its own.
      const own = (value: T): void => listener(value);
      listeners.add(own);
      own(current);
      return () => listeners.delete(own);
    },
  };
}

/** Returns the value of a cell, and draws the component again after each change. */
export function useCell<T>(of: Cell<T>): T {
  const [value, setValue] = useState(of.value);
  // The value may have changed since it was read, before the effect runs.
  useEffect(() => of.watch(setValue), [of]);
  return value;
}
