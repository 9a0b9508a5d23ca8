/** Test runners and tsx with the commands of docs/guides/bundling.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { guideCommands } from "./guide.ts";
import { lastLine, prepare, project, run, SERVED } from "./prepare.ts";

const why = prepare();

it.for([
  ["jest", /Tests: +1 passed, 1 total/u],
  ["vitest", /Tests +1 passed \(1\)/u],
] as const)("%s", ([runner, passed]) => {
  expect(why).toBeUndefined();
  const [command = ""] = guideCommands(runner);
  const { status, stdout, stderr } = run("sh", ["-c", command]);
  expect(stdout + stderr).toMatch(passed);
  expect(status).toBe(0);
});

it("tsx", () => {
  expect(why).toBeUndefined();
  const lines = [
    'import * as filewright from "filewright";',
    'import { steps } from "./steps.mjs";',
    "const done: { readonly kind: string } = await steps(filewright);",
    "console.log(JSON.stringify(done));",
  ];
  writeFileSync(join(project, "server.ts"), lines.join("\n"));
  const [command = ""] = guideCommands("tsx");
  expect(lastLine(run("sh", ["-c", command]))).toEqual(SERVED);
});
