/** The list of the questions that wait. */
import type { JSX } from "preact";
import { LineCounts } from "../../diff/file-head.tsx";
import { SafeText } from "../../diff/text.tsx";
import type { ReviewQuestion } from "../../../protocol.ts";
import { LongList } from "../long-list.tsx";
import type { ScreenProps } from "../props.ts";

/** Draws the list. */
export function WaitingList({ state: { review, chosen }, effects }: ScreenProps): JSX.Element {
  const { waiting } = review;
  return (
    <section class="waiting" part="waiting" aria-labelledby="waiting-head">
      <h2 id="waiting-head">
        Waiting <span class="badge">{waiting.length}</span>
      </h2>
      {waiting.length === 0 ? (
        <p class="none">Nothing waits.</p>
      ) : (
        <LongList
          items={waiting}
          keyOf={idOf}
          chosen={chosen}
          draw={(question, isChosen) => (
            <button
              type="button"
              class="card"
              aria-current={isChosen ? "true" : undefined}
              onClick={() => effects.dispatch({ type: "choose", id: question.id, now: performance.now() })}
            >
              <Card question={question} />
            </button>
          )}
        />
      )}
    </section>
  );
}

function idOf({ id }: ReviewQuestion): string {
  return id;
}

function Card({ question }: { readonly question: ReviewQuestion }): JSX.Element {
  const { name, folder } = placeOf(question);
  const changes = question.kind === "change" ? question.changes : [];
  const sum = (of: "added" | "removed"): number => changes.reduce((total, change) => total + change[of], 0);
  return (
    <>
      <span class="card-line">
        <span class="name">
          <SafeText text={name} />
        </span>
        {question.kind === "change" && <LineCounts added={sum("added")} removed={sum("removed")} />}
      </span>
      <span class="card-line quiet">
        <span class="folder">
          <SafeText text={folder} />
        </span>
        <span class="tool">
          <SafeText text={question.tool} />
        </span>
      </span>
      {question.kind === "change" && question.risk !== "low" && (
        <span class={`risk ${question.risk}`}>{question.risk} risk</span>
      )}
      {question.stale === true && <span class="risk medium">out of date</span>}
    </>
  );
}

/** Returns the name of what a question is about, and the folder that it is in. */
function placeOf(question: ReviewQuestion): { readonly name: string; readonly folder: string } {
  if (question.kind === "directory") return { name: question.dir, folder: `${question.access} access` };
  const [first] = question.changes;
  if (question.changes.length > 1)
    return { name: `${question.changes.length} files`, folder: question.title };
  const path = first?.path ?? question.title;
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return { name: path.slice(at + 1), folder: at <= 0 ? "" : path.slice(0, at) };
}
