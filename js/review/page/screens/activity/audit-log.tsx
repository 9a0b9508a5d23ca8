/** The audit log as a file, whole or of some time, and how to switch it on. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { SavedFile } from "./saved-file.tsx";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";

/** Draws the section. */
export function AuditLog({ state, effects }: ScreenProps): JSX.Element {
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const hasWorkspace = state.workspaces.length > 0;
  const { data } = useLoaded<{ readonly isKept: boolean }>(effects, hasWorkspace ? "audit" : undefined);
  const mayExport = state.role === "manage" && data?.isKept === true;
  const query = new URLSearchParams({
    ...(from === "" ? {} : { from: new Date(from).toISOString() }),
    ...(to === "" ? {} : { to: new Date(to).toISOString() }),
    ...(state.workspace === undefined ? {} : { workspace: state.workspace }),
  }).toString();
  const isWhole = from === "" && to === "";
  return (
    <section class="audit-log" aria-labelledby="audit-head">
      <h3 id="audit-head">Audit log</h3>
      {data?.isKept === false && (
        <p class="none">
          This workspace keeps no audit log. Start the server with <code>--audit FILE</code>, or add{" "}
          <code>await auditFile("FILE")</code> to the option <code>observers</code>.
        </p>
      )}
      {data?.isKept === true && !mayExport && <p class="none">This login may not export it.</p>}
      {mayExport && (
        <>
          <div class="activity-form">
            <TimeField label="From" value={from} onInput={setFrom} />
            <TimeField label="To" value={to} onInput={setTo} />
            <SavedFile
              effects={effects}
              path={`audit.jsonl${query === "" ? "" : `?${query}`}`}
              label={`Download ${isWhole ? "all" : "this part"}`}
            />
          </div>
          <p class="quiet">
            Each line has the hash of the line before it, and who answered.{" "}
            <code>{`filewright audit verify ${isWhole ? "audit.jsonl" : "audit-extract.jsonl --extract"}`}</code>{" "}
            checks that no line is changed or missing
            {isWhole ? "." : "; a part is not checked for lines before and after it."}
          </p>
        </>
      )}
    </section>
  );
}

interface TimeFieldProps {
  readonly label: string;
  readonly value: string;
  onInput(value: string): void;
}

function TimeField({ label, value, onInput }: TimeFieldProps): JSX.Element {
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}
