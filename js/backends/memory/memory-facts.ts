/** Converts the nodes of a memory backend to the facts, entries and counts that callers see. */
import type { FsEntry, FsStat, TreeCounts, WriteResult } from "../backend.ts";
import { checkWritable, backendError } from "../failure.ts";
import { cloneDir, cloneNode, type DirNode, type CopyAttributes, type MemoryNode } from "./memory-tree.ts";
import { byteLength, childOf } from "../paths.ts";

/** Returns the version of a file as callers see it. */
export function versionOfNode(node: MemoryNode): string | undefined {
  return node.type === "file" ? `m${node.version}` : undefined;
}

/** Returns the result of a write, copy or move, frozen. */
export function toWriteResult(node: MemoryNode): WriteResult {
  const version = versionOfNode(node);
  return Object.freeze({ ...(version === undefined ? {} : { version }), fileId: `m${node.id}` });
}

/** Returns the facts about a node, frozen. */
export function toFsStat(path: string, node: MemoryNode): FsStat {
  return Object.freeze({
    path,
    type: node.type,
    size: sizeOfNode(node),
    isDir: node.type === "dir",
    isFile: node.type === "file",
    mtime: node.mtime,
    ctime: node.ctime,
    birthtime: node.birthtime,
    mode: node.mode,
    nlink: 1,
    ...(node.type === "symlink" ? { target: node.target } : {}),
    ...(node.type === "file" ? { version: versionOfNode(node) as string } : {}),
    fileId: `m${node.id}`,
  });
}

/** Returns a node as an entry of a directory, frozen. */
export function toFsEntry(directory: string, name: string, node: MemoryNode): FsEntry {
  return Object.freeze({
    name,
    path: childOf(directory, name),
    type: node.type,
    isDir: node.type === "dir",
    isFile: node.type === "file",
    size: sizeOfNode(node),
    mtime: node.mtime,
    ...(node.type === "symlink" ? { target: node.target } : {}),
  });
}

function sizeOfNode(node: MemoryNode): number {
  if (node.type === "file") return node.bytes.length;
  return node.type === "symlink" ? byteLength(node.target) : 0;
}

/** Returns the numbers of entries and bytes in a tree, its root included. */
export function countTree(node: MemoryNode): TreeCounts {
  const counts = { files: 0, directories: 0, bytes: 0 };
  const add = (one: MemoryNode): void => {
    if (one.type === "dir") counts.directories++;
    else counts.files++;
    if (one.type === "file") counts.bytes += one.bytes.length;
  };
  const pending = [node];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    add(one);
    if (one.type === "dir") for (const child of one.children.values()) pending.push(child);
  }
  return counts;
}

/**
 * Returns a copy of `source` merged over `target`: directories are merged, every other entry replaces the existing
 * one.
 */
export function mergeCopyOfTree(
  target: MemoryNode | undefined,
  source: MemoryNode,
  fresh: CopyAttributes,
  path: string,
): MemoryNode {
  if (source.type !== "dir") {
    if (target?.type === "dir") throw backendError("IS_DIRECTORY", path);
    checkWritable(target, path);
    return cloneNode(source, fresh);
  }
  if (target === undefined) return cloneDir(source, fresh);
  if (target.type !== "dir") throw backendError("NOT_DIRECTORY", path);
  const merged = cloneNode(target) as DirNode;
  for (const [name, node] of target.children) merged.children.set(name, node);
  for (const [name, node] of source.children) {
    merged.children.set(name, mergeCopyOfTree(target.children.get(name), node, fresh, childOf(path, name)));
  }
  return merged;
}
