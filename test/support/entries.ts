/** The entries of the package, by the names that users import. */
import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};

/** `filewright/hooks` → the URL of its source; entries without types are left out. */
const ENTRY_SOURCES: ReadonlyMap<string, string> = new Map(
  Object.entries(manifest.exports).flatMap(([entry, target]) => {
    if (typeof target === "string") return [];
    const source = target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/u, "../../js/$1.ts");
    return [[entry.replace(".", "filewright"), new URL(source, import.meta.url).href] as const];
  }),
);

/** A program with the entries that it imports as they are here. */
export function withEntries(code: string): string {
  return code.replaceAll(/"(filewright(?:\/[\w-]+)?)"/gu, (whole, name: string) =>
    ENTRY_SOURCES.has(name) ? JSON.stringify(ENTRY_SOURCES.get(name)) : whole,
  );
}
