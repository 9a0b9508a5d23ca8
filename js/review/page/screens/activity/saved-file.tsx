/** A file of the server that a browser saves. */
import type { JSX } from "preact";
import type { PageEffects } from "../props.ts";

/** The properties of {@link SavedFile}. */
interface SavedFileProps {
  readonly effects: PageEffects;
  /** The path of the file below the address of the page. */
  readonly path: string;
  readonly label: string;
}

/** Draws a link that saves a file; nothing where there is no server, as in a page with a hub of its own. */
export function SavedFile({ effects, path, label }: SavedFileProps): JSX.Element | null {
  const address = effects.address(path);
  if (address === undefined) return null;
  return (
    <a class="button" href={address} download>
      {label}
    </a>
  );
}
