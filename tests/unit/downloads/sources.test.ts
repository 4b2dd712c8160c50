import { type LookupAddress } from "node:dns";
import { describe, expect, it } from "vitest";
import { createOpenSource, readContentRange, readLength, readUnsatisfiedLength, readValidator } from "@/lib/service/downloads/open-source";
import { createSourceAgents, createSourcePolicy, defaultDownloadHosts, requireSource } from "@/lib/service/downloads/sources";
import { type Resolve } from "@/lib/shared/guarded-connector";
import { openTestServer } from "@/tests/support/servers";

describe("the policy of sources", () => {
  const policy = createSourcePolicy(defaultDownloadHosts);
  const may = (from: string, to: string) => policy.mayLeadTo(new URL(from), new URL(to));

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
    expect(may(from, to)).toBe(true);
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
    expect(may(from, to)).toBe(false);
  });

  it("refuses by naming what it takes, one of many by the first of them", () => {
    const getRefusalText = (hosts: readonly string[]) => {
      try {
        return requireSource(createSourcePolicy(hosts), "https://example.com/x", "source_url").href;
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(getRefusalText(defaultDownloadHosts)).toBe("source_url: this service downloads only from huggingface.co, civitai.com.");
    const manyHosts = Array.from({ length: 30 }, (_, at) => `host-${at}.example`);
    expect(getRefusalText(manyHosts)).toMatch(/ host-9\.example and 20 more\.$/);
    expect(getRefusalText([])).toBe("source_url: this service downloads from nowhere.");
    // A client with a key does not need to learn the internal hosts.
    const inner = ["http://10.1.2.3:8080", "https://store.internal:8443"];
    expect(getRefusalText(["models.example", ...inner])).toBe("source_url: this service downloads only from models.example and 2 more.");
    expect(getRefusalText(inner)).toBe("source_url: this service downloads only from places that its operator chose.");
  });

  it("opens a storage only together with its source", () => {
    const ownPolicy = createSourcePolicy(["models.example"]);
    expect(ownPolicy.mayLeadTo(new URL("https://models.example/x"), new URL("https://cdn-lfs.hf.co/x"))).toBe(false);
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
  ])("reads a part %s exactly or not at all", (text, part) => {
    expect(readContentRange({ "content-range": text })).toEqual(part);
  });

  it("accepts strong tags and dates as validators, no weak or unsafe ones", () => {
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
    // A length too large to count exceeds every limit, and is not the same as a missing one.
    expect(readLength({ "content-length": "99999999999999999999" })).toBe(Number.MAX_SAFE_INTEGER);
    for (const text of ["-1", "1e3", "12, 12", ""]) expect(readLength({ "content-length": text })).toBeUndefined();
    expect(readUnsatisfiedLength({ "content-range": "bytes */12" })).toBe(12);
    expect(readUnsatisfiedLength({ "content-range": "bytes 1-2/12" })).toBeUndefined();
  });
});

const loopback = { address: "127.0.0.1", family: 4 };
const outside = { address: "203.0.114.1", family: 4 };

describe("names of sources", async () => {
  const server = await openTestServer((_, response) => void response.end("inside"));

  /** Each look-up gets the next result. */
  function createResolver(...answers: LookupAddress[][]): { resolve: Resolve; lookups: string[] } {
    const lookups: string[] = [];
    const resolve: Resolve = (host, _options, callback) => {
      lookups.push(host);
      callback(null, answers[Math.min(lookups.length, answers.length) - 1] ?? []);
    };
    return { resolve, lookups };
  }

  async function openWith(resolve: Resolve, address: string): Promise<unknown> {
    const agents = createSourceAgents(resolve);
    const open = createOpenSource(createSourcePolicy(["source.example", server.url]), agents);
    try {
      return await open(new URL(address), { method: "GET", signal: AbortSignal.timeout(5000), idleMs: 1000 }).catch(
        (error: unknown) => error,
      );
    } finally {
      await agents.close();
    }
  }

  it.each([
    [[loopback]],
    [[outside, loopback]],
    [[{ address: "::1", family: 6 }]],
    [[{ address: "::ffff:10.0.0.1", family: 6 }]],
    [[{ address: "64:ff9b::7f00:1", family: 6 }]],
    [[{ address: "2002:7f00:1::", family: 6 }]],
    [[{ address: "fd00:ec2::254", family: 6 }]],
    [[{ address: "169.254.169.254", family: 4 }]],
    [[{ address: "100.100.100.200", family: 4 }]],
  ])("connects nowhere when a permitted name resolves to %j", async (addresses) => {
    const { resolve } = createResolver(addresses);
    expect(await openWith(resolve, "https://source.example/x")).toMatchObject({ code: "UNSUPPORTED_SOURCE" });
    expect(server.requests).toEqual([]);
  });

  it("is checked against the address that is connected to", async () => {
    const { resolve, lookups } = createResolver([outside], [loopback]);
    expect(await createSourceAgents(resolve).resolvesInside(new URL("https://source.example/x"))).toBe(false);
    expect(await openWith(resolve, "https://source.example/x")).toMatchObject({ code: "UNSUPPORTED_SOURCE" });
    expect(lookups).toEqual(["source.example", "source.example"]);
  });

  it("is checked early for literal addresses and deferred when unresolvable", async () => {
    const { resolve, lookups } = createResolver([loopback]);
    const agents = createSourceAgents(resolve);
    expect(await agents.resolvesInside(new URL("https://source.example/x"))).toBe(true);
    expect(await agents.resolvesInside(new URL("https://[::1]/x"))).toBe(true);
    expect(await agents.resolvesInside(new URL("https://8.8.8.8/x"))).toBe(false);
    expect(lookups).toEqual(["source.example"]);
    const failing = createSourceAgents((_host, _options, callback) => callback(new Error("no such name"), []));
    expect(await failing.resolvesInside(new URL("https://source.example/x"))).toBe(false);
  });

  it("connects to a configured origin at any address", async () => {
    expect(await openWith(createResolver([]).resolve, `${server.url}/x`)).toMatchObject({ status: 200 });
  });
});
