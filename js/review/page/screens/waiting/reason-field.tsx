/** The field for the reason of a refusal. */
import type { JSX } from "preact";

/** The maximum number of characters of a reason that the model gets. */
const MAX_REASON_CHARS = 100;

interface ReasonFieldProps {
  /** The id of the element, which its label names. */
  readonly id: string;
  readonly reason: string;
  onReason(reason: string): void;
}

/** Draws the field with its label. */
export function ReasonField({ id, reason, onReason }: ReasonFieldProps): JSX.Element {
  return (
    <>
      <label for={id}>Reason for the model (may be empty)</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        maxLength={MAX_REASON_CHARS}
        value={reason}
        onInput={({ currentTarget }) => onReason(currentTarget.value)}
      />
    </>
  );
}
