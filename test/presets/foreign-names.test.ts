/** The names that other systems give to arguments, sent to every preset: the refusal says which name works here. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, toolsFor, type Workspace } from "../../js/index.node.ts";
import { PRESET_NAMES } from "../../js/presets/index.ts";

const OLD = ["oldString", "old_string", "oldText", "old_text", "old_str", "search", "find", "OLD_STRING"];
const NEW = ["newString", "new_string", "newText", "new_text", "new_str", "replace", "replacement"];
const PATH = [
  "filePath",
  "file_path",
  "path",
  "target_file",
  "filename",
  "absolute_path",
  "relative_workspace_path",
];
const MEANINGS = [OLD, NEW, PATH];

let ws: Workspace;
beforeAll(async () => {
  ws = await openWorkspace({ backend: new MemoryBackend({ "a.txt": "a\n" }), cwd: "/" });
});
afterAll(() => ws.close());

interface Described {
  readonly properties?: Readonly<Record<string, { readonly items?: Described }>>;
}
/** The names of a schema, those in its lists of objects included. */
const namesOf = ({ properties = {} }: Described): readonly string[] =>
  Object.entries(properties).flatMap(([name, { items }]) => [
    name,
    ...(items === undefined ? [] : namesOf(items)),
  ]);

test.each(PRESET_NAMES)("the tools of the preset %s name the argument that was meant", async (preset) => {
  const wrong: string[] = [];
  for (const tool of toolsFor(ws, preset)) {
    const names = namesOf(tool.inputSchema as Described);
    for (const spellings of MEANINGS) {
      const own = names.filter((name) => spellings.includes(name));
      if (own.length === 0) continue;
      for (const spelling of spellings) {
        if (names.includes(spelling)) continue;
        const said = String(await tool.execute({ [spelling]: "x" }).then((answer) => JSON.stringify(answer)));
        // A name that the tool accepts as another spelling of its own needs no remedy.
        if (!said.includes("unknown argument")) continue;
        if (!own.some((name) => said.includes(name))) wrong.push(`${tool.name} ${spelling}: ${said}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
