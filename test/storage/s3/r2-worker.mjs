// A worker that answers the requests of S3 which the storage makes from an R2 bucket, through its binding. It checks
// no signature: what is tested is the bucket.

/** Returns text for XML. */
const escaped = (text) => text.replace(/[&<>"]/gu, (char) => `&#${char.codePointAt(0)};`);

/** Returns the answer to a listing. */
async function list(bucket, search) {
  const found = await bucket.list({
    prefix: search.get("prefix") ?? "",
    ...(search.has("delimiter") ? { delimiter: search.get("delimiter") } : {}),
    ...(search.has("continuation-token") ? { cursor: search.get("continuation-token") } : {}),
    ...(search.has("max-keys") ? { limit: Number(search.get("max-keys")) } : {}),
  });
  const contents = found.objects.map(
    ({ key, size, httpEtag, uploaded }) =>
      `<Contents><Key>${escaped(key)}</Key><Size>${size}</Size><ETag>${escaped(httpEtag)}</ETag>` +
      `<LastModified>${uploaded.toISOString()}</LastModified></Contents>`,
  );
  const prefixes = found.delimitedPrefixes.map(
    (prefix) => `<CommonPrefixes><Prefix>${escaped(prefix)}</Prefix></CommonPrefixes>`,
  );
  const next = found.truncated
    ? `<NextContinuationToken>${escaped(found.cursor)}</NextContinuationToken>`
    : "";
  return new Response(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${found.truncated}</IsTruncated>` +
      `${next}${contents.join("")}${prefixes.join("")}</ListBucketResult>`,
  );
}

export default {
  async fetch(request, { BUCKET: bucket }) {
    const { pathname, searchParams } = new URL(request.url);
    const key = decodeURIComponent(pathname.replace(/^\/[^/]*\/?/u, ""));
    if (key === "") return list(bucket, searchParams);
    const { method, headers } = request;
    if (method === "PUT") {
      const sha256 = headers.get("x-amz-content-sha256");
      const stored = await bucket.put(key, await request.arrayBuffer(), {
        onlyIf: headers,
        ...(/^[\da-f]{64}$/u.test(sha256 ?? "") ? { sha256 } : {}),
      });
      if (stored === null) return new Response(null, { status: 412 });
      return new Response(null, { headers: { etag: stored.httpEtag } });
    }
    if (method === "DELETE") {
      // The binding has no condition on a deletion.
      await bucket.delete(key);
      return new Response(null, { status: 204 });
    }
    const found = method === "HEAD" ? await bucket.head(key) : await bucket.get(key, { onlyIf: headers });
    if (found === null) return new Response(null, { status: 404 });
    const facts = { etag: found.httpEtag, "last-modified": found.uploaded.toUTCString() };
    if (method === "GET" && found.body === undefined)
      return new Response(null, { status: 304, headers: facts });
    return new Response(method === "HEAD" ? null : found.body, { headers: facts });
  },
};
