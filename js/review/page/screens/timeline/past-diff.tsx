/** The rows of past changes. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { type LeftOutParts, stopsOf, withToggledPart } from "../../state/choice.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import type { PageEffects } from "../props.ts";
import type { PastRows } from "./data.ts";
import { hiddenIn } from "../../state/hidden.ts";
import { SecretsBar } from "../secrets-bar.tsx";
import { useTimelineKeys } from "./timeline-keys.ts";
import type { TimelineView } from "./view.ts";

interface PastDiffProps {
  readonly rows: PastRows;
  readonly hunk: number;
  readonly effects: PageEffects;
  /** The hunks that are left out of a choice; undefined where none can be made. */
  readonly leftOut?: LeftOutParts | undefined;
  show(change: Partial<TimelineView>): void;
}

/** Draws the rows of past changes. */
export function PastDiff({
  rows: { pages, isLoading, failure, more, isShown, toggleSecrets },
  hunk,
  leftOut,
  effects,
  show,
}: PastDiffProps): JSX.Element {
  const stops = useMemo(() => stopsOf(pages), [pages]);
  const toggle = (key: string): void => show({ leftOut: withToggledPart(pages, leftOut, key) });
  const marked = stops[hunk];
  useTimelineKeys(effects, {
    n: () => hunk + 1 < stops.length && show({ hunk: hunk + 1 }),
    p: () => hunk > 0 && show({ hunk: hunk - 1 }),
    h: () => (isShown || hiddenIn(pages) > 0) && toggleSecrets(),
    ...(leftOut === undefined || marked === undefined ? {} : { " ": () => toggle(marked.key) }),
  });
  if (failure !== undefined) return <p class="bar failure">The change could not be loaded: {failure}</p>;
  if (isLoading) return <p class="empty">Loading the change…</p>;
  if (pages.length === 0) return <p class="empty">Nothing is different.</p>;
  return (
    <>
      <SecretsBar pages={pages} isShown={isShown} onToggle={toggleSecrets} />
      <DiffView
        pages={pages}
        leftOut={leftOut}
        canChoose={leftOut !== undefined}
        hunk={hunk}
        line={undefined}
        onToggle={toggle}
        onHunk={(marked) => show({ hunk: marked })}
      />
      {more !== undefined && (
        <p class="bar">
          <button type="button" onClick={more}>
            Show the next 4 MB
          </button>
        </p>
      )}
    </>
  );
}
