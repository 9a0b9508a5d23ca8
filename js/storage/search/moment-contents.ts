/**
 * The contents of a moment, which is a storage at one version (a `StorageTree`), for searches: contents are indexed,
 * and read only where they can match.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../../backends/failure.ts";
import type { CachedWalks } from "../../backends/search/cached-walk.ts";
import type { ContentProvider, ContentSigns } from "../../backends/search/held.ts";
import type { ContentSource, HeldContent, HeldFile } from "../../backends/search/held-file.ts";
import type { Entry } from "../entry.ts";
import { isDirNode, nodeAt } from "../../backends/tree/nodes.ts";
import type { TreeContents } from "./contents.ts";
import type { StorageTree } from "./tree.ts";

/** The index, walks and contents that all moments of a storage share, so that a search of a newer one reuses them. */
export interface SharedContents {
  readonly signs: ContentSigns;
  readonly walks: CachedWalks;
  readonly contents: TreeContents;
}

/** Returns the contents of a tree. `realpath` resolves a path that leads through links. */
export function contentsOfTree(
  tree: StorageTree,
  { signs, walks, contents }: SharedContents,
  realpath: (path: string) => Promise<string>,
): ContentProvider {
  return {
    signs,
    walks,
    fresh: "scan",
    source: new TreeSource(contents),
    view: "",
    shape: () => String(tree.serial),
    stamp(directory) {
      const node = nodeAt(tree.root, directory);
      return isDirNode(node) ? node.facts.stamp : undefined;
    },
    // A tree never changes, and a changed file changes the stamp of its directory in the next one.
    watch: () => {},
    async file(path) {
      const found = nodeAt(tree.root, path) ?? nodeAt(tree.root, await realpath(path));
      const entry = found?.entry;
      if (entry === undefined) throw backendError("NOT_FOUND", path);
      if (entry.type === "dir") throw backendError("IS_DIRECTORY", path);
      if (entry.type !== "file") throw backendError("NOT_REGULAR_FILE", path);
      return new FileOfTree(entry);
    },
    intact: () => true,
  };
}

/** A file of a tree. Its entry, which never changes and which later trees share, stands for its content. */
class FileOfTree implements HeldFile {
  readonly content: Entry;

  constructor(entry: Entry) {
    this.content = entry;
  }

  get size(): number {
    return this.content.size ?? 0;
  }

  near(source: ContentSource | undefined): Uint8Array | undefined {
    return source?.kept(this.content);
  }

  async read(source: ContentSource | undefined, signal: AbortSignal | undefined): Promise<HeldContent> {
    if (source === undefined) throw backendError("IO_ERROR", this.content.path);
    return source.read(this.content, signal);
  }
}

/** The contents of one storage, by the entries that stand for them. */
class TreeSource implements ContentSource {
  readonly #contents: TreeContents;

  constructor(contents: TreeContents) {
    this.#contents = contents;
  }

  kept(content: object): Uint8Array | undefined {
    return this.#contents.kept(content as Entry);
  }

  async read(content: object, signal: AbortSignal | undefined): Promise<HeldContent> {
    const entry = content as Entry;
    const [found] = await this.#contents.read([entry], { signal });
    if (found instanceof FilewrightError) throw found;
    if (found?.body === undefined) throw backendError("NOT_FOUND", entry.path);
    // The storage may return a later state of the file, which must not be indexed as this entry.
    const isSame = entry.hash !== undefined && found.entry.hash === entry.hash;
    return { bytes: found.body, content: isSame ? entry : undefined };
  }
}
