/** The engine of `--storage s3+https://…`: one bucket for all workspaces of the process. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Storage } from "../../storage/storage.ts";
import { loadS3, type S3Keys } from "./load.ts";
import type { Environment, StorageEngine, WorkspaceName } from "./engine.ts";
import type { S3Target } from "./url.ts";

/**
 * Makes the engine. Nothing is sent yet.
 * @throws FilewrightError INVALID_ARGUMENT without keys, UNSUPPORTED_OPERATION without the package
 */
export async function s3Engine(target: S3Target, environment: Environment): Promise<StorageEngine> {
  const { endpoint, bucket, prefix, shown } = target;
  const credentials = credentialsOf(environment);
  const { s3Storage } = await loadS3();
  const region = target.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
  const open = ({ tenant, workspace }: WorkspaceName): Promise<Storage> =>
    s3Storage(
      withoutUndefined({
        endpoint,
        bucket,
        credentials,
        workspace,
        prefix: tenant === undefined ? prefix : `${prefix}tenants/${encodeTenant(tenant)}/`,
        region,
      }),
    );
  const any = await open({ tenant: undefined, workspace: "main" });
  return {
    shown,
    open,
    async ping(signal) {
      await any.changes(null, { limit: 0, signal });
    },
    close: () => Promise.resolve(),
  };
}

/**
 * Returns a tenant's part of the keys. Every name becomes letters, digits, `-` and `_`, so that none can contain a `/`
 * or be the beginning of another one's part.
 */
function encodeTenant(tenant: string): string {
  return Buffer.from(tenant, "utf8").toString("base64url");
}

function credentialsOf(environment: Environment): S3Keys {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  const sessionToken = environment["AWS_SESSION_TOKEN"];
  if (!accessKeyId || !secretAccessKey)
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "the keys of the store are missing; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
    );
  return withoutUndefined({
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken ? sessionToken : undefined,
  });
}
