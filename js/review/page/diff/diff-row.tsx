/** One row of a diff, with the boxes by which a part is chosen. */
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { HunkNews } from "../state/seen.ts";
import { visibleText } from "./escapes.ts";
import { FileHead } from "./file-head.tsx";
import type { DiffRow } from "./rows.ts";
import { SafeText } from "./text.tsx";

/** The choice of parts in a diff. */
export interface DiffChoice {
  /** True when parts can be chosen. */
  readonly canChoose: boolean;
  /** Chooses or leaves out a part, or a line of one. */
  onToggle(key: string, line?: number): void;
  onHunk(hunk: number): void;
  /** Begins or ends the choice of lines of a hunk. Absent where lines cannot be chosen. */
  onLines?(hunk: number): void;
  onLine?(hunk: number, line: number): void;
}

/** The properties of {@link Row}. */
interface RowProps {
  readonly row: DiffRow;
  readonly number: number;
  /** The share of its part that is left out; undefined for a file without parts. */
  readonly left: "none" | "part" | "all" | undefined;
  readonly isOut: boolean;
  readonly isMarked: boolean;
  /** True for a row of the hunk whose lines are chosen. */
  readonly canChooseLine: boolean;
  /** The difference of its hunk from the one that the person has seen before. */
  readonly news: HunkNews | undefined;
  readonly view: DiffChoice;
}

/** The sign of a row, and the word that screen readers say in its place. */
const SIGNS = { added: ["+", "added: "], removed: ["−", "removed: "], same: [" ", ""] } as const;

const NEWS_WORDS: Readonly<Record<HunkNews, string>> = {
  new: "not in what you saw",
  around: "other lines around it",
};

/** Draws a row. */
export function Row(props: RowProps): JSX.Element {
  const { row, number, left, isOut, isMarked, canChooseLine, news, view } = props;
  const rowIndex = number + 1;
  const state = `${isOut ? " out" : ""}${isMarked ? " marked" : ""}`;
  const wide = (kind: string, content: ComponentChildren): JSX.Element => (
    <div class={`row ${kind}${state}`} role="row" aria-rowindex={rowIndex}>
      <span role="gridcell" aria-colspan={3} class="whole">
        {content}
      </span>
    </div>
  );
  switch (row.kind) {
    case "file": {
      const head = <FileHead change={row.change} />;
      const isChoice = view.canChoose && (row.change.whole || row.change.hunks > 0);
      return wide(
        "file",
        <>
          {isChoice ? (
            <Choice
              left={left}
              label={`All of ${visibleText(row.change.path)}`}
              onToggle={() => view.onToggle(row.key)}
              onMark={() => row.index !== undefined && view.onHunk(row.index)}
            >
              {head}
            </Choice>
          ) : (
            head
          )}
          {left === "all" && <span class="tag">left out</span>}
        </>,
      );
    }
    case "hunk": {
      const text = <span class="hunk-text">{row.text}</span>;
      const isChoice = view.canChoose && !row.isWhole;
      return wide(
        "hunk",
        <>
          {isChoice ? (
            <Choice
              left={left}
              label={`Hunk ${row.index + 1}: ${row.text}`}
              onToggle={() => view.onToggle(row.key)}
              onMark={() => view.onHunk(row.index)}
            >
              {text}
            </Choice>
          ) : (
            text
          )}
          {left === "all" && !row.isWhole && <span class="tag">left out</span>}
          {left === "part" && <span class="tag">in part</span>}
          {news !== undefined && <span class={`tag news ${news}`}>{NEWS_WORDS[news]}</span>}
          {isChoice && view.onLines !== undefined && (
            <button
              type="button"
              class="small"
              aria-pressed={canChooseLine}
              aria-label={`Choose lines of hunk ${row.index + 1}`}
              onClick={() => view.onLines?.(row.index)}
            >
              Lines
            </button>
          )}
        </>,
      );
    }
    case "detail":
      return wide("detail", <SafeText text={row.text} />);
    default: {
      const [sign, word] = SIGNS[row.kind];
      return (
        <div class={`row ${row.kind}${state}`} role="row" aria-rowindex={rowIndex}>
          <span role="gridcell" class="number">
            {row.old ?? (row.isRest ? "…" : "")}
          </span>
          <span role="gridcell" class="number">
            {row.new ?? (row.isRest ? "…" : "")}
          </span>
          <span role="gridcell" class="code">
            {canChooseLine && row.kind !== "same" && !row.isRest && (
              <input
                type="checkbox"
                class="line-choice"
                checked={!isOut}
                aria-label={`${word}${visibleText(row.text)}`}
                onChange={() => view.onToggle(row.key, row.line)}
                onFocus={() => view.onLine?.(row.index, row.line)}
              />
            )}
            <span class="sign" aria-hidden="true">
              {sign}
            </span>
            {word !== "" && <span class="unseen">{word}</span>}
            <SafeText text={row.text} />
          </span>
        </div>
      );
    }
  }
}

interface ChoiceProps {
  readonly left: "none" | "part" | "all" | undefined;
  readonly label: string;
  readonly children: ComponentChildren;
  onToggle(): void;
  onMark(): void;
}

/** A box by which a part is chosen. It is neither checked nor empty when some of it is left out. */
function Choice({ left = "none", label, children, onToggle, onMark }: ChoiceProps): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (box.current === null) return;
    box.current.checked = left === "none";
    box.current.indeterminate = left === "part";
  });
  return (
    <label class="choice">
      <input
        ref={box}
        type="checkbox"
        checked={left === "none"}
        onChange={onToggle}
        onFocus={onMark}
        aria-label={label}
      />
      {children}
    </label>
  );
}
