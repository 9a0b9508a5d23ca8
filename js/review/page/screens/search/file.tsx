/** A file with the calls that wrote its lines. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { FileLineList } from "../../diff/file-lines.tsx";
import { SafeText } from "../../diff/text.tsx";
import type { Blame } from "../../../../pipeline/past/blame.ts";
import type { UnreviewedCalls } from "../../../past/history-protocol.ts";
import type { FileLines, FoundPlace } from "../../../protocol.ts";
import type { PageEffects } from "../props.ts";
import { clockTime } from "../timeline/view.ts";
import { useTimelineKeys } from "../timeline/timeline-keys.ts";
import { hiddenIn } from "../../state/hidden.ts";
import { SecretsBar } from "../secrets-bar.tsx";
import { useLoaded } from "../loaded.ts";

/** The properties of {@link FileView}. */
interface FileViewProps {
  readonly place: FoundPlace;
  readonly effects: PageEffects;
  onClose(): void;
}

/** Draws the file of a place, scrolled to its line. */
export function FileView({ place, effects, onClose }: FileViewProps): JSX.Element {
  const { path, line } = place;
  const [isShown, setShown] = useState(false);
  const { pages, failure } = useFile(effects, path, isShown);
  const toggle = (): void => setShown(!isShown);
  useTimelineKeys(effects, { h: () => (isShown || hiddenIn(pages) > 0) && toggle() });
  const blame = useLoaded<Blame>(effects, `files/blame?path=${encodeURIComponent(path)}`);
  const { data: kept } = useLoaded<UnreviewedCalls>(effects, "history/unreviewed");
  const [first] = pages;
  // Lines of another content would be named after the wrong calls.
  const origins = first?.hash === blame.data?.hash ? blame.data?.lines : undefined;
  return (
    <section class="file" aria-labelledby="file-head">
      <header class="file-head">
        <h2 id="file-head">
          <SafeText text={path} />
        </h2>
        <span class="quiet">
          {first !== undefined && `${first.total ?? "many"} lines, ${first.encoding}`}
        </span>
        <span class="spacer" />
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      {failure !== undefined && <p class="bar failure">The file could not be read: {failure}</p>}
      {blame.failure !== undefined && failure === undefined && (
        <p class="bar">Who wrote the lines is not known: {blame.failure}</p>
      )}
      {kept?.forgottenBefore !== undefined && origins?.some(({ origin }) => origin === "older") && (
        <p class="bar">
          Calls before {clockTime(kept.forgottenBefore)} are no longer kept, so a call may have written lines
          that have no name here.
        </p>
      )}
      <SecretsBar pages={pages} isShown={isShown} onToggle={toggle} />
      {pages.length > 0 && <FileLineList pages={pages} origins={origins} line={line} />}
    </section>
  );
}

/** Loads the pages of a file one after the other. */
function useFile(
  effects: PageEffects,
  path: string,
  isShown: boolean,
): { readonly pages: readonly FileLines[]; readonly failure: string | undefined } {
  const [pages, setPages] = useState<readonly FileLines[]>([]);
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    const read = async (): Promise<void> => {
      for (let from: number | undefined = 1; from !== undefined && isCurrent; ) {
        const secrets = isShown ? "&secrets=shown" : "";
        const page: FileLines = await effects.load(
          `files?path=${encodeURIComponent(path)}&from=${from}${secrets}`,
        );
        const isFirst = from === 1;
        if (isCurrent) setPages((before) => [...(isFirst ? [] : before), page]);
        from = page.next;
      }
    };
    setFailure(undefined);
    read().catch((error: unknown) => isCurrent && setFailure(messageOf(error)));
    return () => {
      isCurrent = false;
    };
  }, [path, isShown]);
  return { pages, failure };
}
