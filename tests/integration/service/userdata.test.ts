import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { escapeDots } from "@/lib/http/request-line";
import { startService } from "@/tests/support/service";
import { countFiles } from "./support";

const service = await startService();
const client = service.client();

describe("user data files", () => {
  const write = (path: string, text?: string) => client.call("POST", `/api/userdata/${path}`, text);
  const readText = async (path: string) => (await client.get(`/api/userdata/${path}`)).text;

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
    const response = await client.get("/api/userdata/workflows%2Fa.json");
    expect([response.text, response.headers.get("content-type")]).toEqual(['{"a":1}', "application/octet-stream"]);
    expect(await client.call("POST", "/api/userdata/workflows%2Fa.json/move/workflows%2Fc.json")).toMatchObject({
      status: 200,
      body: "workflows/c.json",
    });
    expect((await client.call("DELETE", "/api/userdata/workflows%2Fc.json")).status).toBe(204);
    expect((await client.get("/api/userdata/workflows%2Fc.json")).status).toBe(404);
  });

  it("keeps an existing file and returns 409 when overwrite is false", async () => {
    await write("keep.txt", "first");
    const rejection = await write("keep.txt?overwrite=false", "second");
    expect([rejection.status, rejection.headers.get("content-type")]).toEqual([409, "text/plain; charset=utf-8"]);
    expect(await readText("keep.txt")).toBe("first");
    await write("keep.txt", "second");
    expect(await readText("keep.txt")).toBe("second");
    await write("other.txt", "other");
    expect((await write("other.txt/move/keep.txt?overwrite=false")).status).toBe(409);
    expect([await readText("keep.txt"), await readText("other.txt")]).toEqual(["second", "other"]);
    const moveResponse = await write("other.txt/move/keep.txt?full_info=true");
    expect(moveResponse).toMatchObject({ status: 200, body: { path: "keep.txt", size: 5, modified: expect.stringMatching(/Z$/) } });
    expect([await readText("keep.txt"), (await client.get("/api/userdata/other.txt")).status]).toEqual(["other", 404]);
    expect((await write("keep.txt/move/keep.txt?overwrite=false")).status).toBe(200);
    expect((await write("missing.txt/move/keep.txt")).status).toBe(404);
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });

  it("stores equal bytes once and deletes them with the last file", async () => {
    const countBlobs = () => countFiles(join(service.folder, "blobs"));
    const eve = service.client("eve");
    const before = await countBlobs();
    for (const name of ["one", "two"]) await write(`twin%2F${name}.txt`, "the same bytes");
    await eve.call("POST", "/api/userdata/own.txt", "the same bytes");
    expect(await countBlobs()).toBe(before + 1);
    await write("twin%2Fone.txt/move/twin%2Ftwo.txt");
    expect(await readText("twin%2Ftwo.txt")).toBe("the same bytes");
    await write("twin%2Ftwo.txt", "others");
    expect((await eve.get("/api/userdata/own.txt")).text).toBe("the same bytes");
    await eve.call("DELETE", "/api/userdata/own.txt");
    await client.call("DELETE", "/api/userdata/twin%2Ftwo.txt");
    expect(await countBlobs()).toBe(before);
  });

  it("never shows a partial file to a reader", async () => {
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(300_000));
    await write("busy.txt", texts[0]);
    let isWriting = true;
    const writes = Promise.all(
      texts.map(async (text) => {
        for (let round = 0; round < 8; round += 1) await write("busy.txt", text);
      }),
    ).finally(() => (isWriting = false));
    const entry = { path: "busy.txt", size: 300_000, modified: expect.any(Number) };
    for (let readCount = 0; isWriting || readCount === 0; readCount += 1) {
      const { text, status, headers } = await client.get("/api/userdata/busy.txt");
      expect([status, texts.includes(text), headers.get("content-length")]).toEqual([200, true, "300000"]);
      expect((await client.get("/api/userdata?dir=%2F")).body).toContainEqual(entry);
    }
    await writes;
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });

  it("lets one of many parallel writers create a file without overwrite", async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => write("race%2Fnew.txt?overwrite=false&full_info=false", `writer ${index}`)),
    );
    const winner = responses.findIndex(({ status }) => status === 200);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect(await readText("race%2Fnew.txt")).toBe(`writer ${winner}`);
  });

  it("discards a truncated upload and keeps the old file", async () => {
    await client.call("POST", "/api/userdata/whole.txt", "whole");
    const response = await client.call("POST", "/api/userdata/whole.txt", "ha", { "content-length": "9" });
    expect([response.status, response.headers.get("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
    expect((await client.get("/api/userdata/whole.txt")).text).toBe("whole");
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });

  it("accepts names up to 255 bytes", async () => {
    const name = encodeURIComponent(`${"ü".repeat(127)}x`);
    expect((await write(name, "long")).status).toBe(200);
    expect(await readText(name)).toBe("long");
    expect((await write(`${name}x`, "x")).status).toBe(400);
  });

  it("distinguishes folders from files", async () => {
    await write("folder%2Ffile.txt", "x");
    // 409 means that a file could be replaced, but a folder can't.
    for (const path of ["folder", "folder?overwrite=false", "folder%2Ffile.txt%2Fnested.txt"])
      expect((await write(path, "x")).status, path).toBe(400);
    expect((await client.call("DELETE", "/api/userdata/folder")).status).toBe(404);
    for (const path of ["/folder", "?dir=folder%2Ffile.txt%2F"]) expect((await client.get(`/api/userdata${path}`)).status, path).toBe(404);
    for (const query of ["overwrite=perhaps", "full_info=2"])
      expect(await write(`q.txt?${query}`, "x")).toMatchObject({
        status: 400,
        text: expect.stringContaining(query.split("=")[0] ?? ""),
      });
  });

  it("requires a trailing slash for directories and isolates users", async () => {
    expect((await client.get("/api/userdata")).status).toBe(400);
    expect(await client.get("/api/userdata?dir=workflows")).toMatchObject({ status: 400, text: expect.stringContaining("dir") });
    for (const dir of ["../", "a/../../", "/etc/", "..%2f/", "C:/", "a\\b/", "NUL/"])
      expect([dir, (await client.get(`/api/userdata?dir=${encodeURIComponent(dir)}`)).status]).toEqual([dir, 403]);
    expect((await client.get("/api/userdata?dir=%2F&split=true&full_info=false")).body).toContainEqual({
      path: "keep.txt",
      size: 5,
      modified: expect.any(Number),
    });
    expect((await client.get("/api/userdata?dir=%2F&recurse=perhaps")).status).toBe(400);
    expect((await client.get("/api/userdata?dir=nowhere%2F")).status).toBe(404);
    expect((await service.client("eve").get("/api/userdata/own.txt")).status).toBe(404);
  });
});

describe("user data paths", async () => {
  const client = service.client("bob");
  await client.call("POST", "/api/userdata/own.txt", "own");

  it.each([
    "..%2f..%2fservice.sqlite",
    "%252e%252e%252fx",
    "a%2f%2e%2e%2f%2e%2e%2fx",
    "/etc/passwd",
    "%252fetc%252fpasswd",
    "..%255cx",
    "%c0%ae%c0%ae%2fx",
    "x%2500.txt",
    "c%3ax",
    "a%2fD%3a%2fx",
    "%5C%5Chost%5Cshare",
    "NUL",
    "a%2fCOM1",
    "com%C2%B9.txt",
    "lpt9.tar.gz",
    "con%20.txt",
    "CONIN%24",
    "name.",
    "name%20",
    "a%2f..%20%2fx",
    "a%2f...%2fx",
  ])("rejects %s with 403 for every operation", async (path) => {
    const before = await readdir(service.folder);
    for (const [method, target] of [
      ["POST", path],
      ["GET", path],
      ["HEAD", path],
      ["DELETE", path],
      ["POST", `own.txt/move/${path}`],
      ["POST", `${path}/move/x.txt`],
    ] as const) {
      const { status, headers } = await client.call(method, `/api/userdata/${target}`, method === "POST" ? "x" : undefined);
      expect([method, target, status, headers.get("content-type")]).toEqual([method, target, 403, "text/plain; charset=utf-8"]);
    }
    expect(await readdir(service.folder)).toEqual(before);
    expect((await client.get("/api/userdata?dir=%2F&recurse=true")).body).toMatchObject([{ path: "own.txt" }]);
  });

  it.each(["../../x", "%2e%2e/x", "a/../../x", ".%2E/x", "..\\x", "a/.%2e/%2E./x"])(
    "rejects %s before a URL parser resolves it",
    async (path) => {
      const response = await client.call("GET", escapeDots(`/api/userdata/${path}?a=../b`));
      expect([response.status, response.text]).toEqual([
        403,
        expect.stringMatching(/^This path is not allowed\. (It contains|"\.\.?" is)/),
      ]);
    },
  );

  it.each([
    ["%2Fetc", "It starts with a slash."],
    ["a%5Cb", "It contains a backslash."],
    ["a%00b", "It contains a NUL character."],
    ["a%2F..%2Fb", '".." is not a name.'],
    ["a%2Fname%20", '"name " ends with a dot or a space.'],
    ["D%3Ax", '"D:x" starts with a drive letter.'],
    ["con.json", '"con.json" is a device name on some systems.'],
    [`${"y".repeat(80)}.`, `"${"y".repeat(60)}…" ends with a dot or a space.`],
  ])("names the reason when %s is rejected", async (path, reason) => {
    const response = await client.call("POST", `/api/userdata/${path}`, "x");
    expect([response.status, response.text]).toEqual([403, `This path is not allowed. ${reason}`]);
  });

  it("leaves other URLs unchanged", () => {
    for (const url of ["/api/userdata/a%2Fb..json?x=..", "/api/userdata?dir=..%2F", "/api/view?filename=../x", "/api/../x"])
      expect(escapeDots(url)).toBe(url);
  });

  it.each([
    ["a%zz", "encoded"],
    ["a%2f%2fb", "empty"],
    [`${"x".repeat(256)}`, "too long"],
    [`${"x/".repeat(600)}y`, "too long"],
    ["a%0ab", "control"],
  ])("rejects %s with 400 and the reason", async (path, expectedText) => {
    const response = await client.call("POST", `/api/userdata/${path}`, "x");
    expect([response.status, response.text.toLowerCase()]).toEqual([400, expect.stringContaining(expectedText)]);
  });

  it("accepts valid names with unusual characters", async () => {
    for (const name of ["100%25.txt", "a..b.txt", ".hidden", "console.txt", "x%2520y", "日本語.json", "a%2526b"]) {
      expect([name, (await client.call("POST", `/api/userdata/odd%2F${name}`, name)).status]).toEqual([name, 200]);
      expect((await client.get(`/api/userdata/odd%2F${name}`)).text).toBe(name);
    }
  });

  it("normalizes Unicode in names but distinguishes letter case", async () => {
    const [composed, decomposed] = ["twin/é.txt".normalize("NFC"), "twin/é.txt".normalize("NFD")].map(encodeURIComponent);
    await client.call("POST", `/api/userdata/${composed}`, "first");
    expect((await client.call("POST", `/api/userdata/${decomposed}?overwrite=false`, "second")).status).toBe(409);
    expect((await client.get(`/api/userdata/${decomposed}`)).text).toBe("first");
    await client.call("POST", "/api/userdata/twin%2FA.txt", "large");
    await client.call("POST", "/api/userdata/twin%2Fa.txt", "small");
    expect((await client.get("/api/userdata?dir=twin%2F")).body).toMatchObject([
      { path: "A.txt" },
      { path: "a.txt" },
      { path: "é.txt".normalize("NFC") },
    ]);
  });
});
