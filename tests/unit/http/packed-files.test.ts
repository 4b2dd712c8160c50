import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packedFiles } from "@/lib/http/routes";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lightdesk-packed-"));
  mkdirSync(join(folder, "chunks"));
  writeFileSync(join(folder, "chunks/a.js"), "plain");
  writeFileSync(join(folder, "chunks/a.js.br"), brotliCompressSync("packed"));
  writeFileSync(join(folder, "chunks/b.js"), "plain");
});
afterAll(() => rmSync(folder, { recursive: true }));

async function asked(path: string, accepted: string | undefined, { method = "GET", range = "" } = {}) {
  const prefer = packedFiles(folder, "/static");
  let seen = "";
  const listener: RequestListener = (request, response) => {
    prefer(request, response);
    seen = `${request.url}${request.headers.range ?? ""}`;
    response.end();
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(accepted !== undefined && { "accept-encoding": accepted }), ...(range && { range }) },
  });
  await new Promise((resolve) => server.close(resolve));
  return [seen, answer.headers.get("content-encoding"), answer.headers.get("content-type")];
}

test("a file that is packed goes out packed to whoever reads Brotli, as what it is", async () => {
  const packed = ["/static/chunks/a.js.br?v=1", "br", "application/javascript; charset=UTF-8"];
  for (const accepted of ["br", "gzip, deflate, br, zstd", "br;q=0.5"])
    expect(await asked("/static/chunks/a.js?v=1", accepted)).toEqual(packed);
});

test("whoever does not read Brotli, and a file that was not packed, are left alone", async () => {
  for (const accepted of ["gzip, deflate", "br;q=0", "gzip, br; q=0.0", "brr", "identity"])
    expect(await asked("/static/chunks/a.js", accepted)).toEqual(["/static/chunks/a.js", null, null]);
  for (const path of ["/static/chunks/b.js", "/static/chunks/../chunks/b.js", "/chunks/a.js", "/static/chunks"])
    expect((await asked(path, "br"))[1]).toBeNull();
});

test("what is not the file is not called packed: another method", async () => {
  const type = "application/javascript; charset=UTF-8";
  expect(await asked("/static/chunks/a.js", "br", { method: "HEAD" })).toEqual(["/static/chunks/a.js.br", "br", type]);
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
    expect(await asked("/static/chunks/a.js", "br", { method })).toEqual(["/static/chunks/a.js", null, null]);
});

test("a packed file goes out whole, since a part of it, or the refusal of one, could not be unpacked", async () => {
  const type = "application/javascript; charset=UTF-8";
  expect(await asked("/static/chunks/a.js", "br", { range: "bytes=99-" })).toEqual(["/static/chunks/a.js.br", "br", type]);
  expect(await asked("/static/chunks/b.js", "br", { range: "bytes=99-" })).toEqual(["/static/chunks/b.jsbytes=99-", null, null]);
});
