/** The used part of Node's `fs`. */

/** The used properties of Node's `Stats`. */
export interface NodeStats {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  readonly size: number | bigint;
  readonly mtimeMs: number | bigint;
  readonly ctimeMs?: number | bigint;
  readonly atimeMs?: number | bigint;
  readonly birthtimeMs?: number | bigint;
  readonly mode?: number | bigint;
  readonly nlink?: number | bigint;
}

/** The used methods of `fs.promises`. */
export interface NodeFsPromises {
  readFile(path: string): Promise<unknown>;
  writeFile(path: string, data: Uint8Array, options?: { flag?: string }): Promise<void>;
  stat(path: string): Promise<unknown>;
  readdir(path: string): Promise<unknown>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<unknown>;
  rmdir(path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  lstat?(path: string): Promise<unknown>;
  rename?(from: string, to: string): Promise<void>;
  readlink?(path: string): Promise<unknown>;
  symlink?(target: string, path: string): Promise<void>;
  chmod?(path: string, mode: number): Promise<void>;
}

/** An object in the shape of Node's `fs`. */
export interface NodeFs {
  readonly promises: NodeFsPromises;
}
