/** The options of {@link s3Storage}. */
import {
  anyText,
  callback,
  either,
  integer,
  optionChecker,
  type Options,
  options as described,
  required,
  text,
  urlOption,
} from "filewright/files";

/** The credentials of an S3-compatible store. They show in no error and no log. */
export interface S3Credentials {
  /** The access key, which is public. */
  readonly accessKeyId: string;
  /** The secret with which requests are signed. It is never sent. */
  readonly secretAccessKey: string;
  /** The token of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** The options of `s3Storage`. */
export interface S3StorageOptions {
  /** The address of the store, without the bucket: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string | URL;
  /** The name of the bucket, which has to exist. It is sent as the first part of the path. */
  readonly bucket: string;
  /** The region that is signed for. Default `us-east-1`; `auto` for R2. */
  readonly region?: string | undefined;
  /** The credentials, or a function that returns them for each request, for those that expire. */
  readonly credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /** The name of the workspace, at most 200 bytes. One that does not exist yet is empty. */
  readonly workspace: string;
  /**
   * The beginning of every key, so that several installations share a bucket: letters, digits, `-`, `_`, `=`, `.` and
   * `/`. Default: none.
   */
  readonly prefix?: string | undefined;
  /** Sends the signed requests. Default: the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** The maximum time of one request in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The number of times that a request is sent at most, when the store is busy or silent. Default 4. */
  readonly attempts?: number | undefined;
  /** The size in bytes of the largest file. Default 64 MiB; a store has its own limit besides. */
  readonly maxBodyBytes?: number | undefined;
  /** The memory in bytes for contents and pages that were read. Default 32 MiB. */
  readonly cacheBytes?: number | undefined;
}

/**
 * The options of `s3Storage`.
 *
 * @printed
 */
export const S3_STORAGE_OPTIONS: Options<S3StorageOptions> = described("S3StorageOptions", {
  endpoint: required(either(text(), urlOption)),
  bucket: required(text()),
  region: text(),
  credentials: required(
    either(
      described<S3Credentials>("S3Credentials", {
        accessKeyId: required(text()),
        secretAccessKey: required(text()),
        sessionToken: text(),
      }),
      callback(),
    ),
  ),
  workspace: required(text()),
  prefix: anyText(),
  fetch: callback(),
  timeoutMs: integer(1),
  attempts: integer(1, 20),
  maxBodyBytes: integer(1),
  cacheBytes: integer(0),
});

/** Checks the options of `s3Storage`. */
export const checkS3Options: (given: unknown) => S3StorageOptions = optionChecker(
  "s3Storage",
  S3_STORAGE_OPTIONS,
);
