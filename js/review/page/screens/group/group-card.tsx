/** The card of several questions of one turn and directory, with one decision about all of them. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { LineCounts } from "../../diff/file-head.tsx";
import { visibleText } from "../../diff/escapes.ts";
import { SafeText } from "../../diff/text.tsx";
import type { PageEffects } from "../props.ts";
import { placeOf, QuestionCard, sumOfLines } from "../waiting/question-card.tsx";
import { makerOf } from "./group.ts";
import type { GroupItem } from "./waiting-items.ts";
import { plural } from "../../../../engine/escape.ts";

/** The number of names that a closed card lists. */
const MAX_NAMES = 4;

/** Draws the card. */
export function GroupCard({
  item: { group, chosen, isOpen, counts, why, joint, setOpen },
  effects,
}: {
  readonly item: GroupItem;
  readonly effects: Pick<PageEffects, "dispatch">;
}): JSX.Element {
  const { questions, dir } = group;
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const names = questions.map((question) => placeOf(question).name);
  const lines = sumOfLines(questions.flatMap(({ changes }) => changes));
  const title = plural(questions.length, "change");
  return (
    <article
      class={chosen === undefined ? "group" : "group has-chosen"}
      aria-label={visibleText(`${title} in ${dir}, ${makerOf(group)}`)}
    >
      <button type="button" class="group-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="card-line">
          <span class="name">
            <span class="fold" aria-hidden="true">
              {isOpen ? "▾" : "▸"}
            </span>{" "}
            {title}
          </span>
          <LineCounts {...lines} />
        </span>
        <span class="card-line quiet">
          <SafeText class="folder" text={dir} />
        </span>
        <span class="card-line quiet">
          <SafeText class="folder" text={makerOf(group)} />
        </span>
        {!isOpen && (
          <span class="group-names">
            <SafeText text={names.slice(0, MAX_NAMES).join(", ")} />
            {names.length > MAX_NAMES && ` and ${names.length - MAX_NAMES} more`}
          </span>
        )}
      </button>
      {counts !== undefined && (
        <div class="group-answers">
          {(["refuse", "allow"] as const).map(
            (outcome) =>
              counts[outcome] > 1 && (
                <button
                  key={outcome}
                  type="button"
                  title={why}
                  disabled={why !== undefined}
                  onClick={() => effects.dispatch({ type: "group", group, outcome })}
                >
                  {outcome === "allow" ? "Allow" : "Refuse"} these {counts[outcome]}…
                </button>
              ),
          )}
        </div>
      )}
      {isOpen && (
        <ul ref={list}>
          {questions.map((question) => (
            <li key={question.id}>
              <QuestionCard
                question={question}
                isChosen={question.id === chosen}
                joint={joint.get(question.id)}
                isInGroup
                effects={effects}
              />
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}
