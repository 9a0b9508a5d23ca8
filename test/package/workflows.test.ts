/**
 * The workflows: each system and processor for which an addon is released has a job that tries it; nothing has more
 * rights than it needs; what a workflow runs exists. actionlint checks the syntax (scripts/lint-workflows.mjs).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { kindNames } from "../../scripts/deep.mjs";
import { releaseTargets } from "../../scripts/release/targets.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".github/workflows");

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
type Permissions = Readonly<Record<string, string>>;
interface Job {
  readonly "runs-on": string;
  readonly "timeout-minutes"?: number;
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string | { readonly name: string };
  readonly permissions?: Permissions;
  readonly strategy?: {
    readonly matrix: {
      readonly node?: readonly string[];
      readonly platform?: readonly string[];
      readonly kind?: readonly string[];
      readonly include?: readonly Readonly<Record<string, string>>[];
    };
  };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Permissions;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = readdirSync(FOLDER);
const textOf = (file: string): string => readFileSync(join(FOLDER, file), "utf8");
const workflows = new Map(files.map((file) => [file, parse(textOf(file)) as Workflow]));
const workflow = (file: string): Workflow => workflows.get(file) as Workflow;
const platforms = releaseTargets().map(({ platform }) => platform);

/** The values that a job's matrix has for a name. */
const matrixValues = (job: Job | undefined, name: string): readonly (string | undefined)[] =>
  (job?.strategy?.matrix.include ?? []).map((row) => row[name]);

describe.each(files)("%s", (file) => {
  const { jobs, permissions, concurrency } = workflow(file);

  test("actions are pinned to a commit, and the version is told", () => {
    const used = textOf(file)
      .split("\n")
      .filter((line) => line.includes("uses:"));
    for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/u);
    const steps = Object.values(jobs).flatMap((job) => job.steps.filter(({ uses }) => uses !== undefined));
    expect(used).toHaveLength(steps.length);
  });

  test("a job may read, and only one in a protected environment may write", () => {
    expect([{}, { contents: "read" }]).toContainEqual(permissions);
    for (const [name, job] of Object.entries(jobs)) {
      const writes = Object.entries(job.permissions ?? {}).filter(([, right]) => right !== "read");
      if (writes.length > 0) expect(job.environment, name).toBeDefined();
    }
  });

  test("no job runs for ever or beside itself", () => {
    expect(concurrency).toBeDefined();
    for (const [name, job] of Object.entries(jobs)) expect(job["timeout-minutes"], name).toBeGreaterThan(0);
  });

  test("the credentials of the checkout do not stay in it", () => {
    for (const part of textOf(file).split("actions/checkout@").slice(1)) {
      expect(part.split("- ")[0]).toContain("persist-credentials: false");
    }
  });

  test("the scripts and tests that it runs exist", () => {
    const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    for (const command of commands) {
      for (const [path] of command.matchAll(/(?<![\w./-])(?:scripts|test|\.ci)\/[\w./-]+/gu)) {
        expect(existsSync(join(ROOT, path)), path).toBe(true);
      }
      for (const [, name = ""] of command.matchAll(/npm run ([\w:]+)/gu))
        expect(scripts).toHaveProperty(name);
    }
  });
});

describe("continuous integration", () => {
  const { linux, native, windows } = workflow("ci.yml").jobs;

  test("the suites run on both processors and on every kind of system", () => {
    const tested = ["linux-x64-gnu", ...matrixValues(native, "platform")];
    for (const processor of ["x64", "arm64"]) {
      for (const system of ["linux", "darwin"]) {
        expect(tested.filter((platform) => platform?.startsWith(`${system}-${processor}`))).toHaveLength(1);
      }
    }
    expect(platforms).toEqual(expect.arrayContaining(tested));
    expect(linux?.["runs-on"]).toBe("ubuntu-24.04");
    expect(windows?.["runs-on"]).toMatch(/^windows-/u);
  });

  test("a runner has the processor of its platform", () => {
    const runners = new Map(native?.strategy?.matrix.include?.map((row) => [row["platform"], row["runner"]]));
    expect(runners.get("linux-arm64-gnu")).toMatch(/^ubuntu-.*-arm$/u);
    expect(runners.get("darwin-x64")).toMatch(/^macos-.*-intel$/u);
    expect(runners.get("darwin-arm64")).toMatch(/^macos-\d+$/u);
  });

  test("the oldest Node that the package takes is tested, and every even version since", () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const versions = linux?.strategy?.matrix.node ?? [];
    expect(`>=${versions[0]}`).toBe(engines.node);
    expect(versions.slice(1)).toEqual(["22", "24"]);
  });

  test("the whole run is the one of .ci/run", () => {
    expect(linux?.steps.at(-1)?.run).toBe("bash .ci/run");
  });
});

