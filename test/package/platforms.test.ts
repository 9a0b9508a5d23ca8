/** The platforms of the guide are those for which addons and wheels are built, and one page says what is published. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { WHEEL_TAG_BY_PLATFORM } from "../../scripts/release/channels/wheel.mjs";
import { MIN_GLIBC, MIN_MACOS, releaseTargets } from "../../scripts/release/targets.mjs";

const root = resolve(import.meta.dirname, "../..");
const textOf = (page: string): string => readFileSync(join(root, page), "utf8");

test("deployment.md lists every addon and wheel, and no others", () => {
  const rows = [
    ...textOf("docs/guides/deployment.md").matchAll(
      /^\| (.*) \| `@filewright\/native-(.*)` \| `(.*)` \|$/gmu,
    ),
  ];
  expect(rows.map(([, , platform, tag]) => [platform, tag]).sort()).toEqual(
    Object.entries(WHEEL_TAG_BY_PLATFORM).sort(),
  );
  expect(Object.keys(WHEEL_TAG_BY_PLATFORM).sort()).toEqual(
    releaseTargets()
      .map(({ platform }) => platform)
      .sort(),
  );
  for (const [, system = "", platform = "", tag = ""] of rows) {
    const { os, arch, libc } = releaseTargets([platform])[0] as { os: string; arch: string; libc?: string };
    const version = libc === "gnu" ? MIN_GLIBC : os === "darwin" ? MIN_MACOS : "1.2";
    expect(system).toContain(arch);
    // `11.0` is written `11`.
    expect(system).toMatch(new RegExp(`(?:glibc|musl|macOS) ${version.replace(/\.0$/u, "")}\\b`, "u"));
    expect(tag).toContain(`_${version.replace(".", "_")}_`);
  }
});

test("the README alone says from when on packages are published", () => {
  const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  const saying = pages.filter((page) => /first release on|not published yet/iu.test(textOf(page)));
  expect(saying).toEqual(["README.md"]);
});
