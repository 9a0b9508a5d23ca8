// The package as the examples of the documentation import it: every entry that runs in a browser. A page has no disk,
// so an example that opens a directory without naming a storage gets one in memory with a few files.
import { MemoryBackend as PackageBackend, openWorkspace as openInPackage } from "filewright";

export * from "@filewright/storage/s3";
export * from "filewright";
export * from "filewright/access";
export * from "filewright/ai-sdk";
export * from "filewright/backends";
export * from "filewright/content";
export * from "filewright/diff";
export * from "filewright/edit";
export * from "filewright/engine";
// Two entries have a function of this name.
export { ready } from "filewright/engine";
export * from "filewright/hooks";
export * from "filewright/openai-agents";
export * from "filewright/presets";
export * from "filewright/readers";
export * from "filewright/review";
export * from "filewright/storage";
export * from "filewright/testing";
export * from "filewright/tinyagent";
export * from "filewright/workspace";

/** The files below the directory that an example opens. The tests of the guides on Node have the same. */
const FILES = {
  "src/a.ts": "// TODO: less\nconst retries = 3;\n",
  "old.log": "old\n",
  ".env": "KEY=1\n",
  docs: { type: "dir" },
};

/** The storages in memory that were made since {@link takeStorages} was called last. */
let made = [];

/** Returns the storages in memory that the last example has made. */
export function takeStorages() {
  const taken = made;
  made = [];
  return taken;
}

/** A `MemoryBackend` whose files are shown after the example. */
export class MemoryBackend extends PackageBackend {
  constructor(...args) {
    super(...args);
    made.push(this);
  }
}

/** `openWorkspace` with a directory in memory where the example names no storage. */
export function openWorkspace(where, more) {
  const options = typeof where === "string" || Array.isArray(where) ? { ...more, root: where } : where;
  if (options.backend !== undefined || options.storage !== undefined) return openInPackage(options);
  const [root] = [options.root].flat();
  const seed = Object.fromEntries(
    Object.entries(FILES).map(([path, content]) => [`${root}/${path}`, content]),
  );
  return openInPackage({ ...options, backend: new MemoryBackend(seed) });
}
