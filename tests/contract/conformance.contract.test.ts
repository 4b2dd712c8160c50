// Runs `npm run conformance` like a user: in a separate process, against services over real HTTP.
import { request as sendRequest } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { allOperations } from "@/lib/contract/operations";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asRecords, createColorGraph, listAssets, listJobs, runGraph } from "../integration/service/support";
import { runConformance } from "../support/conformance-command";
import { openTestServer } from "../support/servers";
import { createHttpClient, createKey, startServiceProcess } from "../support/service-process";
import { sendJsonResponse } from "../support/test-server";

describe("npm run conformance", async () => {
  /** Serves the service below a path, like a reverse proxy. Returns the server's URL. */
  async function serveBelow(prefix: string, getStatus: (path: string) => number | undefined = () => undefined): Promise<string> {
    const server = await openTestServer(({ method, url, headers, body }, response) => {
      const status = url.startsWith(prefix) ? getStatus(url) : 404;
      if (status !== undefined) return sendJsonResponse(response, { code: "X", message: key }, status);
      const forwardedRequest = sendRequest(service.url + url.slice(prefix.length), { method, headers }, (upstreamResponse) => {
        response.writeHead(upstreamResponse.statusCode ?? 500, upstreamResponse.headers);
        upstreamResponse.pipe(response);
      });
      forwardedRequest.end(body);
    });
    return server.url;
  }
  const countItems = async () => ({
    jobs: (await listJobs(client)).length,
    assets: (await listAssets(client)).length,
    files: asRecords((await client.get("/api/userdata?dir=%2F&recurse=true")).body).length,
  });

  const dataDir = createTemporaryFolder();
  const key = await createKey(dataDir, "contract");
  const service = await startServiceProcess(dataDir);
  const client = createHttpClient(service.url, key);
  await runGraph(client, createColorGraph(1));
  await client.upload("read me", "read-me.txt", { tags: "input" });
  await client.call("POST", "/api/userdata/workflows%2Fa.json", "{}");
  afterAll(async () => expect(await service.stop()).toBe(0));

  it("only reads, reports every operation and exits with 0 when the core conforms", async () => {
    const before = await countItems();
    const { code, output } = await runConformance("--base-url", service.url, "--api-key", key);
    expect([code, output.includes(key)], output).toEqual([0, false]);
    for (const { method, path } of allOperations) expect(output).toContain(`${method} ${path}`);
    expect(output).toMatch(/^ {2}ok +GET \/api\/jobs$/m);
    expect(output).toMatch(/^ {2}not tried +POST \/api\/prompt .*needs --write/m);
    expect(output).toMatch(/^ {2}absent +GET \/api\/tasks/m);
    expect(output).toMatch(/\b0 differs\b.*conforms\.$/m);
    expect(await countItems()).toEqual(before);
  });

  it("tests writes with --write behind a base path and removes created items", async () => {
    const before = await countItems();
    const url = await serveBelow("/at/a/path");
    const { code, output } = await runConformance("--base-url", `${url}/at/a/path/`, "--api-key", key, "--write", "--json");
    const report = asRecord(JSON.parse(output));
    const rows = asRecords(report.operations);
    expect([code, report.conforms, rows.length], output).toEqual([0, true, allOperations.length]);
    expect(rows.filter(({ outcome }) => outcome === "differs")).toEqual([]);
    expect(rows.filter(({ tier, outcome }) => tier === "core" && outcome !== "ok")).toEqual([]);
    expect(await countItems()).toEqual(before);
  });

  it("reports differences, exits with 1 and never prints the key", async () => {
    const url = await serveBelow("", (path) => (path.startsWith("/api/history_v2") ? 500 : undefined));
    const { code, output } = await runConformance("--base-url", url, "--api-key", key);
    expect([code, output.includes(key)]).toEqual([1, false]);
    expect(output).toMatch(/^ {2}differs +GET \/api\/history_v2 +answered 500: \[key\]$/m);
  });

  it("accepts a missing extension and rejects a missing core operation", async () => {
    const withoutExtensions = await serveBelow("", (path) => (/^\/api\/(tags|view|object_info|features)/.test(path) ? 404 : undefined));
    const withoutExtensionsRun = await runConformance("--base-url", withoutExtensions, "--api-key", key);
    expect([withoutExtensionsRun.code, withoutExtensionsRun.output]).toEqual([0, expect.stringMatching(/^ {2}absent +GET \/api\/tags/m)]);
    const withoutAssets = await serveBelow("", (path) => (path.startsWith("/api/assets") ? 501 : undefined));
    expect(await runConformance("--base-url", withoutAssets, "--api-key", key)).toMatchObject({ code: 1 });
  });

  it("ends within its time limit when the server doesn't respond", async () => {
    const { url } = await openTestServer(() => undefined);
    const { code, output } = await runConformance("--base-url", url, "--api-key", key, "--timeout", "0.05");
    expect([code, output]).toEqual([1, expect.stringMatching(/no answer/)]);
    expect((await runConformance("--base-url", "http://127.0.0.1:1", "--api-key", key)).code).toBe(1);
  });

  it.each([
    [["--api-key", "k"], "--base-url"],
    [["--base-url", "ftp://x", "--api-key", "k"], "--base-url"],
    [["--base-url", "http://127.0.0.1:1"], "--api-key"],
    [["--base-url", "http://127.0.0.1:1", "--api-key", "k", "--wrong"], "--wrong"],
  ])("exits with 2 and names the option when given %j", async (args, flag) => {
    expect(await runConformance(...args)).toMatchObject({ code: 2, output: expect.stringContaining(flag) });
  });
});
