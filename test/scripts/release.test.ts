/** The preparation of a release: one version in every file, and a refusal for each checkout that is not ready. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readReleaseArguments } from "../../scripts/release.mjs";
import { rehearsalSteps } from "../../scripts/release/rehearsal.mjs";
import { checkedVersion, prepareRelease, readReleaseNotes } from "../../scripts/release/prepare.mjs";
import { readVersions, VERSION_FILES } from "../../scripts/release/version.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const TODAY = new Date().toISOString().slice(0, 10);
const home = realpathSync(mkdtempSync(join(tmpdir(), "filewright-release-")));
/** A repository that is ready for the release of 0.2.0, and a copy of it for each test. */
const [template, dir] = [join(home, "template"), join(home, "checkout")];
afterAll(() => rmSync(home, { recursive: true }));

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: dir, encoding: "utf8" });
const read = (file: string): string => readFileSync(join(dir, file), "utf8");
const write = (file: string, text: string): void => writeFileSync(join(dir, file), text);

/** Writes a file and commits everything. */
function commit(file: string, text: string): void {
  write(file, text);
  git("add", "--all");
  git("commit", "--quiet", "--message", file);
}

const CHANGELOG = `# Changelog
## [Unreleased]
- Something later.

## [0.2.0] - ${TODAY}
### Added
- Something.

## [0.1.0] - 2026-01-02
The first version.
`;

beforeAll(() => {
  mkdirSync(dir);
  for (const file of VERSION_FILES) {
    mkdirSync(dirname(join(dir, file.file)), { recursive: true });
    write(file.file, file.write(readFileSync(join(ROOT, file.file), "utf8"), "0.1.0"));
  }
  git("init", "--quiet", "--template=");
  commit("CHANGELOG.md", CHANGELOG);
  cpSync(dir, template, { recursive: true });
});
test("the files of this checkout have one version", () => {
  expect(new Set(readVersions(ROOT).map(({ version }) => version)).size).toBe(1);
});

describe("in a checkout", () => {
  beforeEach(() => {
    rmSync(dir, { recursive: true, force: true });
    cpSync(template, dir, { recursive: true });
  });

  test("a release changes nothing but the version, in every file", () => {
    const before = Object.fromEntries(VERSION_FILES.map(({ file }) => [file, read(file)]));
    expect(prepareRelease(dir, "0.2.0")).toEqual(Object.keys(before));
    expect(new Set(readVersions(dir).map(({ version }) => version))).toEqual(new Set(["0.2.0"]));
    for (const [file, text] of Object.entries(before)) {
      const after = read(file).split("\n");
      const changed = text.split("\n").flatMap((line, at) => (line === after[at] ? [] : [[line, after[at]]]));
      const places = readVersions(dir).filter((one) => one.file === file).length;
      expect(changed, file).toHaveLength(places);
      for (const [old = "", now] of changed) expect(now).toBe(old.replace("0.1.0", "0.2.0"));
    }
    expect(checkedVersion(dir, "v0.2.0")).toBe("0.2.0");
  });

  describe("a release is refused", () => {
    const cases: Record<string, readonly [() => void, string, RegExp]> = {
      "if a file is not committed": [() => write("left", ""), "0.2.0", /not committed:\n {2}\?\? left/u],
      "if its version is not three numbers": [() => {}, "0.2.0-rc.1", /'0\.2\.0-rc\.1' is not a version/u],
      "if its version is one of the changelog": [() => {}, "0.1.0", /0\.1\.0 is not above 0\.2\.0/u],
      "if its version has a tag": [() => git("tag", "v0.2.0"), "0.2.0", /0\.2\.0 is not above 0\.2\.0/u],
      "if a higher version has a tag": [
        () => git("tag", "v0.10.0"),
        "0.9.0",
        /0\.9\.0 is not above 0\.10\.0/u,
      ],
      "without a section in the changelog": [
        () => {},
        "0.3.0",
        /has no section for 0\.3\.0: write '## \[0\.3\.0\]/u,
      ],
      "without a date in it": [
        () => commit("CHANGELOG.md", CHANGELOG.replace(`[0.2.0] - ${TODAY}`, "[0.2.0]")),
        "0.2.0",
        /the section of 0\.2\.0 needs a date/u,
      ],
      "with a date that does not exist": [
        () => commit("CHANGELOG.md", CHANGELOG.replace(TODAY, "2026-02-30")),
        "0.2.0",
        /the section of 0\.2\.0 needs a date/u,
      ],
      "with a date in the future": [
        () => commit("CHANGELOG.md", CHANGELOG.replace(TODAY, "2999-01-01")),
        "0.2.0",
        /is in the future/u,
      ],
      "with an empty section": [
        () => commit("CHANGELOG.md", CHANGELOG.replace("### Added\n- Something.\n", "")),
        "0.2.0",
        /the section of 0\.2\.0 is empty/u,
      ],
      "with a heading of another form": [
        () => commit("CHANGELOG.md", CHANGELOG.replace("## [0.1.0] - 2026-01-02", "## 0.1.0")),
        "0.2.0",
        /the heading '0\.1\.0' is neither/u,
      ],
      "if the files differ already": [
        () =>
          commit(
            "Cargo.lock",
            read("Cargo.lock").replace(/(name = "filewright-fs"\nversion = )".*"/u, '$1"0.0.9"'),
          ),
        "0.2.0",
        /package\.json has the version 0\.1\.0, but\n {2}Cargo\.lock: filewright-fs is 0\.0\.9/u,
      ],
    };
    test.each(Object.entries(cases))("%s", (_, [change, version, words]) => {
      change();
      expect(() => prepareRelease(dir, version)).toThrow(words);
      expect(read("package.json")).toContain('"version": "0.1.0"');
    });
  });

  test("a tag of another version is refused", () => {
    expect(checkedVersion(dir, "v0.1.0")).toBe("0.1.0");
    expect(() => checkedVersion(dir, "v0.2.0")).toThrow("the tag v0.2.0 does not fit the version 0.1.0");
  });

  test("the notes of a release are its section alone", () => {
    expect(readReleaseNotes(dir, "0.2.0")).toBe("### Added\n- Something.");
  });
});

