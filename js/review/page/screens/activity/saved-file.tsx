/** A file of the server that a browser saves. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PageEffects } from "../props.ts";

/** The properties of {@link SavedFile}. */
interface SavedFileProps {
  readonly effects: PageEffects;
  /** The path of the file below the address of the page. */
  readonly path: string;
  readonly label: string;
}

/** Draws a button that saves a file; nothing where there is no server, as in a page with a hub of its own. */
export function SavedFile({ effects: { file }, path, label }: SavedFileProps): JSX.Element | null {
  const [failure, setFailure] = useState<string>();
  if (file === undefined) return null;
  const save = async (): Promise<void> => {
    const link = document.createElement("a");
    const saved = await file(path);
    link.href = URL.createObjectURL(saved);
    link.download = saved.name;
    link.click();
    // The browser has taken the file when the next task runs.
    setTimeout(() => URL.revokeObjectURL(link.href));
  };
  const onClick = (): void => {
    setFailure(undefined);
    save().catch((error: unknown) => setFailure(messageOf(error)));
  };
  return (
    <>
      <button type="button" onClick={onClick}>
        {label}
      </button>
      {failure !== undefined && (
        <span class="bar failure" role="alert">
          Not saved: {failure}.
        </span>
      )}
    </>
  );
}
