/** Draws the screen "Search": it finds texts and names below the roots, and shows the chosen file. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { SafeText } from "../../diff/text.tsx";
import type { FoundPlace, FoundPlaces, SearchRequest } from "../../../protocol.ts";
import type { ScreenProps } from "../props.ts";
import { FileView } from "./file.tsx";
import { plural } from "../../../../engine/escape.ts";

/** A search as far as its answer has arrived. */
interface Search {
  readonly request: SearchRequest;
  readonly found?: FoundPlaces;
  readonly failure?: string;
}

/** Draws the screen. */
export function SearchScreen({ state, effects }: ScreenProps): JSX.Element {
  const [search, setSearch] = useState<Search>();
  const [place, setPlace] = useState<FoundPlace | undefined>(
    state.file === undefined ? undefined : { path: state.file },
  );
  /** The button that has opened the file. It gets the focus back when the file is closed. */
  const opener = useRef<HTMLElement>(undefined);
  useLayoutEffect(() => {
    if (place === undefined) opener.current?.focus();
  }, [place]);
  if (state.workspaces.length === 0) return <p class="none">No workspace is attached to this page.</p>;
  const start = (request: SearchRequest): void => {
    setSearch({ request });
    const isCurrent = (now: Search | undefined): boolean => now?.request === request;
    effects.send<FoundPlaces>("search", request).then(
      (found) => setSearch((now) => (isCurrent(now) ? { request, found } : now)),
      (error: unknown) => {
        const failure = messageOf(error);
        setSearch((now) => (isCurrent(now) ? { request, failure } : now));
      },
    );
  };
  return (
    <div class={`search${place === undefined ? "" : " has-file"}`}>
      <section class="search-side" aria-labelledby="search-head">
        <h2 id="search-head" class="unseen">
          Search
        </h2>
        <SearchForm onSearch={start} />
        <Results
          search={search}
          chosen={place}
          onChoose={(chosen, button) => {
            opener.current = button;
            setPlace(chosen);
          }}
        />
      </section>
      {place !== undefined && (
        <FileView key={place.path} place={place} effects={effects} onClose={() => setPlace(undefined)} />
      )}
    </div>
  );
}

function SearchForm({ onSearch }: { onSearch(request: SearchRequest): void }): JSX.Element {
  const [kind, setKind] = useState<SearchRequest["kind"]>("text");
  const submit = (form: HTMLFormElement): void => {
    const data = new FormData(form);
    const field = (name: string): string => String(data.get(name) ?? "").trim();
    const query = String(data.get("query") ?? "");
    if (query === "") return;
    const [path, glob] = [field("path"), field("glob")];
    onSearch({
      kind,
      query,
      ...(path === "" ? {} : { path }),
      ...(kind === "text" && glob !== "" ? { glob } : {}),
      ...(kind === "text" && data.get("regex") !== null ? { regex: true } : {}),
    });
  };
  return (
    <form
      class="search-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      <fieldset class="segments">
        <legend class="unseen">Search in</legend>
        {(["text", "names"] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
            {one === "text" ? "Contents" : "Names"}
          </label>
        ))}
      </fieldset>
      <input
        type="text"
        name="query"
        aria-label={kind === "text" ? "Text to find" : "Letters of the name"}
        placeholder={kind === "text" ? "Text to find" : "Letters of the name"}
        autocomplete="off"
        spellcheck={false}
      />
      <div class="search-more">
        <input type="text" name="path" aria-label="Directory" placeholder="Directory" autocomplete="off" />
        {kind === "text" && (
          <input
            type="text"
            name="glob"
            aria-label="Glob"
            placeholder="Glob, such as *.ts"
            autocomplete="off"
          />
        )}
      </div>
      <div class="search-more">
        {kind === "text" && (
          <label class="check">
            <input type="checkbox" name="regex" /> Regular expression
          </label>
        )}
        <span class="spacer" />
        <button type="submit">Search</button>
      </div>
    </form>
  );
}

interface ResultsProps {
  readonly search: Search | undefined;
  readonly chosen: FoundPlace | undefined;
  onChoose(place: FoundPlace, button: HTMLElement): void;
}

function Results({ search, chosen, onChoose }: ResultsProps): JSX.Element {
  return (
    <>
      <p class="quiet search-count" role="status">
        {summaryOf(search)}
      </p>
      <ul class="places">
        {search?.found?.places.map((place, index) => (
          <li key={`${index}:${place.path}`}>
            <button
              type="button"
              class="place"
              aria-current={place === chosen ? "true" : undefined}
              onClick={({ currentTarget }) => onChoose(place, currentTarget)}
            >
              <span class="place-path">
                <SafeText text={place.path} />
                {place.line !== undefined && <span class="quiet">:{place.line}</span>}
              </span>
              {place.text !== undefined && <SafeText as="code" text={place.text.trim()} />}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Returns in words how a search ended. */
function summaryOf(search: Search | undefined): string {
  if (search === undefined) return "The search sees what an agent could read here.";
  const { found, failure } = search;
  if (failure !== undefined) return `Not searched: ${failure}`;
  if (found === undefined) return "Searching…";
  const { places, total, isComplete } = found;
  if (places.length === 0) return isComplete ? "Nothing was found." : "Nothing was found in time.";
  if (isComplete && total <= places.length) return plural(places.length, "place");
  return `The first ${places.length} of ${isComplete ? "" : "at least "}${Math.max(total, places.length)} places`;
}
