/** Opening a workspace: its row, and the schema where it is missing or old. */
import { FilewrightError } from "filewright/files";
import { type Database, isMissing } from "./database.ts";
import { newerSchemaError } from "./errors.ts";
import { SCHEMA_VERSION } from "./sql/migrations.ts";

/** Returns the number of a workspace, which is made when it is missing. @throws UNSUPPORTED_OPERATION */
export async function openWorkspaceRow(
  database: Database,
  tenant: string,
  workspace: string,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      const [row] = await database.change("open", [tenant, workspace, SCHEMA_VERSION]);
      const version = Number(row?.["version"]);
      if (version === SCHEMA_VERSION) return String(row?.["id"]);
      if (version > SCHEMA_VERSION) throw newerSchemaError(String(version));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    if (attempt === 2) throw new FilewrightError("INTERNAL", "the schema is missing after it was made");
    await database.migrate();
  }
}
