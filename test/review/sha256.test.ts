/** The hash and the code of a tab agree with those of Node. */
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { hmacSha256, sha256 } from "../../js/review/proof/sha256.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

it("sha256 agrees with Node for every length of two blocks, and for a megabyte", () => {
  for (const length of [...Array(130).keys(), 1_000_000]) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + length) % 256);
    expect(hex(sha256(bytes)), String(length)).toBe(createHash("sha256").update(bytes).digest("hex"));
  }
});

it("hmacSha256 agrees with Node for any key up to a block, and any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.uint8Array({ maxLength: 300 }), (key, bytes) => {
      expect(hex(hmacSha256(key, bytes))).toBe(createHmac("sha256", key).update(bytes).digest("hex"));
    }),
  );
});
