/**
 * The requests of the screen "Search": texts and names below the roots, and files with the calls that wrote their lines.
 * They go through a read-only agent of the workspace, so its policy, its rules and its limits apply to the page too.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { choice, flag, optionReader, type Options, options, required, text } from "../../schema/option.ts";
import type { Blame } from "../../workspace/index.ts";
import type { FileLines, FoundPlaces, SearchRequest } from "../protocol.ts";
import { asksForSecrets, linesForPage } from "../secrets/hidden-rows.ts";
import { hideSecrets } from "../secrets/secret-text.ts";
import { bodyOf, json, refusal, reviewedOf, type ReviewRoute, type RouteRequest } from "./route.ts";

/** The maximum number of places that one search returns. */
const MAX_PLACES = 500;
/** The maximum number of characters of a line. */
const MAX_LINE_CHARS = 2000;
/** The number of lines of a page of a file. */
const PAGE_LINES = 5000;
/** The time in milliseconds after which a search ends with what it has found. */
const MAX_SEARCH_MS = 10_000;

const SEARCH_REQUEST: Options<SearchRequest> = options("SearchRequest", {
  kind: required(choice("text", "names")),
  query: required(text()),
  path: text(),
  glob: text(),
  regex: flag(),
  case: choice("sensitive", "insensitive", "smart"),
});
const readSearch = optionReader(SEARCH_REQUEST);

/** The requests of the screen "Search". */
export const SEARCH_ROUTES: readonly ReviewRoute[] = [
  { method: "POST", path: /^search$/u, role: "watch", run: search },
  { method: "GET", path: /^files$/u, role: "watch", run: fileLines },
  { method: "GET", path: /^files\/blame$/u, role: "watch", run: blame },
];

async function search(request: RouteRequest): Promise<Response> {
  const body = await bodyOf(request.request);
  const wanted = body === undefined ? undefined : readSearch(body);
  if (wanted === undefined) return refusal(400, "the search is not one that can be made");
  const reviewed = reviewedOf(request);
  if (reviewed === undefined) return refusal(404, "there is no such workspace");
  const reader = await reviewed.reader();
  const options = { signal: request.request.signal };
  const { kind, query, path, glob, regex = false, case: letters = "smart" } = wanted;
  const place = path === undefined ? {} : { path };
  if (kind === "names") {
    const found = await reader.findFiles(
      { query, limit: MAX_PLACES, timeout_ms: MAX_SEARCH_MS, ...place },
      options,
    );
    const places = found.files.map((one) => ({ path: one.path }));
    return json(200, { places, total: found.total, isComplete: !found.truncated } satisfies FoundPlaces);
  }
  const found = await reader.grep(
    {
      pattern: query,
      regex,
      case: letters,
      max_results: MAX_PLACES,
      max_line_chars: MAX_LINE_CHARS,
      timeout_ms: MAX_SEARCH_MS,
      ...place,
      ...(glob === undefined ? {} : { glob }),
    },
    options,
  );
  const places = (found.matches ?? []).map(({ path: file, line, text: shown }) => ({
    path: file,
    line,
    text: hideSecrets(shown).text,
  }));
  return json(200, {
    places,
    total: found.total_matches,
    isComplete: found.complete && !found.truncated,
  } satisfies FoundPlaces);
}

async function fileLines(request: RouteRequest): Promise<Response> {
  const reviewed = reviewedOf(request);
  if (reviewed === undefined) return refusal(404, "there is no such workspace");
  const from = Number(request.url.searchParams.get("from") ?? 1);
  if (!Number.isSafeInteger(from) || from < 1) return refusal(400, "`from` is the number of a line");
  const reader = await reviewed.reader();
  const file = await reader.readFile(
    {
      path: pathOf(request),
      start_line: from,
      max_lines: PAGE_LINES,
      max_line_chars: MAX_LINE_CHARS,
      line_numbers: "none",
    },
    { signal: request.request.signal },
  );
  const { path, content, start_line, total_lines, size, encoding, eol, bom, hash, next_start_line } = file;
  const lines: FileLines = {
    path,
    content,
    from: start_line,
    total: total_lines,
    size,
    encoding: `${encoding}${bom ? " with BOM" : ""}${eol === null || eol === "none" ? "" : `, ${eol}`}`,
    ...(hash === null ? {} : { hash }),
    ...(next_start_line === undefined ? {} : { next: next_start_line }),
  };
  return json(200, linesForPage(lines, asksForSecrets(request.url)));
}

async function blame(request: RouteRequest): Promise<Response> {
  const reviewed = reviewedOf(request);
  if (reviewed === undefined) return refusal(404, "there is no such workspace");
  const reader = await reviewed.reader();
  return json(200, (await reader.blame(pathOf(request))) satisfies Blame);
}

/** @throws FilewrightError INVALID_ARGUMENT without a path */
function pathOf({ url }: RouteRequest): string {
  const path = url.searchParams.get("path");
  if (path === null || path === "")
    throw new FilewrightError("INVALID_ARGUMENT", "the request names no `path`");
  return path;
}
