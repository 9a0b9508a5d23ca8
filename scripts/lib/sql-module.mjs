// Returns the text of the module that has the SQL files of @filewright/storage as constants, because a browser or a worker
// reads no files. `npm run wire` and the build write it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

const SQL_FOLDER = "packages/storage/src/postgres/sql";
const SQL_MODULE = "packages/storage/src/postgres/generated/sql.ts";

/** Returns SQL without empty lines and without lines that begin with `--`. Comments after spaces stay. */
const withoutComments = (text) =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("--"))
    .join("\n");

/**
 * Returns the path of the module below the repository and its text: one constant for each SQL file.
 * @returns {readonly [file: string, text: string]}
 */
export function sqlModule() {
  const names = readdirSync(join(root, SQL_FOLDER))
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const constants = names.map((name) => {
    const text = withoutComments(readFileSync(join(root, SQL_FOLDER, name), "utf8"));
    return `export const ${name.slice(0, -".sql".length).toUpperCase()}: string = ${JSON.stringify(text)};\n`;
  });
  const comment =
    "/** The texts of the SQL files in ../sql; written by `npm run wire` and the build, not to be edited. */";
  return [SQL_MODULE, `${comment}\n${constants.join("")}`];
}
