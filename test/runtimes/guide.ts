/** The commands and the configuration files that docs/guides/bundling.md shows, which the tests run. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const BLOCKS = readFileSync(resolve(import.meta.dirname, "../../docs/guides/bundling.md"), "utf8").matchAll(
  /^```(\w+)(?: (\S+))?\n(.*?)^```$/gmsu,
);
const commands: string[] = [];
const files = new Map<string, string>();
for (const [, language, name, content = ""] of BLOCKS) {
  if (name !== undefined) files.set(name, content);
  else if (language === "sh") commands.push(...content.trim().split("\n"));
}

/** The commands that contain all these words, without `npx`. There is at least one. */
export function guideCommands(...words: readonly string[]): readonly string[] {
  const found = commands.filter((line) => words.every((word) => line.split(" ").includes(word)));
  if (found.length === 0) throw new Error(`docs/guides/bundling.md shows no command with ${words.join(" ")}`);
  return found.map((line) => line.replace(/\bnpx /u, ""));
}

/** The content of a file that the guide shows. */
export function guideFile(name: string): string {
  const content = files.get(name);
  if (content === undefined) throw new Error(`docs/guides/bundling.md shows no file ${name}`);
  return content;
}
