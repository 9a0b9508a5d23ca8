/**
 * Searches the files of a disk in the workers of the engine: the caller's side. `answer-search.node.ts` is the worker's
 * side.
 *
 * A request holds real paths that the policy has judged, directory by directory. The worker opens each directory again
 * and compares where it is, so a path that has changed since is left to the caller.
 */
import type { SharedWorkers } from "../../engine/workers/threads.node.ts";
import { childOf } from "../paths.ts";
import type { JudgeFiles, SearchedFiles, ThreadSearch } from "../search/file-searcher.ts";
import { pinMode } from "./pinned.node.ts";
import {
  CHECK_AND_SEARCH_FILE,
  type DirectoryRequest,
  SEARCH_FILE,
  type SearchRequest,
  SKIP_FILE,
} from "./search-request.node.ts";

/** The call of the worker, which is the name of the built file that answers it. */
const CALL = "backends/node/answer-search.node.js";
/** The number of requests that a worker has at once, so that it need not wait for the next one: at first, and at most. */
const [REQUESTS_PER_WORKER, MAX_REQUESTS_PER_WORKER] = [2, 8];

/** Searches the files of one disk in workers. */
export class DiskThreads {
  #workers: SharedWorkers | undefined;
  #isClosed = false;

  /**
   * Begins a search below a directory; undefined when there are no workers. `hidden` are the real paths of files that
   * are hidden by another name; undefined where every file may be one. @throws as `readBytes`
   */
  async begin(
    judgeFiles: JudgeFiles,
    root: string,
    hidden: ReadonlySet<string> | undefined,
  ): Promise<ThreadSearch | undefined> {
    if (hidden === undefined) return undefined;
    // Workers are loaded late, because their module loads the addon, which a command may not need.
    const { shareWorkers } = await import("../../engine/workers/threads.node.ts");
    if (this.#isClosed) return undefined;
    this.#workers ??= shareWorkers();
    const { pool } = this.#workers;
    const { real, judge } = await judgeFiles(root);
    if (pool.ended !== undefined) return undefined;
    return {
      requests: pool.size * REQUESTS_PER_WORKER,
      maxRequests: pool.size * MAX_REQUESTS_PER_WORKER,
      run(paths, query, signal) {
        const asked = new Uint8Array(paths.length);
        for (let place = 0; place < paths.length; place++) {
          const path = paths[place] as string;
          const isHidden = hidden.size > 0 && hidden.has(childOf(real, path));
          const verdict = isHidden ? "ask" : judge(path);
          asked[place] =
            verdict === "ask" ? SKIP_FILE : verdict === "check" ? CHECK_AND_SEARCH_FILE : SEARCH_FILE;
        }
        const request: SearchRequest = {
          ...query,
          mode: pinMode(),
          directories: directoriesOf(real, paths),
          asked,
          pathBytes: Uint32Array.from(query.countsPath ? paths.map((path) => Buffer.byteLength(path)) : []),
        };
        // Without workers every file is left to the caller.
        const none = (): SearchedFiles => ({ states: new Uint8Array(paths.length), hits: [] });
        return pool.run(CALL, [request], none, { signal, ahead: MAX_REQUESTS_PER_WORKER - 1 });
      },
    };
  }

  /** Ends the workers, unless another disk uses them. */
  close(): void {
    this.#isClosed = true;
    this.#workers?.release();
    this.#workers = undefined;
  }
}

/** Returns the files of a request by their directories. */
function directoriesOf(root: string, paths: readonly string[]): readonly DirectoryRequest[] {
  const found = new Map<string, { readonly names: string[]; readonly places: number[] }>();
  let before = "";
  let files: { readonly names: string[]; readonly places: number[] } | undefined;
  for (let place = 0; place < paths.length; place++) {
    const path = paths[place] as string;
    const cut = path.lastIndexOf("/");
    // Files of the same directory mostly follow each other.
    if (files === undefined || before.length !== Math.max(cut, 0) || !path.startsWith(before)) {
      before = path.slice(0, Math.max(cut, 0));
      files = found.get(before);
      if (files === undefined) {
        files = { names: [], places: [] };
        found.set(before, files);
      }
    }
    files.names.push(path.slice(cut + 1));
    files.places.push(place);
  }
  return [...found].map(([directory, { names, places }]) => ({
    path: directory === "" ? root : childOf(root, directory),
    names: names.join("/"),
    places: Uint32Array.from(places),
  }));
}
