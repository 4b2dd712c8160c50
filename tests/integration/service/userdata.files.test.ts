import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";

describe("user data files", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  it("writes, lists, reads, moves and deletes a file", async () => {
    expect((await client.call("POST", "/api/userdata/workflows%2Fa.json?full_info=true", '{"a":1}')).body).toEqual({
      path: "workflows/a.json",
      size: 7,
      modified: expect.stringMatching(/Z$/),
    });
    expect(await client.call("POST", "/api/userdata/workflows/deep/b.json", "{}")).toMatchObject({
      status: 200,
      body: "workflows/deep/b.json",
    });
    expect((await client.get("/api/userdata?dir=workflows%2F")).body).toEqual([{ path: "a.json", size: 7, modified: expect.any(Number) }]);
    expect((await client.get("/api/userdata?dir=workflows%2F&recurse=true")).body).toMatchObject([
      { path: "a.json" },
      { path: "deep/b.json" },
    ]);
    const read = await client.get("/api/userdata/workflows%2Fa.json");
    expect([read.text, read.headers.get("content-type")]).toEqual(['{"a":1}', "application/octet-stream"]);
    expect(await client.call("POST", "/api/userdata/workflows%2Fa.json/move/workflows%2Fc.json")).toMatchObject({
      status: 200,
      body: "workflows/c.json",
    });
    expect((await client.call("DELETE", "/api/userdata/workflows%2Fc.json")).status).toBe(204);
    expect((await client.get("/api/userdata/workflows%2Fc.json")).status).toBe(404);
  });

  it("keeps an existing file when overwrite is false, and says so in plain text", async () => {
    await client.call("POST", "/api/userdata/keep.txt", "first");
    const refused = await client.call("POST", "/api/userdata/keep.txt?overwrite=false", "second");
    expect([refused.status, refused.headers.get("content-type")]).toEqual([409, "text/plain; charset=utf-8"]);
    expect((await client.get("/api/userdata/keep.txt")).text).toBe("first");
    await client.call("POST", "/api/userdata/keep.txt", "second");
    expect((await client.get("/api/userdata/keep.txt")).text).toBe("second");
    await client.call("POST", "/api/userdata/other.txt", "other");
    expect((await client.call("POST", "/api/userdata/other.txt/move/keep.txt")).status).toBe(409);
    expect((await client.call("POST", "/api/userdata/other.txt/move/keep.txt?overwrite=true")).status).toBe(200);
    expect(await readdir(join(bench.folder, "tmp"))).toEqual([]);
  });

  it.each([
    "..%2Fx",
    "a%2F..%2F..%2Fx",
    "%2Fetc%2Fpasswd",
    "..%252F..%252Fx",
    "..%5Cx",
    "a%5Cb",
    "x%00.txt",
    "C%3A%2Fx",
    "con",
    "a%2FNUL.txt",
    "%2E%2E%2Fx",
  ])("refuses %s with 403 for writing, reading and deleting", async (path) => {
    for (const method of ["POST", "GET", "DELETE"]) {
      const answer = await client.call(method, `/api/userdata/${path}`, method === "POST" ? "x" : undefined);
      expect([method, answer.status, answer.headers.get("content-type")]).toEqual([method, 403, "text/plain; charset=utf-8"]);
    }
  });

  it("follows no link out of the folder", async () => {
    await client.call("POST", "/api/userdata/own.txt", "x");
    const users = await readdir(join(bench.folder, "userdata"));
    const root = join(bench.folder, "userdata", users[0] ?? "");
    await mkdir(join(bench.folder, "outside"));
    await writeFile(join(bench.folder, "outside", "secret.txt"), "secret");
    await symlink(join(bench.folder, "outside"), join(root, "link"));
    expect((await client.get("/api/userdata/link%2Fsecret.txt")).status).toBe(403);
    expect((await client.call("POST", "/api/userdata/link%2Fnew.txt", "x")).status).toBe(403);
    expect((await client.get("/api/userdata?dir=link%2F")).status).toBe(403);
  });

  it("wants the directory and its slash, and keeps users apart", async () => {
    expect((await client.get("/api/userdata")).status).toBe(400);
    expect(await client.get("/api/userdata?dir=workflows")).toMatchObject({ status: 400, text: expect.stringContaining("dir") });
    expect((await client.get("/api/userdata?dir=..%2F")).status).toBe(403);
    expect((await client.get("/api/userdata?dir=nowhere%2F")).status).toBe(404);
    expect((await bench.client("eve").get("/api/userdata/own.txt")).status).toBe(404);
  });
});
