/** The list of what waits: questions, and groups of them. */
import type { JSX } from "preact";
import { GroupCard } from "../group/group-card.tsx";
import { keyOfItem, useWaitingItems } from "../group/waiting-items.ts";
import { LongList } from "../long-list.tsx";
import type { ScreenProps } from "../props.ts";
import { QuestionCard } from "./question-card.tsx";

/** Draws the list. */
export function WaitingList({ state, effects }: ScreenProps): JSX.Element {
  const { waiting } = state.review;
  const { items, chosenKey } = useWaitingItems(state);
  return (
    <section class="waiting" part="waiting" aria-labelledby="waiting-head">
      <h2 id="waiting-head">
        Waiting <span class="badge">{waiting.length}</span>
      </h2>
      {waiting.length === 0 ? (
        <p class="none">Nothing waits.</p>
      ) : (
        <LongList
          items={items}
          keyOf={keyOfItem}
          chosen={chosenKey}
          draw={(item, isChosen) =>
            "group" in item ? (
              <GroupCard item={item} effects={effects} />
            ) : "joint" in item ? (
              <QuestionCard {...item} isChosen={isChosen} effects={effects} />
            ) : (
              <QuestionCard question={item} joint={undefined} isChosen={isChosen} effects={effects} />
            )
          }
        />
      )}
    </section>
  );
}