describe("a release", () => {
  const { jobs } = workflow("release.yml");

  /** The jobs that have to pass before one, at any distance. */
  function before(name: string): readonly string[] {
    const needs = [jobs[name]?.needs ?? []].flat();
    return [...needs, ...needs.flatMap(before)];
  }
  const publishing = Object.entries(jobs).filter(([, job]) => job.environment !== undefined);

  test("builds an addon for each of napi.targets in package.json, and no other", () => {
    expect(jobs["addons"]?.strategy?.matrix.platform).toEqual(platforms);
  });

  test("tries each addon on a machine of its platform, from the tarballs", () => {
    const rows = jobs["try"]?.strategy?.matrix.include ?? [];
    expect(new Set(rows.map((row) => row["platform"]))).toEqual(new Set(platforms));
    for (const { platform = "", runner, image } of rows) {
      const [system, processor, libc] = platform.split("-");
      const arm = processor === "arm64";
      if (system === "darwin") expect(runner, platform).toMatch(arm ? /^macos-\d+$/u : /^macos-\d+-intel$/u);
      else expect(runner, platform).toBe(arm ? "ubuntu-24.04-arm" : "ubuntu-24.04");
      if (system === "darwin") expect(image, platform).toBe("");
      else expect(image, platform).toMatch(libc === "musl" ? /^node:\d+-alpine$/u : /^node:\d+-[\w-]*slim$/u);
    }
    const images = rows.map((row) => /node:(\d+)/u.exec(row["image"] ?? "")?.[1]).filter(Boolean);
    expect(new Set(images)).toEqual(new Set(["20", "24"]));
  });

  test("publishes to every place, only for a tag, and only after all was tried", () => {
    expect(publishing.map(([name]) => name)).toEqual(["npm", "pypi", "image", "github", "mcp-registry"]);
    for (const [name, job] of publishing) {
      expect(job.if, name).toBe("github.ref_type == 'tag'");
      expect(before(name), name).toEqual(expect.arrayContaining(["version", "addons", "tarballs", "try"]));
    }
  });

  test("a job that does not publish reads the sources and nothing else", () => {
    for (const [name, job] of Object.entries(jobs)) {
      if (job.environment === undefined) expect(job.permissions, name).toEqual({ contents: "read" });
    }
  });
});

test("the infrastructure: several systems, sandboxed commands, the bench over time, and a page to try", () => {
  const { linux, native, windows } = workflow("ci.yml").jobs;
  for (const job of [linux, native, windows]) expect(job?.steps.length).toBeGreaterThan(0);
  // The sandbox is tried for real in CI, where tests are not skipped for a missing program.
  const script = readFileSync(join(ROOT, ".ci/run"), "utf8");
  expect(script).toContain("bwrap:bubblewrap");
  expect(Object.keys(workflow("bench.yml").on)).toContain("schedule");
  // test/browser/example.slow.test.ts uses the page.
  const page = readFileSync(join(ROOT, "examples/browser/app.js"), "utf8");
  expect(page).toContain('whenClicked("open-memory", () => use(new MemoryBackend(SAMPLES)');
});

describe("schedules", () => {
  test("the figures of the README are measured each night and after every push", () => {
    const { on, jobs } = workflow("bench.yml");
    expect(Object.keys(on)).toEqual(expect.arrayContaining(["schedule", "push"]));
    const commands = jobs["readme"]?.steps.map(({ run }) => run);
    expect(commands).toContain("npm run bench -- --only readme --compare");
  });

  test("every deep check runs whole each night, in one job", () => {
    const { on, jobs } = workflow("deep.yml");
    expect(Object.keys(on)).toContain("schedule");
    const kinds = Object.values(jobs).flatMap(({ steps, strategy }) =>
      steps.flatMap(({ run = "" }) => {
        const [, kind] = /^npm run deep -- (\$\{\{ matrix\.kind \}\}|[\w-]+)/u.exec(run) ?? [];
        return kind?.startsWith("$") ? (strategy?.matrix.kind ?? []) : (kind ?? []);
      }),
    );
    expect([...kinds].sort()).toEqual(kindNames());
  });

  test("the lines that tests run are counted each night, and every recorded answer is replayed", () => {
    const commands = Object.values(workflow("deep.yml").jobs).flatMap(({ steps }) =>
      steps.map(({ run }) => run),
    );
    expect(commands).toContain("bash .ci/run --coverage --nightly");
  });
});
