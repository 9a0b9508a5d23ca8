/** The head of a change: its path, its kind, and how many lines it adds and removes. */
import type { JSX } from "preact";
import type { ChangeSummary } from "../../protocol.ts";
import { visibleText } from "./escapes.ts";
import { SafeText } from "./text.tsx";

/** The kind of change of a path, in a word. */
const KIND_WORDS: Readonly<Record<ChangeSummary["kind"], string>> = {
  create: "new",
  edit: "edit",
  delete: "delete",
  move: "move",
  copy: "copy",
};

/** Draws the head of a change. */
export function FileHead({ change }: { readonly change: ChangeSummary }): JSX.Element {
  const { path, kind, type, from, mode, added, removed, only } = change;
  return (
    <>
      <span class={`tag ${kind}`}>
        {KIND_WORDS[kind]}
        {type === "file" ? "" : ` ${type}`}
      </span>{" "}
      <span class="path" title={visibleText(path)}>
        {from !== undefined && (
          <>
            <SafeText text={from} /> →{" "}
          </>
        )}
        <SafeText text={path} />
      </span>
      {mode !== undefined && <span class="tag">mode {mode}</span>}
      {only !== undefined && <span class="tag">only {only} changed</span>}
      {added + removed > 0 && <LineCounts added={added} removed={removed} />}
    </>
  );
}

/** Draws the numbers of added and removed lines. */
export function LineCounts({
  added,
  removed,
}: {
  readonly added: number;
  readonly removed: number;
}): JSX.Element {
  return (
    <span class="counts">
      <span class="plus">
        +{added}
        <span class="unseen"> lines added</span>
      </span>{" "}
      <span class="minus">
        −{removed}
        <span class="unseen"> lines removed</span>
      </span>
    </span>
  );
}
