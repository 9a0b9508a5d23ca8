/** Attempts of commands in each tier, as root and as a user without rights: the table of `rows.mjs`. */
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { share } from "../support/share.ts";
import { ROWS } from "./rows.mjs";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const NOBODY = 65_534;
let base: string;

beforeAll(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-table-")));
  fs.chmodSync(base, 0o755);
  // Another user may not be able to read the repository.
  fs.cpSync(join(REPOSITORY, "dist"), join(base, "dist"), {
    recursive: true,
    filter: (path) => !path.endsWith(".d.ts") && !path.endsWith(".map"),
  });
  fs.writeFileSync(join(base, "dist/package.json"), '{"type":"module"}');
  for (const name of ["rows.mjs", "table.mjs"])
    fs.copyFileSync(join(import.meta.dirname, name), join(base, name));
  execFileSync("chmod", ["-R", "a+rX", base]);
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

interface Result {
  readonly name: string;
  readonly held: boolean | string;
  readonly data: unknown;
}

function run(tier: Tier, uid: number, rows: readonly number[]): readonly Result[] {
  const dir = fs.mkdtempSync(join(base, "run-"));
  const own = process.getuid?.() === uid;
  if (!own) fs.chownSync(dir, uid, uid);
  const as = own ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  const [program = "", ...args] = [
    ...as,
    process.execPath,
    join(base, "table.mjs"),
    join(base, "dist"),
    dir,
    tier,
    rows.join(),
  ];
  const ran = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 26, cwd: base });
  if (ran.status !== 0) throw new Error(`${ran.status} ${ran.signal}: ${ran.stderr}`);
  return JSON.parse(ran.stdout) as readonly Result[];
}

const TIERS = ["strict", "fast"] as const;
type Tier = (typeof TIERS)[number];

// Root stands for containers; a host without root is one user alone.
const users = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? 0];
/** The rows for a user: by night all of them; by day each tier runs each row, as one of the users. */
const rowsOf = (tier: Tier, uid: number): readonly number[] =>
  share([...ROWS.keys()], users.length, TIERS.indexOf(tier) + users.indexOf(uid));

describe.skipIf(process.platform !== "linux").each(TIERS)("the %s tier", (tier) => {
  test.each(users)("holds the rows of its column when the host is user %i", { timeout: 600_000 }, (uid) => {
    const rows = rowsOf(tier, uid);
    const results = run(tier, uid, rows);
    expect(results.map(({ name }) => name)).toEqual(rows.map((row) => ROWS[row]?.name));
    const wrong = results.filter(({ held }, index) =>
      ROWS[rows[index] as number]?.[tier] === true ? held !== true : typeof held !== "boolean",
    );
    expect(wrong).toEqual([]);
  });
});
