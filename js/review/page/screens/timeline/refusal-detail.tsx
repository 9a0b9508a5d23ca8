/** The chosen refusal of the timeline: a change that was not made, and what its caller was told. */
import type { JSX } from "preact";
import type { SettledQuestion } from "../../../protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import { Fact } from "../fact.tsx";
import { clockTime, pathsOfQuestion } from "./view.ts";

/** Draws a refusal. */
export function RefusalDetail({ refusal }: { readonly refusal: SettledQuestion }): JSX.Element {
  const { question, by, at, reason } = refusal;
  const time = new Date(at).toISOString();
  return (
    <article class="question" aria-labelledby="tl-chosen">
      <header class="question-head">
        <h2 id="tl-chosen">
          Refused: <SafeText text={question.title} />
        </h2>
        <p class="facts">
          <Fact label="Agent" text={question.agent} />
          <Fact label="Time">
            <time dateTime={time}>{clockTime(time)}</time>
          </Fact>
          <Fact label="Refused by" text={by} />
        </p>
      </header>
      <p class="bar ended">
        {reason === undefined ? (
          "It was refused without a reason."
        ) : (
          <>
            The reason, which was sent to <SafeText text={question.agent ?? "the caller"} />:{" "}
            <SafeText text={reason} />
          </>
        )}
      </p>
      <ul class="tl-named">
        {pathsOfQuestion(question).map((path) => (
          <li key={path}>
            <SafeText text={path} />
          </li>
        ))}
      </ul>
      <p class="empty quiet">Nothing of it was made.</p>
    </article>
  );
}
