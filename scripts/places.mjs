// Prints the table of protected and secret places into docs/reference/places.md: `node scripts/places.mjs`.
// test/places/table.test.ts fails where the page is not what this prints.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { main, root } from "./lib/run.mjs";

const SECTIONS = [
  [
    "refuse",
    "Never written",
    "A program runs or obeys these without another act of a person. Tools never write them; reading is allowed.",
  ],
  [
    "ask",
    "Asked about",
    "Edited in ordinary work, but they decide what programs run. A person is asked where one can be asked, also where a rule allows the tool. Where nobody can be asked the file is written, and `data.warnings` and the text say so.",
  ],
  ["allow", "Exceptions: written", "These lie in a row above and are written like other files."],
  [
    "secret",
    "Not read",
    "The content is not read, searched or taken to where it could be read, unless a person grants that very file.",
  ],
  ["readable", "Exceptions: read", "These lie in a row above and are read like other files."],
];

/** The page, for these rows. */
export function placesPage(rows) {
  const parts = SECTIONS.map(([decision, title, about]) => {
    const own = rows.filter((row) => row.decision === decision);
    const lines = own.map(({ pattern, reason }) => `| ${code(pattern)} | ${reason} |`);
    return [`## ${title}`, "", about, "", "| place | why |", "|---|---|", ...lines].join("\n");
  });
  return `${HEAD}\n${parts.join("\n\n")}\n`;
}

const code = (text) => `\`${text.replaceAll("|", "\\|")}\``;

const HEAD = `# Protected and secret places

Printed from \`crates/core/src/pattern/policy/table.rs\` by \`node scripts/places.mjs\`.

A pattern is a list of names, matched at any depth below a root and in any letter case; with a leading \`/\` it matches from the root of the file system. \`*\` stands for any part of one name, \`{a,b}\` for either. What a pattern matches is covered with everything below it; a pattern that ends in \`/**\` covers only what is below; a last name with \`*\` begins or ends with three other characters. Names up to a root do not count: the host chose them.

Change the table row by row with \`access.places\`:

\`\`\`ts
await openWorkspace({
  root: "/repo",
  access: {
    places: {
      allow: [".vscode/settings.json"], // written without a question
      ask: [".husky"], // asked about instead of refused
      refuse: ["deploy/prod"], // never written
      secret: ["*.token"], // not read
      readable: [".env.*"], // read like other files
    },
  },
});
\`\`\`

\`allow\` and \`readable\` must lie in a row of the table: what does not is INVALID_ARGUMENT, since it is misspelt. \`access.protect: false\` and \`access.secrets: "allow"\` switch everything off.

Besides the table:

- A directory that git takes for a repository (\`HEAD\` with \`objects\` and \`refs\`, or \`HEAD\` with \`commondir\`), whatever its name: no tool completes one, or changes what git obeys in one.
- What the configuration of a repository names: \`core.hooksPath\`, \`core.fsmonitor\`, \`include.path\`, \`includeIf\` and the directory that a \`.git\` file points to. Read when the workspace opens, for the repositories of its roots and the user's own git configuration; for repositories below a root when a path in them is written.
- Files that hold nothing but a key, whatever their names: PEM, OpenSSH, PGP, PuTTY and age private keys, and Google's service accounts. Searches leave them out as if nothing in them matched.
`;

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const { placeRows } = await import(pathToFileURL(join(root, "dist/policy/index.node.js")).href);
    writeFileSync(join(root, "docs/reference/places.md"), placesPage(placeRows()));
  });
}
