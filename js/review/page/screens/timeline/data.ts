/** The data of the timeline, as far as it has arrived. */
import { messageOf } from "../../../../engine/thrown.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LineTotals, PastCounts, RowsPage } from "../../../past/history-protocol.ts";
import type { ChangeRows } from "../../../protocol.ts";
import type { PageEffects } from "../props.ts";

/** The time in milliseconds between two loads of data that changes all the time. */
const MIN_LOAD_MS = 300;

/** Returns a number that follows another one, at most once in a while. */
export function useSlowly(value: number): number {
  const [slow, setSlow] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    if (value === slow) return undefined;
    const wait = Math.max(0, last.current + MIN_LOAD_MS - performance.now());
    const timer = setTimeout(() => {
      last.current = performance.now();
      setSlow(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value, slow]);
  return slow;
}

/** The time in milliseconds for which a list must rest before the lines of its calls are counted. */
const REST_MS = 100;
/** The number of calls whose lines are counted at once. */
const MAX_COUNTED = 40;

/** Returns the numbers of lines of the calls that are drawn, as they are counted; null where they are not known. */
export function useLineCounts(
  effects: PageEffects,
  callIds: readonly string[],
): ReadonlyMap<string, LineTotals | null> {
  const [counts, setCounts] = useState<ReadonlyMap<string, LineTotals | null>>(new Map());
  const missing = callIds
    .filter((id) => !counts.has(id))
    .slice(0, MAX_COUNTED)
    .join(",");
  useEffect(() => {
    if (missing === "") return undefined;
    let isCurrent = true;
    const load = (): void => {
      effects.load<PastCounts>(`history/counts?ids=${missing}`).then(
        ({ counts: found }) =>
          isCurrent && setCounts((before) => new Map([...before, ...Object.entries(found)])),
        // The numbers are left out.
        () => {},
      );
    };
    const timer = setTimeout(load, REST_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [missing]);
  return counts;
}

/** Rows as far as they have arrived. */
export interface PastRows {
  readonly pages: readonly ChangeRows[];
  readonly isLoading: boolean;
  readonly failure: string | undefined;
  /** Loads the next part; undefined when all rows are there. */
  readonly more: (() => void) | undefined;
  /** True when secrets are shown. */
  readonly isShown: boolean;
  /** Shows secrets, or hides them again. */
  toggleSecrets(): void;
}

interface RowsState {
  readonly path: string;
  readonly pages: readonly ChangeRows[];
  readonly next?: RowsPage["next"];
  readonly failure?: string;
}

/**
 * Loads the rows of a path of the server, such as `history/ID/rows`: the first 4 MB, and then as much again whenever
 * that is asked for.
 */
export function useRows(effects: PageEffects, given: string | undefined): PastRows {
  /** The path whose secrets are shown. */
  const [shown, setShown] = useState<string>();
  const isShown = given !== undefined && shown === given;
  const path = isShown ? `${given}${given.includes("?") ? "&" : "?"}secrets=shown` : given;
  const [state, setState] = useState<RowsState>();
  const current = useRef(path);
  current.current = path;
  const load = (pages: readonly ChangeRows[], next: RowsPage["next"]): void => {
    if (path === undefined) return;
    effects.load<RowsPage>(next === undefined ? path : pathOfPart(path, next)).then(
      (page) => {
        if (current.current !== path) return;
        const found = { path, pages: [...pages, ...page.pages] };
        setState(page.next === undefined ? found : { ...found, next: page.next });
      },
      (error: unknown) => {
        if (current.current !== path) return;
        setState({ path, pages, failure: messageOf(error) });
      },
    );
  };
  useEffect(() => load([], undefined), [path]);
  const own = state?.path === path ? state : undefined;
  const { pages = [], next } = own ?? {};
  return {
    pages,
    isLoading: own === undefined && path !== undefined,
    failure: own?.failure,
    more: next === undefined ? undefined : () => load(pages, next),
    isShown,
    toggleSecrets: () => setShown(isShown ? undefined : given),
  };
}

/** Returns the path of a later part of the rows. */
function pathOfPart(path: string, { change, from }: NonNullable<RowsPage["next"]>): string {
  const [plain = "", query = ""] = path.split("?");
  const parameters = new URLSearchParams(query);
  parameters.set("change", String(change));
  parameters.set("from", String(from));
  return `${plain}?${parameters}`;
}