describe("arguments", () => {
  test.each([
    [["--check", "--tag=v1.2.3"], { mode: "--check", tag: "v1.2.3" }],
    [["--rehearse", "--built"], { mode: "--rehearse", built: true }],
    [["--notes", "--tag", "v1.2.3"], { mode: "--notes", tag: "v1.2.3" }],
    [["1.2.3"], { mode: "prepare", version: "1.2.3" }],
  ])("%j", (args, expected) => {
    expect(readReleaseArguments(args)).toMatchObject(expected);
  });

  test.each([
    [["--chekc"], /unknown flag --chekc; did you mean --check\?/u],
    [["--publish"], /unknown flag --publish; known: --check, /u],
    [["--check=yes"], /--check takes no value/u],
    [["--check", "--check"], /--check is given twice/u],
    [["--check", "--tag"], /--tag needs a NAME/u],
    [["0.2.0", "--tag", "v0.2.0"], /--tag goes with/u],
    [["--check", "--built"], /--built goes with --rehearse/u],
    [["--check", "--notes"], /give one version, or one of/u],
    [["0.2.0", "0.3.0"], /give one version, or one of/u],
    [[], /give one version, or one of/u],
  ])("%j are refused", (args, words) => {
    expect(() => readReleaseArguments(args)).toThrow(words);
  });
});

test("what the rehearsal runs exists", () => {
  for (const { name, args } of rehearsalSteps({ built: true })) {
    for (const path of args.filter((one) => /^(?:scripts|test)\//u.test(one))) {
      expect(existsSync(join(ROOT, path)), `${name}: ${path}`).toBe(true);
    }
  }
});

test("--help names every flag, and a refusal is the exit status", () => {
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, ["scripts/release.mjs", ...args], { cwd: ROOT, encoding: "utf8" });
  const { status, stdout } = run("--help");
  expect(status).toBe(0);
  for (const flag of ["--check", "--notes", "--rehearse", "--tag NAME"]) expect(stdout).toContain(flag);
  expect(run("--hepl")).toMatchObject({
    status: 1,
    stderr: "error: unknown flag --hepl; did you mean --help?\n",
  });
});
