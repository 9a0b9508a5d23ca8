/** The search of `find_files`. It is loaded with its first call. */
import { findRankedFiles } from "../../backends/search/search-fuzzy.ts";
import { childOf } from "../../backends/paths.ts";
import type { FuzzyResult } from "../../engine/search-types.ts";
import { closedRootsNote, coveredRoots } from "../every-root.ts";
import { leftOutNote, otherRootsNote } from "../render/left-out.ts";
import { findLeftOut } from "../lib/left-out-entry.ts";
import type { FindFilesData, FoundFile } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { phraseIfNamed, set, settingPhrase, type Answer, type Call, locationError } from "../lib/tool.ts";
import { plural } from "../../engine/escape.ts";

type CheckedFindFilesArgs = CheckedArgs["find_files"];

/** Answers a call of `find_files`. */
export async function runFindFiles(args: CheckedFindFilesArgs, call: Call): Promise<Answer<FindFilesData>> {
  const at = call.locations[0]!;
  if (!(await call.fs.stat(at.path)).isDir) throw locationError("NOT_DIRECTORY", at);
  const covered = await coveredRoots(args.path, call);
  const roots = covered.roots.map((root) => root.path);
  const found: { readonly files: FoundFile[]; total: number } = { files: [], total: 0 };
  for (const root of roots) {
    const { files, total } = await findBestBelowRoot(args, args.limit, call, root);
    found.files.push(
      ...files.map((file) => ({ ...file, path: call.reader.display(childOf(root, file.path)) })),
    );
    call.seen.noteListed(files.map((file) => childOf(root, file.path)));
    found.total += total;
  }
  // The sort is stable: among equal scores those of the working directory come first.
  if (roots.length > 1) found.files.sort((a, b) => b.score - a.score);
  const files = found.files.slice(0, args.limit);
  const { total } = found;
  const truncated = files.length < total;
  const data = { files, total, truncated };
  const alone = args.path === "." ? undefined : otherRootsNote(total, at.path, call.reach.summary);
  const warnings = [alone, closedRootsNote(covered, "searched")].filter((note) => note !== undefined);
  // When the answer is truncated, its text already says that files are missing.
  if (!truncated)
    for (const root of roots) warnings.push(...(await leftOutWarnings(args, call, root, total)));
  return { data, warnings };
}

/** The maximum number of files that one ranked search returns; the best are kept. */
const MAX_RANKED_FILES = 10_000;

/**
 * Finds the files below a root, best first, at most `limit`. A query whose composed and decomposed Unicode
 * forms differ is searched in all forms, because file names may have any of them.
 */
async function findBestBelowRoot(
  {
    query,
    rank,
    respect_ignore: respectIgnore,
  }: Pick<CheckedFindFilesArgs, "query" | "rank" | "respect_ignore">,
  limit: number,
  call: Call,
  root: string,
): Promise<FuzzyResult> {
  const { signal } = call;
  const { ignoreFiles } = call.settings;
  const forms = [...new Set([query, query.normalize("NFC"), query.normalize("NFD")])];
  // A file that matches in two forms counts once, so the results of each form are needed beyond `limit`.
  const wanted = forms.length === 1 ? limit : MAX_RANKED_FILES;
  const best = new Map<string, number>();
  let total = 0;
  for (const form of forms) {
    const options = { query: form, limit: wanted, rank, respectIgnore, ignoreFiles, signal } as const;
    const found = await findRankedFiles(call.fs, root, options);
    total = Math.max(total, found.total);
    for (const { path, score } of found.files) best.set(path, Math.max(score, best.get(path) ?? 0));
  }
  const files = [...best].map(([path, score]) => ({ path, score }));
  if (forms.length === 1) return { files, total };
  files.sort((a, b) => b.score - a.score);
  return { files: files.slice(0, limit), total: Math.max(total, files.length) };
}

/**
 * Returns warnings about files below a root that the answer lacks although it is not truncated: ignored and
 * unreadable ones.
 */
async function leftOutWarnings(
  args: CheckedFindFilesArgs,
  call: Call,
  root: string,
  total: number,
): Promise<readonly string[]> {
  const { signal } = call;
  const { ignoreFiles } = call.settings;
  const names = { pattern: "**", limit: 1, respectIgnore: args.respect_ignore, ignoreFiles, signal } as const;
  const walked = await call.fs.find(root, names);
  const notes: string[] = [];
  if (total === 0 && args.respect_ignore && walked.ignored + walked.ignoredDirectories > 0) {
    const ignored = (await findBestBelowRoot({ ...args, respect_ignore: false }, 1, call, root)).total;
    const unignored = settingPhrase(call.reader.names, set("respect_ignore", false));
    if (ignored > 0)
      notes.push(
        `${plural(ignored, "match", "matches")} left out: ignored by .gitignore or the like${phraseIfNamed(unignored, (shown) => `; ${shown} finds them`)}`,
      );
  }
  const query = { respectIgnore: args.respect_ignore, ignoreFiles };
  const unread = walked.unreadable > 0 ? await findLeftOut(call, [root], query, { files: false }) : undefined;
  return [...notes, leftOutNote(walked.unreadable, "listed", unread)].filter((note) => note !== undefined);
}
