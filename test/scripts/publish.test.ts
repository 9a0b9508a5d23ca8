/** The packages of a release and their order: an install of the main package must find its addons. */
import { describe, expect, test } from "vitest";
import { publishingOrder } from "../../scripts/release/publish.mjs";
import { releaseTargets } from "../../scripts/release/targets.mjs";

const platforms = releaseTargets().map(({ platform }) => platform);
const tarballs = (names: readonly string[]) => ({
  version: "1.2.3",
  main: "/t/filewright-1.2.3.tgz",
  storage: "/t/filewright-storage-1.2.3.tgz",
  addons: new Map(names.map((name) => [name, `/t/filewright-native-${name}-1.2.3.tgz`])),
});

test("every addon comes before the main package, and the storages after it", () => {
  const order = publishingOrder(tarballs([...platforms].reverse()), platforms);
  expect(order.map(({ name }) => name)).toEqual([
    ...platforms.map((platform) => `@filewright/native-${platform}`),
    "filewright",
    "@filewright/storage",
  ]);
  expect(order.at(0)?.file).toBe(`/t/filewright-native-${platforms[0]}-1.2.3.tgz`);
  expect(order.at(-1)?.file).toBe("/t/filewright-storage-1.2.3.tgz");
});

describe("nothing is published", () => {
  test("if an addon is missing", () => {
    expect(() => publishingOrder(tarballs(platforms.slice(1)), platforms)).toThrow(
      `there is no addon for ${platforms[0]}`,
    );
  });

  test("if there is an addon that package.json does not name", () => {
    expect(() => publishingOrder(tarballs([...platforms, "win32-x64-msvc"]), platforms)).toThrow(
      "no addon is released for win32-x64-msvc",
    );
  });
});
