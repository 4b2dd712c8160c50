import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asString } from "./support";

const text = "0123456789".repeat(10);

describe("stored files over HTTP", async () => {
  const service = await startService();
  const client = service.client();
  const asset = asRecord((await client.upload(text, "digits.txt")).body);
  await client.call("POST", "/api/userdata/digits.txt", text);
  const paths = [
    `/api/view?filename=${asString(asset.asset_hash)}`,
    `/api/assets/${asString(asset.id)}/content`,
    "/api/userdata/digits.txt",
  ];
  const fullResponse = await client.get(paths[0] ?? "");
  const etag = fullResponse.headers.get("etag") ?? "";
  const lastModified = fullResponse.headers.get("last-modified") ?? "";

  it.each([
    ["bytes=0-0", 206, "0", "bytes 0-0/100"],
    ["bytes=95-", 206, "56789", "bytes 95-99/100"],
    ["bytes=-3", 206, "789", "bytes 97-99/100"],
    ["bytes=-500", 206, text, "bytes 0-99/100"],
    ["bytes=98-500", 206, "89", "bytes 98-99/100"],
    ["Bytes = 1 - 2", 206, "12", "bytes 1-2/100"],
    ["bytes=100-", 416, undefined, "bytes */100"],
    ["bytes=99999999999999999999999-", 416, undefined, "bytes */100"],
    ["bytes=-0", 416, undefined, "bytes */100"],
    ["bytes=5-2", 200, text, null],
    ["bytes=-", 200, text, null],
    ["bytes=a-b", 200, text, null],
    ["bytes=0-1,5-6", 200, text, null],
    ["pages=1-2", 200, text, null],
  ])("responds to Range: %s with %i", async (range, status, body, contentRange) => {
    for (const path of paths) {
      const response = await client.get(path, { range });
      expect([response.status, response.headers.get("content-range")]).toEqual([status, contentRange]);
      if (body === undefined) expect(response.text).toContain(path.includes("userdata") ? "100 bytes" : "RANGE_NOT_SATISFIABLE");
      else expect([response.text, response.headers.get("content-length")]).toEqual([body, String(body.length)]);
      expect(response.headers.get("accept-ranges")).toBe("bytes");
    }
  });

  it("serves a range only when If-Range matches", async () => {
    const path = paths[0] ?? "";
    const getRangeStatus = async (condition: string) => (await client.get(path, { range: "bytes=0-0", "if-range": condition })).status;
    expect(await getRangeStatus(etag)).toBe(206);
    expect(await getRangeStatus(lastModified)).toBe(206);
    for (const condition of ['"other"', `W/${etag}`, "Thu, 01 Jan 1970 00:00:00 GMT", "nonsense"])
      expect([condition, await getRangeStatus(condition)]).toEqual([condition, 200]);
  });

  it.each([
    [() => ({ "if-none-match": etag }), 304],
    [() => ({ "if-none-match": `"a", W/${etag} ,"b"` }), 304],
    [() => ({ "if-none-match": "*" }), 304],
    [() => ({ "if-none-match": '"a"' }), 200],
    [() => ({ "if-modified-since": lastModified }), 304],
    [() => ({ "if-modified-since": "Fri, 31 Dec 2100 00:00:00 GMT" }), 304],
    [() => ({ "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }), 200],
    [() => ({ "if-modified-since": "nonsense" }), 200],
    // The ETag takes precedence, so the date is ignored.
    [() => ({ "if-none-match": '"a"', "if-modified-since": lastModified }), 200],
    [() => ({ "if-match": etag }), 200],
    [() => ({ "if-match": '"a"' }), 412],
    [() => ({ "if-match": "*" }), 200],
    [() => ({ "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }), 412],
    [() => ({ "if-unmodified-since": lastModified }), 200],
  ])("handles condition %# as RFC 9110 requires", async (condition, status) => {
    for (const path of paths.slice(0, 2)) {
      for (const method of ["GET", "HEAD"]) {
        const response = await client.raw(method, path, undefined, condition());
        const body = await response.text();
        expect([method, response.status, response.headers.get("etag")]).toEqual([method, status, etag]);
        if (status === 304) expect(body).toBe("");
      }
    }
  });

  it("returns the headers of GET for HEAD and ignores ranges", async () => {
    const imagePaths = ["/api/view?filename=product.png&res=64", "/api/view?filename=product.png&channel=rgb"];
    for (const path of [...paths, ...imagePaths, "/api/userdata?dir=%2F", "/api/assets"]) {
      const [get, head] = [await client.raw("GET", path), await client.raw("HEAD", path, undefined, { range: "bytes=0-1" })];
      await get.arrayBuffer();
      expect([path, head.status, head.headers.get("content-type")]).toEqual([path, 200, get.headers.get("content-type")]);
      if (get.headers.has("etag")) {
        expect([head.headers.get("content-length"), head.headers.get("etag")]).toEqual([
          get.headers.get("content-length"),
          get.headers.get("etag"),
        ]);
        expect(await head.text()).toBe("");
      }
    }
  });

  const toBytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
  const weights = Buffer.alloc(64);
  weights.writeBigUInt64LE(19_778n); // The first two bytes are "BM".
  weights.write('{"a":{}}', 8);

  it.each([
    ["a.png", toBytes("GIF89a\x01\0\x01\0\0\0\0"), "image/gif", "gif"],
    ["a.png", toBytes("\0\0\0\x18ftypisom\0\0\0\0isommp42"), "video/mp4", "mp4"],
    ["a.png", toBytes(`glTF\x02\0\0\0${"\0".repeat(40)}`), "model/gltf-binary", "glb"],
    ["a.safetensors", new Uint8Array(weights), "application/octet-stream", "safetensors"],
    ["a.png", new Uint8Array(weights), "application/octet-stream", "bin"],
    ["a.png", toBytes("plain text"), "text/plain; charset=utf-8", "txt"],
    ["a.csv", toBytes("a,b\n1,2"), "text/plain; charset=utf-8", "csv"],
    ["MZ.txt", toBytes("MZ is a common prefix"), "text/plain; charset=utf-8", "txt"],
    ["a.txt", toBytes(' {"a": "<svg >"}'), "application/json; charset=utf-8", "json"],
    ["a.ini", toBytes("[section]\nname=1"), "text/plain; charset=utf-8", "ini"],
    ["a.txt", toBytes("{ not JSON }"), "text/plain; charset=utf-8", "txt"],
    ["a.txt", toBytes("%PDF-1.4 text"), "application/pdf", "pdf"],
  ])("detects %s by its bytes", async (name, content, type, extension) => {
    const asset = asRecord((await client.upload(content, name, { mime_type: "text/html" })).body);
    const response = await client.get(`/api/assets/${asString(asset.id)}/content`);
    expect([response.headers.get("content-type"), response.headers.get("x-content-type-options")]).toEqual([type, "nosniff"]);
    const hash = asString(asset.asset_hash).slice(7);
    expect((await client.get(`/api/view?filename=${hash}.${extension}`)).status).toBe(200);
  });

  it.each<[name: string, content: string, type?: string]>([
    ["page.txt", "<!DOCTYPE html><p>x", "text/html; charset=utf-8"],
    ["page.png", "\n\n<html><script>1</script>", "text/html; charset=utf-8"],
    ["page.json", "<script>1</script>", "text/html; charset=utf-8"],
    ["image.jpg", "<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "image/svg+xml"],
    ["image.png", "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"],
    ["x.txt", "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>"],
    ["x.txt", "<?xml version='1.0'?><xsl:stylesheet/>"],
    ["x.txt", "<!-- --><svg xmlns='http://www.w3.org/2000/svg'/>"],
    ["script.js", "alert(1)"],
    ["script.mjs", "export {}"],
    ["style.css", "a{}"],
    ["utf16.txt", "\xff\xfe<\0s\0c\0r\0i\0p\0t\0>\0"],
  ])("never serves %s inline: %j", async (name, content, type) => {
    const asset = asRecord((await client.upload(toBytes(content), name)).body);
    for (const path of [
      `/api/view?filename=${asString(asset.asset_hash)}`,
      `/api/assets/${asString(asset.id)}/content?disposition=inline`,
    ]) {
      const { headers } = await client.get(path);
      expect(headers.get("content-disposition")).toMatch(/^attachment;/);
      if (type) expect(headers.get("content-type")).toBe(type);
      expect([headers.get("x-content-type-options"), headers.get("content-security-policy")]).toEqual([
        "nosniff",
        "default-src 'none'; sandbox",
      ]);
    }
  });

  it("serves files under their own name in any writing system", async () => {
    const asset = asRecord((await client.upload("named", "n.txt", { name: 'Grüße "an" 東京/it\'s (1).txt' })).body);
    const path = `/api/assets/${asString(asset.id)}/content`;
    const dispositionHeader = (await client.get(`${path}?disposition=attachment`)).headers.get("content-disposition");
    expect(dispositionHeader).toBe(
      "attachment; filename=\"Gr__e _an_ ___it's (1).txt\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%22an%22%20%E6%9D%B1%E4%BA%AC_it%27s%20%281%29.txt",
    );
    expect((await client.get(path)).headers.get("content-disposition")).toMatch(/^inline;/);
    expect((await client.get(`${path}?disposition=other`)).body).toMatchObject({ code: "INVALID_QUERY" });
  });
});
