/**
 * `@filewright/storage/s3`: a workspace in an S3-compatible store. Contents are immutable objects by hash, the state of a
 * workspace is one object that is replaced under a condition.
 *
 * @module @filewright/storage/s3
 */
export type { S3Credentials, S3StorageOptions } from "./options.ts";
export type { S3Abilities } from "./probe.ts";
export { type S3Storage, s3Storage } from "./storage.ts";
export type { SweepOptions, Swept } from "./sweep.ts";
