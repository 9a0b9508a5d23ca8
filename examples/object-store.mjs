// A small object store on loopback that speaks as much of the S3 API as
// object-storage.mjs needs: objects with entity tags, conditional requests, and lists by
// prefix in pages. It checks no signature. For trying things out.
import { createHash } from "node:crypto";
import { createServer } from "node:http";

/** Starts it, with one bucket named `bucket`. */
export async function startObjectStore({ pageSize = 1000 } = {}) {
  const objects = new Map();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://store");
    const key = decodeURIComponent(pathname.slice("/bucket/".length));
    const answer = (status, headers = {}, body = undefined) => {
      response.writeHead(status, headers);
      response.end(request.method === "HEAD" ? undefined : body);
    };
    if (searchParams.get("list-type") === "2") {
      return answer(200, { "content-type": "application/xml" }, list(searchParams));
    }
    const found = objects.get(key);
    const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = request.headers;
    if (request.method === "PUT") {
      const parts = [];
      for await (const part of request) parts.push(part);
      const now = objects.get(key);
      if (ifNoneMatch === "*" && now !== undefined) return answer(412);
      if (ifMatch !== undefined && now?.etag !== ifMatch) return answer(now === undefined ? 404 : 412);
      const bytes = Buffer.concat(parts);
      const etag = `"${createHash("md5").update(bytes).digest("hex")}"`;
      objects.set(key, { bytes, etag, modified: new Date() });
      return answer(200, { etag });
    }
    if (request.method === "DELETE") {
      if (ifMatch !== undefined && found?.etag !== ifMatch) return answer(found === undefined ? 404 : 412);
      objects.delete(key);
      return answer(204);
    }
    if (found === undefined) return answer(404);
    const { bytes, etag, modified } = found;
    const facts = { etag, "last-modified": modified.toUTCString(), "content-length": bytes.length };
    return ifNoneMatch === etag ? answer(304, { etag }) : answer(200, facts, bytes);
  });

  function list(search) {
    const prefix = search.get("prefix") ?? "";
    const delimiter = search.get("delimiter");
    const after = search.get("continuation-token") ?? search.get("start-after") ?? "";
    const most = Math.min(Number(search.get("max-keys") ?? pageSize), pageSize);
    const items = new Map();
    for (const key of [...objects.keys()].sort(byBytes)) {
      if (!key.startsWith(prefix)) continue;
      const cut = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
      const item = cut < 0 ? key : key.slice(0, cut + 1);
      if (byBytes(item, after) > 0) items.set(item, cut < 0 ? objects.get(key) : undefined);
    }
    const page = [...items].slice(0, most);
    const rows = page.map(([name, object]) => {
      const key = escapeXml(name);
      return object === undefined
        ? `<CommonPrefixes><Prefix>${key}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${key}</Key><LastModified>${object.modified.toISOString()}</LastModified><ETag>${escapeXml(object.etag)}</ETag><Size>${object.bytes.length}</Size></Contents>`;
    });
    const next =
      items.size > most
        ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${escapeXml(page.at(-1)[0])}</NextContinuationToken>`
        : "";
    return `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>${rows.join("")}${next}</ListBucketResult>`;
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, close };
}

function escapeXml(text) {
  return text.replace(/[&<>"]/g, (char) => `&#${char.codePointAt(0)};`);
}

function byBytes(a, b) {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
