/** A backend with the eleven methods and nothing else, ignorant of every option it may ignore. */
import { type FsBackend, MemoryBackend } from "../../js/index.node.ts";

export function minimalBackend(seed: ConstructorParameters<typeof MemoryBackend>[0] = {}): FsBackend {
  const inner = new MemoryBackend(seed);
  const plain = async <T extends { version?: string; fileId?: string }>(
    facts: Promise<T>,
  ): Promise<Omit<T, "version" | "fileId">> => {
    const { version: _, fileId: __, ...rest } = await facts;
    return Object.freeze(rest);
  };
  return {
    exists: (path) => inner.exists(path),
    stat: (path) => plain(inner.stat(path)) as ReturnType<MemoryBackend["stat"]>,
    readText: (path, options) => inner.readText(path, options),
    readBytes: (path) => inner.readBytes(path),
    writeText: (path, content) => plain(inner.writeText(path, content)),
    writeBytes: (path, content) => plain(inner.writeBytes(path, content)),
    delete: (path) => inner.delete(path),
    mkdir: (path, options) => inner.mkdir(path, options),
    listDir: (path) => inner.listDir(path),
    iterFiles: (root) => inner.iterFiles(root),
    glob: (pattern, options) => inner.glob(pattern, options),
  };
}
