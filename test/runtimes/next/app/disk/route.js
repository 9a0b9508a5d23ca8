// Uses the local disk at each request.
import * as filewright from "filewright";
import { steps } from "../../steps.mjs";

export const dynamic = "force-dynamic";

export async function GET() {
  return Response.json(await steps(filewright));
}
