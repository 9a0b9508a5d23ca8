/** The card of one question that waits. */
import type { JSX } from "preact";
import type { ReviewQuestion } from "../../../protocol.ts";
import { LineCounts } from "../../diff/file-head.tsx";
import { SafeText } from "../../diff/text.tsx";
import type { PageEffects } from "../props.ts";

/** The properties of {@link QuestionCard}. */
interface QuestionCardProps {
  readonly question: ReviewQuestion;
  readonly isChosen: boolean;
  /** The people who have allowed it, where several are asked. */
  readonly joint: string | undefined;
  /** True in the card of a group, which names the directory for all. */
  readonly isInGroup?: boolean;
  readonly effects: Pick<PageEffects, "dispatch">;
}

/** Draws the card. */
export function QuestionCard({
  question,
  isChosen,
  joint,
  isInGroup = false,
  effects,
}: QuestionCardProps): JSX.Element {
  const { name, folder } = placeOf(question);
  const changes = question.kind === "change" ? question.changes : [];
  return (
    <button
      type="button"
      class="card"
      aria-current={isChosen ? "true" : undefined}
      onClick={() => effects.dispatch({ type: "choose", id: question.id, now: performance.now() })}
    >
      <span class="card-line">
        <SafeText class="name" text={name} />
        {question.kind === "change" && <LineCounts {...sumOfLines(changes)} />}
      </span>
      {!isInGroup && (
        <span class="card-line quiet">
          <SafeText class="folder" text={folder} />
          <SafeText class="tool" text={question.tool} />
        </span>
      )}
      {question.kind === "change" && question.risk !== "low" && (
        <span class={`risk ${question.risk}`}>{question.risk} risk</span>
      )}
      {question.stale === true && <span class="risk medium">out of date</span>}
      <SafeText class="joint" text={joint} />
    </button>
  );
}

/** Returns how many lines changes add and remove together. */
export function sumOfLines(changes: readonly { readonly added: number; readonly removed: number }[]): {
  readonly added: number;
  readonly removed: number;
} {
  let [added, removed] = [0, 0];
  for (const change of changes) {
    added += change.added;
    removed += change.removed;
  }
  return { added, removed };
}

/** Returns the name of what a question is about, and the folder that it is in. */
export function placeOf(question: ReviewQuestion): { readonly name: string; readonly folder: string } {
  if (question.kind === "directory") return { name: question.dir, folder: `${question.access} access` };
  const [first] = question.changes;
  if (question.changes.length > 1)
    return { name: `${question.changes.length} files`, folder: question.title };
  const path = first?.path ?? question.title;
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return { name: path.slice(at + 1), folder: at <= 0 ? "" : path.slice(0, at) };
}
