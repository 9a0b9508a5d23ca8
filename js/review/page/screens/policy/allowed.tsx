/** Draws the lasting answers of people: granted directories and approvals, each with a button that revokes it. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { SafeText } from "../../diff/text.tsx";
import type { ShownApproval, ShownGrant } from "../../../policy-data.ts";
import type { ScreenProps } from "../props.ts";
import { ConfirmDialog } from "./confirm.tsx";
import { GrantDialog, whyNotManaged } from "./grant.tsx";

/** The properties of both lists. */
interface AllowedProps extends ScreenProps {
  /** Called when something was granted or revoked. */
  onChange(): void;
}

interface GrantsProps extends AllowedProps {
  readonly grants: readonly ShownGrant[];
  /** True when the workspace asks for directories. Otherwise a grant has no effect. */
  readonly isAsked: boolean;
}

/** Draws the granted directories, and the form that grants another one. */
export function Grants({ state, effects, onChange, grants, isAsked }: GrantsProps): JSX.Element {
  const why = whyNotManaged(state);
  return (
    <section aria-labelledby="grants-head">
      <h3 id="grants-head">
        Granted directories <Count of={grants.length} />
      </h3>
      {!isAsked && <p class="none">This workspace asks for no directories, so grants have no effect.</p>}
      <ul class="allowed">
        {grants.map(({ dir, access, ...given }) => (
          <Entry
            key={`${dir} ${access}`}
            state={state}
            effects={effects}
            onChange={onChange}
            given={given}
            revoke={{
              path: "grants/revoke",
              body: { dir },
              label: `Revoke the grants of ${dir}`,
              effect: "Calls below it are refused or asked about again. All grants of this directory end.",
            }}
          >
            <code>
              <SafeText text={dir} />
            </code>{" "}
            {access === "write" ? "reading and writing" : "reading"}
          </Entry>
        ))}
      </ul>
      {isAsked && <NewGrantForm effects={effects} why={why} onChange={onChange} />}
    </section>
  );
}

interface NewGrantProps extends Pick<ScreenProps, "effects"> {
  /** Why nothing can be granted now. */
  readonly why: string | undefined;
  onChange(): void;
}

/** Draws the form that grants a directory before an agent asks for it. */
function NewGrantForm({ effects, why, onChange }: NewGrantProps): JSX.Element {
  const [dir, setDir] = useState("");
  const [access, setAccess] = useState<"read" | "write">("read");
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <form
        class="why-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (why === undefined && dir !== "") setOpen(true);
        }}
      >
        <label class="why-path">
          Directory
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            placeholder="/absolute/path"
            value={dir}
            onInput={({ currentTarget }) => setDir(currentTarget.value)}
          />
        </label>
        <label>
          Access
          <select
            value={access}
            onChange={({ currentTarget }) => setAccess(currentTarget.value === "write" ? "write" : "read")}
          >
            <option value="read">read</option>
            <option value="write">read and write</option>
          </select>
        </label>
        <button type="submit" disabled={why !== undefined || dir === ""}>
          Grant…
        </button>
        {why !== undefined && <span class="quiet">{why}</span>}
      </form>
      {isOpen && (
        <GrantDialog
          effects={effects}
          dir={dir}
          access={access}
          onEnd={(isDone) => {
            setOpen(false);
            if (!isDone) return;
            setDir("");
            onChange();
          }}
        />
      )}
    </>
  );
}

interface ApprovalsProps extends AllowedProps {
  readonly approvals: readonly ShownApproval[];
}

/** Draws the approvals that last beyond their call. */
export function Approvals({ approvals, ...props }: ApprovalsProps): JSX.Element {
  return (
    <section aria-labelledby="approvals-head">
      <h3 id="approvals-head">
        Lasting approvals <Count of={approvals.length} />
      </h3>
      <ul class="allowed">
        {approvals.map(({ id, label, until, ...given }) => (
          <Entry
            key={id}
            {...props}
            given={given}
            tag={TAG_BY_END[until] ?? "until a time"}
            revoke={{
              path: "policy/approvals/revoke",
              body: { id },
              label: `Revoke the approval: ${label}`,
              effect: "Calls that it covers are asked about again.",
            }}
          >
            <SafeText text={label} />
          </Entry>
        ))}
      </ul>
    </section>
  );
}

/** The words for the end of an approval. */
const TAG_BY_END: Readonly<Record<string, string>> = { turn: "turn", session: "session", kept: "kept" };

function Count({ of }: { readonly of: number }): JSX.Element {
  return of === 0 ? <span class="quiet">none</span> : <span class="badge">{of}</span>;
}

interface EntryProps extends AllowedProps {
  readonly given: { readonly granted_at: string; readonly expires?: string; readonly by?: string };
  readonly tag?: string;
  readonly revoke: {
    /** The request that revokes it. */
    readonly path: string;
    readonly body: object;
    /** The title of the dialog, and the name of the button. */
    readonly label: string;
    /** The consequence, as a sentence. */
    readonly effect: string;
  };
  readonly children: ComponentChildren;
}

function Entry({ state, effects, onChange, given, tag, revoke, children }: EntryProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { granted_at, expires, by } = given;
  const why = whyNotManaged(state);
  return (
    <li>
      <span class="allowed-what">{children}</span>
      {tag !== undefined && <span class="tag">{tag}</span>}
      <span class="quiet allowed-when">
        since <Time at={granted_at} />
        {by !== undefined && (
          <>
            {" "}
            by <SafeText text={by} />
          </>
        )}
        {expires !== undefined && (
          <>
            , until <Time at={expires} />
          </>
        )}
      </span>
      <button
        type="button"
        aria-label={revoke.label}
        title={why}
        disabled={why !== undefined}
        onClick={() => setOpen(true)}
      >
        Revoke…
      </button>
      {isOpen && (
        <ConfirmDialog
          title="Revoke"
          action="Revoke"
          run={() => effects.send(revoke.path, revoke.body)}
          onEnd={(isDone) => {
            setOpen(false);
            if (isDone) onChange();
          }}
        >
          <p>{children}</p>
          <p>{revoke.effect}</p>
        </ConfirmDialog>
      )}
    </li>
  );
}

/** Draws a time in ISO 8601 as the reader's own date and time. */
function Time({ at }: { readonly at: string }): JSX.Element {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return <time dateTime={at}>{`${day} ${two(date.getHours())}:${two(date.getMinutes())}`}</time>;
}
