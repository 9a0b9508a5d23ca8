/** The built files of the page, which are in the package next to its code. */
import { readFileSync } from "node:fs";
import { moduleUrlOf } from "../engine/native/addons.node.ts";
import type { PageFile } from "./http.ts";

/** The types of the files by their names. No other file of the package is served. */
const TYPE_BY_FILE: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "review.js": "text/javascript; charset=utf-8",
  "shared.js": "text/javascript; charset=utf-8",
  "library.js": "text/javascript; charset=utf-8",
  "screens.js": "text/javascript; charset=utf-8",
  "editor.js": "text/javascript; charset=utf-8",
  "review.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

const read = new Map<string, PageFile>();

/** Returns a file of the page; undefined for an unknown name. Each is read once. */
export function pageFile(name: string): PageFile | undefined {
  if (!Object.hasOwn(TYPE_BY_FILE, name)) return undefined;
  const known = read.get(name);
  if (known !== undefined) return known;
  const url = new URL(`../../dist/review/page/${name}`, moduleUrlOf(import.meta.url));
  const file = { type: TYPE_BY_FILE[name] as string, body: new Uint8Array(readFileSync(url)) };
  read.set(name, file);
  return file;
}
