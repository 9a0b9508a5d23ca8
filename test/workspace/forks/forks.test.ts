/** Forks over the disk, over backends and storages without forks of their own, and over a storage that makes them. */
import { describe } from "vitest";
import { forkCases } from "./cases.ts";
import { openDisk, openMemory, openMemoryStorage, openPlainStorage } from "./subject.ts";

describe("forks of the disk", () => forkCases(openDisk));
describe("forks of files in memory", () => forkCases(openMemory));
describe("forks that a storage makes", () => forkCases(openMemoryStorage));
describe("forks of a storage without forks", () => forkCases(openPlainStorage));
