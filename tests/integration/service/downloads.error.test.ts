import { readdir } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSourcePolicy, isInnerAddress } from "@/lib/service/downloads/sources";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { record, string } from "./support";

describe("downloads", () => {
  let bench: ServiceBench;
  let client: Client;
  let source: Server;
  let origin: string;
  const held: ServerResponse[] = [];
  beforeAll(async () => {
    source = createServer((request, response) => {
      if (request.url === "/short")
        return void response.writeHead(200, { "content-length": "100" }).write("only this", () => response.destroy());
      if (request.url === "/inside") return void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
      if (request.url === "/elsewhere") return void response.writeHead(302, { location: "https://example.com/x" }).end();
      if (request.url === "/gone") return void response.writeHead(404).end();
      if (request.url === "/slow") {
        held.push(response);
        response.writeHead(200, { "content-length": "1000000" }).write("x".repeat(1000));
        return;
      }
      response.end("fine");
    }).listen(0, "127.0.0.1");
    await until("the source listens", () => source.listening);
    const address = source.address();
    origin = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    bench = await startService({ downloadHosts: ["huggingface.co", origin] });
    client = bench.client();
  });
  afterAll(async () => {
    for (const response of held) response.destroy();
    await bench.dispose();
    source.close();
  });

  async function outcome(path: string): Promise<Record<string, unknown>> {
    const { task_id } = record((await client.post("/api/assets/download", { source_url: origin + path })).body);
    return until(`the download of ${path} has ended`, async () => {
      const task = record((await client.get(`/api/tasks/${string(task_id)}`)).body);
      return task.completed_at !== undefined && task;
    });
  }

  it.each([
    "http://huggingface.co/x",
    "https://huggingface.co.evil.example/x",
    "https://evilhuggingface.co/x",
    "https://huggingface.co:8443/x",
    "https://user@huggingface.co/x",
    "https://127.0.0.1/x",
    "ftp://huggingface.co/x",
    "file:///etc/passwd",
  ])("refuses %s", async (sourceUrl) => {
    expect(await client.post("/api/assets/download", { source_url: sourceUrl })).toMatchObject({
      status: 400,
      body: { code: "UNSUPPORTED_SOURCE" },
    });
    expect(await client.get(`/api/assets/remote-metadata?url=${encodeURIComponent(sourceUrl)}`)).toMatchObject({ status: 400 });
  });

  it("permits a host with its subdomains, and knows addresses that lie inside", () => {
    const policy = createSourcePolicy(["huggingface.co"]);
    expect(policy.isPermitted(new URL("https://cdn.huggingface.co/x"))).toBe(true);
    for (const address of [
      "127.0.0.1",
      "10.1.2.3",
      "172.31.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "::1",
      "fd00::1",
      "fe80::1",
      "::ffff:10.0.0.1",
      "224.0.0.1",
    ]) {
      expect([address, isInnerAddress(address)]).toEqual([address, true]);
    }
    for (const address of ["93.184.216.34", "2606:2800:220:1::1"]) expect([address, isInnerAddress(address)]).toEqual([address, false]);
  });

  it.each([
    ["/short", "complete|answer|failed"],
    ["/inside", "does not download from"],
    ["/elsewhere", "does not download from"],
    ["/gone", "no such file"],
  ])("fails a task for %s with a sentence and keeps nothing of it", async (path, words) => {
    const task = await outcome(path);
    expect(task).toMatchObject({ status: "failed", result: { success: false }, error_message: expect.stringMatching(words) });
    expect(await readdir(join(bench.folder, "tmp"))).toEqual([]);
    expect((await client.get("/api/assets?include_public=false")).body).toMatchObject({ total: 0 });
  });

  it("cancels a task that runs, shows its progress until then, and hides it from others", async () => {
    const { task_id } = record((await client.post("/api/assets/download", { source_url: `${origin}/slow` })).body);
    const path = `/api/tasks/${string(task_id)}`;
    await until("bytes have come", async () => Number(record((await client.get(path)).body).bytes_downloaded) >= 1000);
    expect((await client.get(path)).body).toMatchObject({ status: "running", bytes_total: 1_000_000, progress: 0.001 });
    expect((await bench.client("eve").get(path)).status).toBe(404);
    expect((await client.call("DELETE", path)).status).toBe(204);
    await until("it is cancelled", async () => record((await client.get(path)).body).status === "cancelled");
    expect((await client.call("DELETE", path)).status).toBe(409);
    expect(await readdir(join(bench.folder, "tmp"))).toEqual([]);
  });
});
