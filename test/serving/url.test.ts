/** The URL of `--storage`: its forms, and that no message repeats what is secret in a wrong one. */
import { describe, expect, test } from "vitest";
import { parseStorageUrl } from "../../js/mcp/storage/url.ts";

const SECRET = "s3cr3t-of-this-test";

describe("a URL of --storage", () => {
  test.each([
    [
      "postgres://app@db.example/agents",
      { schema: undefined, pool: 10, shown: "postgres://db.example/agents" },
    ],
    [
      `postgresql://app:${SECRET}@db.example:6432/agents?schema=fleet&pool=40&sslmode=verify-full`,
      {
        connection: `postgresql://app:${SECRET}@db.example:6432/agents?sslmode=verify-full`,
        schema: "fleet",
        pool: 40,
        shown: "postgres://db.example:6432/agents",
        secrets: [SECRET, SECRET],
      },
    ],
    ["postgres:///agents", { shown: "postgres:///agents" }],
  ])("%s is a database", (url, target) => {
    expect(parseStorageUrl(url)).toMatchObject({ engine: "postgres", ...target });
  });

  test.each([
    [
      "s3+https://s3.example/bucket",
      { endpoint: "https://s3.example", bucket: "bucket", prefix: "", isPlain: false },
    ],
    [
      "s3+https://s3.example:9000/bucket/a/b/?region=eu-central-1",
      {
        endpoint: "https://s3.example:9000",
        bucket: "bucket",
        prefix: "a/b/",
        region: "eu-central-1",
        shown: "s3+https://s3.example:9000/bucket/a/b/",
      },
    ],
    ["s3+http://127.0.0.1:7070/bucket", { endpoint: "http://127.0.0.1:7070", isPlain: false }],
    ["s3+http://store.internal/bucket", { endpoint: "http://store.internal", isPlain: true }],
  ])("%s is a bucket", (url, target) => {
    expect(parseStorageUrl(url)).toMatchObject({ engine: "s3", ...target });
  });

  test.each([
    ["db.example/agents", /must be a URL: postgres:/],
    [`app:${SECRET}@db.example/agents`, /begins with app:/],
    ["memory://", /lost with the process/],
    ["postgrse://db.example/agents", /did you mean postgres:/],
    ["s3://bucket/prefix", /did you mean s3\+https:/],
    ["https://s3.example/bucket", /did you mean s3\+https:/],
    [`postgres://app:${SECRET}#@db.example/agents`, /%23|no valid URL/],
    [`postgres://app:${SECRET}@db.example:port/agents`, /no valid URL/],
    [`postgres://app:${SECRET}@db.example/agents?shema=x`, /did you mean schema/],
    [`postgres://app:${SECRET}@db.example/agents?schema=a&schema=b`, /twice/],
    [`postgres://app:${SECRET}@db.example/agents?pool=1`, /from 2 to 500/],
    [`postgres://app:${SECRET}@db.example/agents?pool=many`, /from 2 to 500/],
    [`postgres://app:${SECRET}@db.example/agents?schema=`, /empty schema/],
    [`postgres://app:%zz${SECRET}@db.example/agents`, /%25/],
    [`s3+https://access:${SECRET}@s3.example/bucket`, /must not contain keys/],
    ["s3+https://s3.example/", /no bucket/],
    ["s3+https:bucket", /no bucket/],
  ])("%s is refused", (url, message) => {
    const refuse = (): unknown => parseStorageUrl(url);
    expect(refuse).toThrow(message);
    expect(refuse).not.toThrow(SECRET);
  });
});
