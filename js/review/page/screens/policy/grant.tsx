/** A button that grants one directory, after a dialog that says what that allows. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { SafeText } from "../../diff/text.tsx";
import type { NewGrant } from "../../../policy-data.ts";
import { whyNotPermitted } from "../../state/permission.ts";
import type { ScreenProps } from "../props.ts";
import { ConfirmDialog } from "./confirm.tsx";

/** The durations of a grant in minutes; 0 for one that lasts until it is revoked. The first one is preselected. */
const DURATIONS: readonly (readonly [minutes: number, label: string])[] = [
  [60, "for one hour"],
  [8 * 60, "for eight hours"],
  [0, "until it is revoked"],
];

interface GrantButtonProps extends ScreenProps {
  readonly dir: string;
  readonly access: "read" | "write";
  /** Called when the directory was granted. */
  onChange(): void;
}

/** Draws the button. It is disabled for a login that may not manage the policy. */
export function GrantButton({ state, effects, dir, access, onChange }: GrantButtonProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const why = whyNotPermitted(state, "manage");
  return (
    <span class="grant">
      <button type="button" disabled={why !== undefined} onClick={() => setOpen(true)}>
        Grant…
      </button>
      <span class="quiet">
        {access === "write" ? "reading and writing" : "reading"} below <SafeText text={dir} />
        {why !== undefined && `. ${why}`}
      </span>
      {isOpen && (
        <GrantDialog
          effects={effects}
          dir={dir}
          access={access}
          onEnd={(isDone) => {
            setOpen(false);
            if (isDone) onChange();
          }}
        />
      )}
    </span>
  );
}

interface GrantDialogProps extends Pick<ScreenProps, "effects"> {
  readonly dir: string;
  readonly access: "read" | "write";
  onEnd(isDone: boolean): void;
}

/** Draws the dialog. */
export function GrantDialog({ effects, dir, access, onEnd }: GrantDialogProps): JSX.Element {
  const [minutes, setMinutes] = useState(DURATIONS[0]?.[0] ?? 0);
  const grant: NewGrant = { dir, access, ...(minutes === 0 ? {} : { minutes }) };
  return (
    <ConfirmDialog
      title="Grant a directory"
      action="Grant"
      run={() => effects.send("grants", grant)}
      onEnd={onEnd}
    >
      <p>
        Every agent of this workspace may {access === "write" ? "read and change" : "read"} what is below{" "}
        <SafeText as="code" text={dir} />. What the host denies stays denied, and changes are asked about as
        before.
      </p>
      <label class="field">
        How long
        <select
          value={String(minutes)}
          onChange={({ currentTarget }) => setMinutes(Number(currentTarget.value))}
        >
          {DURATIONS.map(([value, label]) => (
            <option key={value} value={String(value)}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </ConfirmDialog>
  );
}
