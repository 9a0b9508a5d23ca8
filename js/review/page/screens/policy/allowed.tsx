/** Draws the lasting answers of people: approvals and granted directories, each with a button that revokes it. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApprovalScope } from "../../../../hooks/scope/scope.ts";
import { endInWords, timeInWords } from "../../../questions/ends.ts";
import { SafeText } from "../../diff/text.tsx";
import type { ShownApproval, ShownGrant } from "../../../policy-data.ts";
import type { AllowedPlace } from "../../state/notice.ts";
import { whyNotPermitted } from "../../state/permission.ts";
import type { ScreenProps } from "../props.ts";
import { ConfirmDialog } from "./confirm.tsx";
import { GrantDialog } from "./grant.tsx";

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
  const why = whyNotPermitted(state, "manage");
  const [revoked, setRevoked] = useState<string>();
  return (
    <section aria-labelledby="grants-head">
      <h3 id="grants-head">
        Granted directories <Count of={grants.length} />
      </h3>
      {!isAsked && <p class="none">This workspace asks for no directories, so grants have no effect.</p>}
      <Status>
        {revoked !== undefined && (
          <>
            Revoked: <SafeText text={revoked} />. It cannot be put back as it was; the form below grants it
            anew.
          </>
        )}
      </Status>
      <ul class="allowed">
        {grants.map(({ dir, access, ...given }) => (
          <Entry
            key={`${dir} ${access}`}
            state={state}
            effects={effects}
            isShown={state.allowed?.dir === dir}
            onRevoked={() => {
              setRevoked(dir);
              onChange();
            }}
            given={given}
            end={endInWords(given.expires)}
            revoke={{
              path: "grants/revoke",
              body: { dir },
              label: `Revoke the grants of ${dir}`,
              effect: "Calls below it are refused or asked about again. All grants of this directory end.",
            }}
          >
            <SafeText as="code" text={dir} /> {access === "write" ? "reading and writing" : "reading"}
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
export function Approvals({ state, effects, onChange, approvals }: ApprovalsProps): JSX.Element {
  const [revoked, setRevoked] = useState<ShownApproval>();
  const [failure, setFailure] = useState<string>();
  const { allowed = {} } = state;
  const shown = shownApproval(approvals, allowed)?.id;
  const restore = ({ id }: ShownApproval): void =>
    void effects.send("policy/approvals/restore", { id }).then(
      () => {
        setRevoked(undefined);
        onChange();
      },
      (error: unknown) => setFailure(messageOf(error)),
    );
  return (
    <section aria-labelledby="approvals-head">
      <h3 id="approvals-head">
        Lasting approvals <Count of={approvals.length} />
      </h3>
      <Status>
        {namesApproval(allowed) && shown === undefined && revoked === undefined && (
          <>
            The approval{allowed.approval === undefined && " that you gave"} is not listed: it has ended, or
            an agent of its own keeps it.
          </>
        )}
        {revoked !== undefined && (
          <>
            Revoked: <SafeText text={revoked.covers} />. Such calls are asked about again.{" "}
            {failure === undefined ? (
              <button type="button" onClick={() => restore(revoked)}>
                Put back
              </button>
            ) : (
              `It cannot be put back: ${failure}.`
            )}
          </>
        )}
      </Status>
      <ul class="allowed">
        {approvals.map((approval) => {
          const { id, covers, scope, expires } = approval;
          const end = endInWords(expires ?? scope.until);
          return (
            <Entry
              key={id}
              state={state}
              effects={effects}
              isShown={id === shown}
              onRevoked={() => {
                setFailure(undefined);
                setRevoked(approval);
                onChange();
              }}
              given={approval}
              end={end}
              revoke={{
                path: "policy/approvals/revoke",
                body: { id },
                label: `Revoke the approval: ${covers}, ${end}`,
                effect: "Calls that it covers are asked about again.",
              }}
            >
              <SafeText text={covers} />
            </Entry>
          );
        })}
      </ul>
    </section>
  );
}

/** Returns true when an approval is to be shown. */
export function namesApproval({ approval, scope }: AllowedPlace): boolean {
  return approval !== undefined || scope !== undefined;
}

/** Returns the approval that is to be shown; undefined when it is not listed. */
export function shownApproval(
  approvals: readonly ShownApproval[],
  { approval, scope: wanted }: AllowedPlace,
): ShownApproval | undefined {
  if (approval !== undefined) return approvals.find(({ id }) => id === approval);
  // The last one, where the same was allowed before.
  return approvals.findLast(({ scope }) => wanted !== undefined && isSameScope(scope, wanted));
}

/** Returns true for two scopes that cover the same calls until the same end. */
function isSameScope(one: ApprovalScope, other: ApprovalScope): boolean {
  return (["tool", "path", "agent", "until"] as const).every((key) => one[key] === other[key]);
}

/** Draws a message about a list. It is read out, and stays until the next change of the list. */
function Status({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <p class="allowed-status" role="status">
      {children}
    </p>
  );
}

function Count({ of }: { readonly of: number }): JSX.Element {
  return of === 0 ? <span class="quiet">none</span> : <span class="badge">{of}</span>;
}

interface EntryProps extends ScreenProps {
  /** True for the one that the person asked to see. */
  readonly isShown: boolean;
  readonly given: { readonly granted_at: string; readonly by?: string };
  /** When it ends, in words. */
  readonly end: string;
  /** Called when it was revoked. */
  onRevoked(): void;
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

function Entry({
  state,
  effects,
  isShown,
  onRevoked,
  given,
  end,
  revoke,
  children,
}: EntryProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  // Before the next key, whose focus it would take after it.
  useLayoutEffect(() => {
    if (isShown) item.current?.focus();
  }, [isShown]);
  const { granted_at, by } = given;
  const why = whyNotPermitted(state, "manage");
  return (
    <li ref={item} tabIndex={-1} class={isShown ? "shown" : undefined}>
      <span class="allowed-what">{children}</span>
      <span class="tag">{end}</span>
      <span class="quiet allowed-when">
        since <time dateTime={granted_at}>{timeInWords(new Date(granted_at), new Date())}</time>
        {by !== undefined && (
          <>
            {" "}
            by <SafeText text={by} />
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
            if (isDone) onRevoked();
          }}
        >
          <p>
            {children}, {end}
          </p>
          <p>{revoke.effect}</p>
        </ConfirmDialog>
      )}
    </li>
  );
}
