/** The packages that Filewright loads by itself, at the lowest version that docs/dependencies.md names. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { pdf } from "../../readers/make.ts";
import { missingServer, startPostgres } from "../../storage/postgres/server.mjs";
import { afterThisTest } from "../../support/cleanups.ts";
import { installed } from "../installed.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const HOME = join(ROOT, ".cache/peers-lowest");
const dir = realpathSync(mkdtempSync(join(tmpdir(), "filewright-peers-")));
afterAll(() => rmSync(dir, { recursive: true }));

test("text of a PDF, a value of YAML, a smaller image, spans, metrics, a signed request, a file in a database and pages", async ({
  skip,
}) => {
  const why = missingServer() ?? installed(join(import.meta.dirname, "lowest.json"), HOME);
  if (why !== undefined && process.env["CI"] !== "true") skip(why);
  expect(why).toBeUndefined();
  // Copies, since through a link Node would find the packages of this checkout.
  for (const [installedAs, folder] of [
    ["filewright", "."],
    ["@filewright/storage", "packages/storage"],
  ] as const) {
    const copy = join(HOME, "node_modules", installedAs);
    rmSync(copy, { recursive: true, force: true });
    mkdirSync(copy, { recursive: true });
    for (const name of ["package.json", "dist"])
      cpSync(join(ROOT, folder, name), join(copy, name), { recursive: true });
  }
  cpSync(join(import.meta.dirname, "scene.mjs"), join(HOME, "scene.mjs"));

  writeFileSync(join(dir, "a.pdf"), pdf(["First page"]));
  writeFileSync(join(dir, "a.yaml"), "servers:\n  - port: 80\n  - port: 8080\n");
  const image = sharp({ create: { width: 4000, height: 1000, channels: 3, background: "#336699" } });
  writeFileSync(join(dir, "a.png"), await image.png().toBuffer());

  const server = await startPostgres();
  afterThisTest(() => server.stop());
  const args = [join(HOME, "scene.mjs"), dir, server.host];
  const said = execFileSync(process.execPath, args, { encoding: "utf8" });
  const page = `<main><filewright-review src="/review"></filewright-review>connecting, 0 wait</main>`;
  expect(JSON.parse(said)).toMatchObject({
    pages: [page, page],
    sameBytes: true,
    metrics: expect.stringContaining("filewright_draining 0"),
    signature: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=access\//u),
    pdf: expect.stringContaining("First page"),
    yaml: expect.stringContaining("8080"),
    image: { width: 1568, height: 392 },
    spans: ["execute_tool read_file", "execute_tool read_file", "execute_tool read_file"],
  });
});
