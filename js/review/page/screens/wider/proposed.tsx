/** A quiet line that proposes a wider answer, once the server has said that it would have covered calls. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CoveredCount, ReviewQuestion } from "../../../protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import type { ScreenProps } from "../props.ts";
import { narrowestDraft, wideningOfDraft } from "../../../questions/wider-draft.ts";
import { ALLOWED_BEFORE_PROPOSAL, proposalFor } from "./proposal.ts";
import { whyNotWider } from "./why-not.ts";

/** Draws the line; nothing where nothing is proposed. */
export function Proposed({
  state,
  effects,
  question,
}: ScreenProps & { readonly question: ReviewQuestion }): JSX.Element | null {
  const isPossible = whyNotWider(state) === undefined;
  const proposal = isPossible ? proposalFor(state, question) : undefined;
  const now = Date.now();
  const asked =
    proposal && wideningOfDraft(question, { ...narrowestDraft(question, now), ...proposal.draft }, now);
  const body = asked === undefined ? undefined : JSON.stringify({ id: question.id, ...asked });
  /** The proposal of which the server knows that it covers calls. */
  const [known, setKnown] = useState<string>();
  useEffect(() => {
    if (body === undefined || known === body) return undefined;
    let isCurrent = true;
    effects.send<CoveredCount>("scopes", JSON.parse(body) as object).then(
      ({ covered }) => isCurrent && covered > 0 && setKnown(body),
      () => {}, // A scope that the question does not offer is not proposed.
    );
    return () => {
      isCurrent = false;
    };
  }, [body]);
  if (proposal === undefined || known !== body) return null;
  return (
    <div class="proposed">
      <p class="quiet">
        You have allowed <SafeText text={question.tool} /> at least {ALLOWED_BEFORE_PROPOSAL} times{" "}
        <SafeText text={proposal.place} />.
      </p>
      <button
        type="button"
        onClick={() => effects.dispatch({ type: "dialog", dialog: "wider", proposal: proposal.draft })}
      >
        Allow such calls…
      </button>
    </div>
  );
}
