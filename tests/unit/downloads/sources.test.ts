import { type LookupAddress } from "node:dns";
import { describe, expect, it } from "vitest";
import {
  createSourceOpener,
  readContentRange,
  readLength,
  readUnsatisfiedLength,
  readValidator,
} from "@/lib/service/downloads/source-opener";
import { createSourceAgents, createSourcePolicy, defaultDownloadHosts, requireSource } from "@/lib/service/downloads/sources";
import { type Resolve } from "@/lib/shared/guarded-connector";
import { openTestServer } from "@/tests/support/servers";

describe("the source policy", () => {
  const policy = createSourcePolicy(defaultDownloadHosts);
  const mayRedirect = (from: string, to: string) => policy.canRedirectTo(new URL(from), new URL(to));

  it.each([
    ["https://huggingface.co/org/repo/resolve/main/x.bin", "https://cas-bridge.xethub.hf.co/xet-bridge-us/1?sig=2"],
    ["https://huggingface.co/org/repo/resolve/main/x.bin", "https://us.aws.cdn.hf.co/1"],
    ["https://huggingface.co/org/repo/resolve/main/x.bin", "https://cdn-lfs-us-1.hf.co/1"],
    ["https://huggingface.co/org/repo/resolve/main/x.bin", "https://cdn-lfs.huggingface.co/1"],
    ["https://civitai.com/api/download/models/1", "https://b2.civitai.com/file/1"],
    [
      "https://civitai.com/api/download/models/1",
      "https://civitai-delivery-worker-prod.5ac0637cfd0766c97916cefa3764fbdf.r2.cloudflarestorage.com/model/1",
    ],
  ])("allows %s to redirect to %s, which is only a source as a subdomain", (from, to) => {
    expect(mayRedirect(from, to)).toBe(true);
    expect(policy.isPermitted(new URL(to))).toBe(/\.(huggingface\.co|civitai\.com)$/.test(new URL(to).hostname));
  });

  it.each([
    ["https://civitai.com/x", "https://cdn-lfs.hf.co/x"],
    ["https://huggingface.co/x", "https://hf.co/x"],
    ["https://huggingface.co/x", "https://someone.hf.co/x"],
    ["https://huggingface.co/x", "https://xethub.hf.co.evil.example/x"],
    ["https://huggingface.co/x", "http://cdn-lfs.hf.co/x"],
    ["https://huggingface.co/x", "https://cdn-lfs.hf.co:8443/x"],
    ["https://huggingface.co/x", "https://a:b@cdn-lfs.hf.co/x"],
    ["https://civitai.com/x", "https://mine.r2.cloudflarestorage.com/x"],
  ])("doesn't allow %s to redirect to %s", (from, to) => {
    expect(mayRedirect(from, to)).toBe(false);
  });

  it("rejects a source and lists at most ten permitted hosts", () => {
    const getErrorMessage = (hosts: readonly string[]) => {
      try {
        return requireSource(createSourcePolicy(hosts), "https://example.com/x", "source_url").href;
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(getErrorMessage(defaultDownloadHosts)).toBe("source_url: this service downloads only from huggingface.co, civitai.com.");
    const manyHosts = Array.from({ length: 30 }, (_, index) => `host-${index}.example`);
    expect(getErrorMessage(manyHosts)).toMatch(/ host-9\.example and 20 more\.$/);
    expect(getErrorMessage([])).toBe("source_url: this service downloads from no source.");
    // A client with a key must not learn the internal hosts.
    const internalOrigins = ["http://10.1.2.3:8080", "https://store.internal:8443"];
    expect(getErrorMessage(["models.example", ...internalOrigins])).toBe(
      "source_url: this service downloads only from models.example and 2 more.",
    );
    expect(getErrorMessage(internalOrigins)).toBe("source_url: this service downloads only from sources that its operator configured.");
  });

  it("permits a storage host only together with its source", () => {
    const ownPolicy = createSourcePolicy(["models.example"]);
    expect(ownPolicy.canRedirectTo(new URL("https://models.example/x"), new URL("https://cdn-lfs.hf.co/x"))).toBe(false);
    expect(ownPolicy.isPermitted(new URL("https://eu.models.example/x"))).toBe(true);
  });
});

describe("source headers", () => {
  it.each([
    ["bytes 5-9/10", { start: 5, total: 10 }],
    ["bytes 5-9/*", { start: 5 }],
    ["BYTES 0-0/1", { start: 0, total: 1 }],
    ["bytes 9-5/10", undefined],
    ["bytes 5-10/10", undefined],
    ["bytes */10", undefined],
    ["items 5-9/10", undefined],
    ["bytes 5-9/10, bytes 1-2/10", undefined],
    ["bytes -5/10", undefined],
    ["", undefined],
  ])("reads the content range %s only when it is valid", (text, part) => {
    expect(readContentRange({ "content-range": text })).toEqual(part);
  });

  it("accepts strong ETags and dates as validators, but no weak or unsafe ones", () => {
    const lastModified = "Wed, 21 Oct 2015 07:28:00 GMT";
    expect(readValidator({ etag: '"x"', "last-modified": lastModified })).toBe('"x"');
    expect(readValidator({ etag: 'W/"x"', "last-modified": lastModified })).toBe(lastModified);
    expect(readValidator({ etag: "x" })).toBeUndefined();
    expect(readValidator({ etag: '"x\r\ny"' })).toBeUndefined();
    expect(readValidator({ "last-modified": "yesterday, perhaps" })).toBeUndefined();
    expect(readValidator({})).toBeUndefined();
  });

  it("accepts only digits as a length", () => {
    expect(readLength({ "content-length": "12" })).toBe(12);
    // A length beyond the safe integers exceeds every limit and must not count as missing.
    expect(readLength({ "content-length": "99999999999999999999" })).toBe(Number.MAX_SAFE_INTEGER);
    for (const text of ["-1", "1e3", "12, 12", ""]) expect(readLength({ "content-length": text })).toBeUndefined();
    expect(readUnsatisfiedLength({ "content-range": "bytes */12" })).toBe(12);
    expect(readUnsatisfiedLength({ "content-range": "bytes 1-2/12" })).toBeUndefined();
  });
});

const loopbackAddress = { address: "127.0.0.1", family: 4 };
const publicAddress = { address: "203.0.114.1", family: 4 };

describe("source hostnames", async () => {
  const server = await openTestServer((_, response) => void response.end("inside"));

  /** Returns the next result for each lookup. */
  function createResolver(...results: LookupAddress[][]): { resolve: Resolve; lookups: string[] } {
    const lookups: string[] = [];
    const resolve: Resolve = (host, _options, callback) => {
      lookups.push(host);
      callback(null, results[Math.min(lookups.length, results.length) - 1] ?? []);
    };
    return { resolve, lookups };
  }

  async function openWith(resolve: Resolve, address: string): Promise<unknown> {
    const agents = createSourceAgents(resolve);
    const open = createSourceOpener(createSourcePolicy(["source.example", server.url]), agents);
    try {
      return await open(new URL(address), { method: "GET", signal: AbortSignal.timeout(5000), idleMs: 1000 }).catch(
        (error: unknown) => error,
      );
    } finally {
      await agents.close();
    }
  }

  it.each([
    [[loopbackAddress]],
    [[publicAddress, loopbackAddress]],
    [[{ address: "::ffff:10.0.0.1", family: 6 }]],
    [[{ address: "169.254.169.254", family: 4 }]],
    [[{ address: "100.100.100.200", family: 4 }]],
  ])("rejects a permitted name that resolves to %j", async (addresses) => {
    const { resolve } = createResolver(addresses);
    expect(await openWith(resolve, "https://source.example/x")).toMatchObject({ code: "UNSUPPORTED_SOURCE" });
    expect(server.requests).toEqual([]);
  });

  it("checks the address that it connects to", async () => {
    const { resolve, lookups } = createResolver([publicAddress], [loopbackAddress]);
    expect(await createSourceAgents(resolve).resolvesToPrivateAddress(new URL("https://source.example/x"))).toBe(false);
    expect(await openWith(resolve, "https://source.example/x")).toMatchObject({ code: "UNSUPPORTED_SOURCE" });
    expect(lookups).toEqual(["source.example", "source.example"]);
  });

  it("checks literal addresses early and defers unresolvable names", async () => {
    const { resolve, lookups } = createResolver([loopbackAddress]);
    const agents = createSourceAgents(resolve);
    expect(await agents.resolvesToPrivateAddress(new URL("https://source.example/x"))).toBe(true);
    expect(await agents.resolvesToPrivateAddress(new URL("https://[::1]/x"))).toBe(true);
    expect(await agents.resolvesToPrivateAddress(new URL("https://8.8.8.8/x"))).toBe(false);
    expect(lookups).toEqual(["source.example"]);
    const failingAgents = createSourceAgents((_host, _options, callback) => callback(new Error("no such name"), []));
    expect(await failingAgents.resolvesToPrivateAddress(new URL("https://source.example/x"))).toBe(false);
  });

  it("connects to a configured origin at any address", async () => {
    expect(await openWith(createResolver([]).resolve, `${server.url}/x`)).toMatchObject({ status: 200 });
  });
});
