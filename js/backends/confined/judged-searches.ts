/** The searches and listings of a confined backend whose storage has its own. */
import { findBackend, grepBackend } from "../search/search.ts";
import { abilitiesOf } from "../abilities.ts";
import type { FsBackend } from "../backend.ts";
import { walkedTree } from "../fallback/tree-page.ts";
import type { SandboxPolicy } from "../policy.ts";
import { askOrWalk, type JudgedPlace } from "./judged.ts";
import { judgedFind, judgedGrep } from "./judged-search.ts";
import { judgedTree } from "./judged-tree.ts";
import { normalise } from "../paths.ts";
import type { PathResolver } from "./path-resolver.ts";

/**
 * Returns the searches and listings as far as the storage offers them. `walked` is the confined backend without them,
 * by which the files are read, and which is walked where an answer of the storage is not used. `granted` are the secrets
 * that may be read.
 */
export function judgedSearches(
  inner: FsBackend,
  policy: SandboxPolicy,
  opened: Promise<PathResolver>,
  walked: FsBackend,
  granted: () => readonly string[],
): Pick<FsBackend, "grep" | "find" | "listTree"> {
  const placeOf = async (root: string): Promise<JudgedPlace> => {
    const resolver = await opened;
    const real = await resolver.resolve(root, "read", "follow");
    return { inner, resolver, policy, real, asked: normalise(root).path };
  };
  // A place that is named by a link is judged by both names.
  const isAllowed = ({ real, resolver }: JudgedPlace, root: string): boolean =>
    resolver.nameOf(root) === real && abilitiesOf(inner).answersOnlyAllowed(policy);
  const methods: { -readonly [K in "grep" | "find" | "listTree"]?: FsBackend[K] } = {};
  const { momentSearch: copy } = abilitiesOf(inner);
  if (copy !== undefined) {
    methods.grep = async (root, query) => {
      const { real, resolver } = await placeOf(root);
      // A place that is named by a link is judged by both names, and a single file by its content.
      const isPlain = resolver.nameOf(root) === real && (await walked.stat(root)).isDir;
      const found = isPlain ? await copy.grep(real, query, policy, granted(), walked) : undefined;
      return found ?? grepBackend(walked, root, query);
    };
  }
  if (inner.grep !== undefined) {
    methods.grep = async (root, query) => {
      const place = await placeOf(root);
      const walk = () => grepBackend(walked, root, query);
      // A single file is read here: its content can be a secret.
      if (!(await walked.stat(root)).isDir) return walk();
      if (isAllowed(place, root)) return (inner.grep as NonNullable<FsBackend["grep"]>)(place.real, query);
      return askOrWalk("grep", () => judgedGrep(place, walked, query), walk);
    };
  }
  if (inner.find !== undefined) {
    methods.find = async (root, query) => {
      const place = await placeOf(root);
      const walk = () => findBackend(walked, root, query);
      if (isAllowed(place, root)) return (inner.find as NonNullable<FsBackend["find"]>)(place.real, query);
      // The order by time needs the time of each entry, which the lists of a walk have and `find` does not tell.
      if ((query.sort ?? "path") !== "path") return walk();
      return askOrWalk("find", () => judgedFind(place, query), walk);
    };
  }
  if (inner.listTree !== undefined) {
    methods.listTree = async (root, request) => {
      const place = await placeOf(root);
      return askOrWalk(
        "listTree",
        () => judgedTree(place, request),
        () => walkedTree(walked, root, request),
      );
    };
  }
  return methods;
}
