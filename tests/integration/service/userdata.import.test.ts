// Users' own files once lay in a folder before they became rows: a start imports what it finds there.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";

let bench: ServiceBench;
let client: Client;
beforeEach(async () => {
  bench = await startService();
  client = bench.client();
  // The first user gets number 1.
  await client.get("/api/user");
});
afterEach(() => bench.dispose());

const modified = 1_600_000_000_000;
async function plant(path: string, text: string): Promise<string> {
  const file = join(bench.folder, "userdata", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await utimes(file, modified / 1000, modified / 1000);
  return file;
}

async function restart(): Promise<void> {
  await bench.service.stop();
  await bench.service.start();
}

it("has every file with its path, bytes and time, and leaves no folder behind", async () => {
  for (let at = 0; at < 60; at += 1) await plant(`1/many/${at}.txt`, `number ${at}`);
  await plant("1/workflows/deep/a.json", "{}");
  await restart();
  expect(existsSync(join(bench.folder, "userdata"))).toBe(false);
  expect((await client.get("/api/userdata?dir=workflows/&recurse=true")).body).toEqual([{ path: "deep/a.json", size: 2, modified }]);
  expect((await client.get("/api/userdata?dir=many/")).body).toHaveLength(60);
  expect((await client.get("/api/userdata/many%2F59.txt")).text).toBe("number 59");
  expect(bench.complaints).toEqual([]);
  await restart();
  expect((await client.get("/api/userdata/workflows%2Fdeep%2Fa.json")).text).toBe("{}");
});

it("leaves alone what it cannot take in, and says so", async () => {
  await client.call("POST", "/api/userdata/kept.txt", "newer");
  await client.call("POST", "/api/userdata/same.txt", "same");
  const left = [await plant("1/kept.txt", "older"), await plant("77/of-nobody.txt", "x")];
  await plant("1/same.txt", "same");
  const outside = join(bench.folder, "secret.txt");
  await writeFile(outside, "secret");
  await symlink(outside, join(bench.folder, "userdata", "1", "link.txt"));
  await restart();
  expect((await client.get("/api/userdata?dir=/")).body).toMatchObject([{ path: "kept.txt", size: 5 }, { path: "same.txt" }]);
  expect((await client.get("/api/userdata/kept.txt")).text).toBe("newer");
  expect(await Promise.all(left.map((file) => readFile(file, "utf8")))).toEqual(["older", "x"]);
  expect(await readdir(join(bench.folder, "userdata", "1"))).toEqual(["kept.txt", "link.txt"]);
  expect(bench.complaints).toMatchObject([{ message: expect.stringContaining("not shown, and stay there") as unknown }]);
});
