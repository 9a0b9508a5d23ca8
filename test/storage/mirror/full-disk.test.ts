/** The copy of a storage's files on a disk that is full: what it leaves there, and that it goes on once there is room. */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { DiskCopy } from "../../../js/storage/mirror/disk-copy.node.ts";
import { mayMountDisks, smallDisk } from "../../support/small-disk.ts";

const hash = (letter: string): string => letter.repeat(64);
const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(120);
const diskFull = expect.objectContaining({ code: "ENOSPC" });

describe.skipIf(!mayMountDisks())("the copy of a storage on a full disk", () => {
  it("keeps no part of a file, so that the file can be written once there is room", async () => {
    const disk = smallDisk("256k");
    const copy = await DiskCopy.open(join(disk, "copy"));
    copy.write("/d/kept", hash("a"), bytes(10));
    copy.write("/d/file", hash("b"), bytes(20));
    writeFileSync(join(disk, "filler"), bytes(100_000));
    expect(() => copy.write("/d/file", hash("c"), bytes(200_000))).toThrow(diskFull);
    expect(existsSync(join(copy.files, "d/file"))).toBe(false);
    expect([...copy.paths]).toEqual(["/d/kept"]);
    expect(copy.bytes).toBe(10);
    rmSync(join(disk, "filler"));
    expect(copy.write("/d/file", hash("c"), bytes(200_000))).toBe(true);
    expect(copy.bytes).toBe(200_010);
  });

  it("leaves no draft of a record that cannot be saved, and saves it once there is room", async () => {
    const disk = smallDisk("256k");
    const copy = await DiskCopy.open(join(disk, "copy"));
    for (let at = 0; at < 20; at++) copy.write(`/f${at}`, hash("a"), bytes(10));
    writeFileSync(join(disk, "filler"), bytes(100_000));
    // All that is left of the disk.
    expect(() => writeFileSync(join(disk, "rest"), bytes(256 * 1024))).toThrow(diskFull);
    for (let tries = 0; tries < 3; tries++) expect(() => copy.save()).toThrow(diskFull);
    expect(readdirSync(join(disk, "copy"))).toEqual(["files"]);
    rmSync(join(disk, "filler"));
    copy.save();
    expect(readdirSync(join(disk, "copy")).sort()).toEqual(["files", "record.json"]);
    expect([...(await DiskCopy.open(join(disk, "copy"))).paths].length).toBe(20);
  });
});
