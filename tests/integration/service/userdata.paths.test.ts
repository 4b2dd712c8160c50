import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keepDots } from "@/lib/http/request-line";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";

describe("paths of user data", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
    await client.call("POST", "/api/userdata/own.txt", "own");
  });
  afterAll(() => bench.dispose());

  it.each([
    "..%2f..%2fservice.sqlite",
    "%252e%252e%252fx",
    "%25252e%25252e%25252fx",
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
    "aux.json",
    "a%2fCOM1",
    "com%C2%B9.txt",
    "lpt9.tar.gz",
    "con%20.txt",
    "CONIN%24",
    "name.",
    "name%20",
    "a%2f..%20%2fx",
    "a%2f...%2fx",
  ])("refuses %s with 403 for every way of touching it", async (path) => {
    const before = await readdir(bench.folder);
    for (const [method, at] of [
      ["POST", path],
      ["GET", path],
      ["HEAD", path],
      ["DELETE", path],
      ["POST", `own.txt/move/${path}`],
      ["POST", `${path}/move/x.txt`],
    ] as const) {
      const answer = await client.call(method, `/api/userdata/${at}`, method === "POST" ? "x" : undefined);
      expect([method, at, answer.status, answer.headers.get("content-type")]).toEqual([method, at, 403, "text/plain; charset=utf-8"]);
    }
    expect(await readdir(bench.folder)).toEqual(before);
    expect((await client.get("/api/userdata?dir=%2F&recurse=true")).body).toMatchObject([{ path: "own.txt" }]);
  });

  it.each(["../../x", "%2e%2e/x", "a/../../x", ".%2E/x", "..\\x", "a/.%2e/%2E./x"])(
    "refuses %s as it was sent, before a parser resolves it",
    async (path) => {
      const answer = await client.call("GET", keepDots(`/api/userdata/${path}?a=../b`));
      expect([answer.status, answer.text]).toEqual([403, expect.stringMatching(/^This path is not allowed\. (It contains|"\.\.?" is)/)]);
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
  ])("names the reason that %s is refused", async (path, reason) => {
    const answer = await client.call("POST", `/api/userdata/${path}`, "x");
    expect([answer.status, answer.text]).toEqual([403, `This path is not allowed. ${reason}`]);
  });

  it("leaves every other address as it is", () => {
    for (const url of ["/api/userdata/a%2Fb..json?x=..", "/api/userdata?dir=..%2F", "/api/view?filename=../x", "/api/../x"])
      expect(keepDots(url)).toBe(url);
  });

  it.each([
    ["a%zz", "encoded"],
    ["a%2f%2fb", "empty"],
    [`${"x".repeat(256)}`, "too long"],
    [`${"x/".repeat(600)}y`, "too long"],
    ["a%0ab", "control"],
  ])("refuses %s with 400, saying why", async (path, word) => {
    const answer = await client.call("POST", `/api/userdata/${path}`, "x");
    expect([answer.status, answer.text.toLowerCase()]).toEqual([400, expect.stringContaining(word)]);
  });

  it("takes names that only look odd", async () => {
    for (const name of ["100%25.txt", "a..b.txt", ".hidden", "console.txt", "x%2520y", "日本語.json", "a%2526b"]) {
      expect([name, (await client.call("POST", `/api/userdata/odd%2F${name}`, name)).status]).toEqual([name, 200]);
      expect((await client.get(`/api/userdata/odd%2F${name}`)).text).toBe(name);
    }
  });

  it("has one file for two spellings of the same letters, and two for capitals and small ones", async () => {
    const [composed, parted] = ["twin/é.txt".normalize("NFC"), "twin/é.txt".normalize("NFD")].map(encodeURIComponent);
    await client.call("POST", `/api/userdata/${composed}`, "first");
    expect((await client.call("POST", `/api/userdata/${parted}?overwrite=false`, "second")).status).toBe(409);
    expect((await client.get(`/api/userdata/${parted}`)).text).toBe("first");
    await client.call("POST", "/api/userdata/twin%2FA.txt", "large");
    await client.call("POST", "/api/userdata/twin%2Fa.txt", "small");
    expect((await client.get("/api/userdata?dir=twin%2F")).body).toMatchObject([
      { path: "A.txt" },
      { path: "a.txt" },
      { path: "é.txt".normalize("NFC") },
    ]);
  });
});
