import { describe, expect, it } from "vitest";
import { readContentRange, readLength, readUnsatisfiedLength, readValidator } from "@/lib/service/downloads/open-source";
import { createSourcePolicy, defaultDownloadHosts, requireSource } from "@/lib/service/downloads/sources";

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
  ])("lets %s lead to %s, which is no source itself unless it is a subdomain", (from, to) => {
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
  ])("does not let %s lead to %s", (from, to) => {
    expect(may(from, to)).toBe(false);
  });

  it("refuses by naming what it takes, one of many by the first of them", () => {
    const refused = (hosts: readonly string[]) => {
      try {
        return requireSource(createSourcePolicy(hosts), "https://example.com/x", "source_url").href;
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(refused(defaultDownloadHosts)).toBe("source_url: this service downloads only from huggingface.co, civitai.com.");
    const many = Array.from({ length: 30 }, (_, at) => `host-${at}.example`);
    expect(refused(many)).toMatch(/ host-9\.example and 20 more\.$/);
    expect(refused([])).toBe("source_url: this service downloads from nowhere.");
    // A client with a key does not need to learn the internal hosts.
    const inner = ["http://10.1.2.3:8080", "https://store.internal:8443"];
    expect(refused(["models.example", ...inner])).toBe("source_url: this service downloads only from models.example and 2 more.");
    expect(refused(inner)).toBe("source_url: this service downloads only from places that its operator chose.");
  });

  it("opens a storage with its source only: a configuration that leaves the source out leaves both out", () => {
    const own = createSourcePolicy(["models.example"]);
    expect(own.mayLeadTo(new URL("https://models.example/x"), new URL("https://cdn-lfs.hf.co/x"))).toBe(false);
    expect(own.isPermitted(new URL("https://eu.models.example/x"))).toBe(true);
  });
});

describe("what headers claim", () => {
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
  ])("a part %s is read exactly or not at all", (text, part) => {
    expect(readContentRange({ "content-range": text })).toEqual(part);
  });

  it("a validator is a strong tag or a date, never a weak tag or what could break a header", () => {
    const lastModified = "Wed, 21 Oct 2015 07:28:00 GMT";
    expect(readValidator({ etag: '"x"', "last-modified": lastModified })).toBe('"x"');
    expect(readValidator({ etag: 'W/"x"', "last-modified": lastModified })).toBe(lastModified);
    expect(readValidator({ etag: "x" })).toBeUndefined();
    expect(readValidator({ etag: '"x\r\ny"' })).toBeUndefined();
    expect(readValidator({ "last-modified": "yesterday, perhaps" })).toBeUndefined();
    expect(readValidator({})).toBeUndefined();
  });

  it("a length is digits alone", () => {
    expect(readLength({ "content-length": "12" })).toBe(12);
    // A length too large to count exceeds every limit, and is not the same as a missing one.
    expect(readLength({ "content-length": "99999999999999999999" })).toBe(Number.MAX_SAFE_INTEGER);
    for (const text of ["-1", "1e3", "12, 12", ""]) expect(readLength({ "content-length": text })).toBeUndefined();
    expect(readUnsatisfiedLength({ "content-range": "bytes */12" })).toBe(12);
    expect(readUnsatisfiedLength({ "content-range": "bytes 1-2/12" })).toBeUndefined();
  });
});
