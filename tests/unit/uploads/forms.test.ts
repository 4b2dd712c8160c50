import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MAX_URLS, parseUrlEntries } from "@/components/transfers/downloads/url-row";
import {
  DEFAULT_DRAFT,
  diffFields,
  getFieldsForFile,
  mergeFields,
  parseDraft,
  toDraft,
} from "@/components/transfers/uploads/asset-fields-form";
import { parseHash } from "@/components/transfers/uploads/start-dialog";
import { compareStoredFile } from "@/components/transfers/uploads/upload-file";
import { renamePastedFile } from "@/components/transfers/uploads/use-incoming-files";
import { storeTimeZone } from "@/components/ui/time";
import { maskAddress, maskAddresses } from "@/lib/contract/assets/file-refs";
import { failed } from "@/lib/shared/result";

const hex = "ab".repeat(32);

describe("asset fields", () => {
  it("round-trips through the form", () => {
    const preview = "11111111-1111-4111-8111-111111111111";
    const draftResult = parseDraft({ name: " A cat ", tags: "input, cats，dogs,cats,", metadata: '{"shot":12}', preview });
    expect(draftResult).toEqual({
      ok: true,
      value: { name: "A cat", tags: ["input", "cats", "dogs"], metadata: { shot: 12 }, previewId: preview },
    });
    if (draftResult.ok) expect(parseDraft(toDraft(draftResult.value))).toEqual(draftResult);
  });

  it("keeps all digits of numbers in metadata", () => {
    const metadata = '{"seed":18446744073709551615}';
    const draftResult = parseDraft({ ...DEFAULT_DRAFT, metadata });
    if (!draftResult.ok) throw new Error("readDraft failed");
    expect(toDraft(draftResult.value).metadata.replace(/\s/g, "")).toBe(metadata);
    expect(diffFields(draftResult.value, { ...draftResult.value, metadata: {} })?.fields).toEqual({ user_metadata: {} });
  });

  it("accepts an asset URL as the preview", () => {
    const id = "11111111-1111-4111-8111-111111111111";
    for (const preview of [`https://desk.example/assets/${id}?connection=c1`, ` /base/assets?view=all&asset=${id}#top `, id]) {
      const draftResult = parseDraft({ ...DEFAULT_DRAFT, preview });
      expect(draftResult.ok && draftResult.value.previewId).toBe(id);
    }
    for (const preview of [`https://desk.example/jobs/${id}`, `https://desk.example/assets/${id}0`, `see ${id}`])
      expect(parseDraft({ ...DEFAULT_DRAFT, preview })).toEqual(failed({ preview: true }));
  });

  it("reports each invalid field", () => {
    expect(parseDraft({ name: "a\u0000", tags: "x".repeat(201), metadata: "[1]", preview: "cat" })).toEqual(
      failed({ name: true, tags: true, metadata: true, preview: true }),
    );
    expect(parseDraft({ ...DEFAULT_DRAFT, metadata: "{" })).toEqual(failed({ metadata: true }));
  });

  it("adds a file's folders to its tags or name, or ignores them", () => {
    const fields = { name: "", tags: ["input"], metadata: {} };
    expect(getFieldsForFile(fields, "shots/night/a.png", "none")).toEqual(fields);
    expect(getFieldsForFile(fields, "shots/night/a.png", "tags").tags).toEqual(["input", "shots", "night"]);
    expect(getFieldsForFile(fields, "shots/night/a.png", "name").name).toBe("shots/night/a.png");
    expect(getFieldsForFile(fields, "a.png", "name").name).toBe("");
  });

  it("merges shared fields into each asset and writes only changes", () => {
    const before = { name: "a", tags: ["input"], metadata: { shot: 1 } };
    const merged = mergeFields(before, { name: "", tags: ["cats", "input"], metadata: { take: 2 } });
    expect(merged).toMatchObject({ name: "a", tags: ["input", "cats"], metadata: { shot: 1, take: 2 } });
    expect(diffFields(before, { ...before })).toBeUndefined();
    expect(diffFields(before, merged)).toEqual({ addedTags: ["cats"], removedTags: [], fields: { user_metadata: { shot: 1, take: 2 } } });
    expect(diffFields({ ...before, previewId: "x" }, { ...before, tags: [] })).toEqual({
      addedTags: [],
      removedTags: ["input"],
      fields: { preview_id: null },
    });
  });
});

describe("compareStoredFile", () => {
  const local = { size: 3, hash: hex };
  it("verifies a file only by its BLAKE3 hash, with or without a prefix", () => {
    expect(compareStoredFile({ id: "1", asset_hash: `blake3:${hex}` }, local)).toEqual({ kind: "verified" });
    expect(compareStoredFile({ id: "1", asset_hash: hex.toUpperCase(), size: 3 }, local)).toEqual({ kind: "verified" });
    expect(compareStoredFile({ id: "1", asset_hash: `blake3:${"0".repeat(64)}` }, local).kind).toBe("differs");
    expect(compareStoredFile({ id: "1", asset_hash: hex, size: 4 }, local)).toEqual({ kind: "differs", serverHash: "4" });
    expect(compareStoredFile({ id: "1", asset_hash: `sha256:${hex}` }, local)).toEqual({ kind: "unchecked", why: "other-hash" });
    expect(compareStoredFile({ id: "1" }, local)).toEqual({ kind: "unchecked", why: "no-hash" });
    expect(compareStoredFile({ id: "1", asset_hash: hex }, { size: 3, hash: undefined })).toEqual({ kind: "unchecked", why: "not-hashed" });
  });
});

describe("parseUrlEntries", () => {
  const getAddressFault = (text: string) => parseUrlEntries(text).entries[0]?.problem;

  it("reads one URL per line and reports problems", () => {
    expect(parseUrlEntries(" https://huggingface.co/a \n\n https://civitai.com/b").entries.map(({ url }) => url)).toEqual([
      "https://huggingface.co/a",
      "https://civitai.com/b",
    ]);
    expect(getAddressFault("cat")).toBe("none");
    expect(getAddressFault("http://huggingface.co/a")).toBe("scheme");
    expect(getAddressFault("file:///etc/passwd")).toBe("scheme");
    expect(getAddressFault("https://me:secret@huggingface.co/a")).toBe("credentials");
    expect(getAddressFault(`https://huggingface.co/${"a".repeat(4000)}`)).toBe("long");
    expect(getAddressFault("http://127.0.0.1:8000/a")).toBeUndefined();
    expect(parseUrlEntries("https://a.example/1\nhttps://a.example/1").entries[1]?.problem).toBe("twice");
  });

  it("limits the number of URLs and masks possible tokens", () => {
    const addressList = parseUrlEntries(Array.from({ length: MAX_URLS + 1 }, (_, index) => `https://a.example/${index}`).join("\n"));
    expect([addressList.entries.length, addressList.isTruncated]).toEqual([MAX_URLS, true]);
    expect(parseUrlEntries("https://a.example/m?token=abc#x").entries[0]?.displayUrl).toBe("https://a.example/m?…");
    expect(maskAddress("https://me:secret@a.example/m")).toBe("https://a.example/m");
    expect(maskAddress("no address?token=abc")).toBe("no address");
    expect(maskAddresses("GET https://a.example/m?token=abc, then http://b.example/?k=v failed")).toBe(
      "GET https://a.example/m?… then http://b.example/?… failed",
    );
  });
});

describe("typed and pasted values", () => {
  it("accepts a hash with or without a prefix", () => {
    expect(parseHash(` BLAKE3:${hex.toUpperCase()} `)).toBe(`blake3:${hex}`);
    expect(parseHash(hex)).toBe(`blake3:${hex}`);
    expect(parseHash(`sha256:${hex}`)).toBe(`sha256:${hex}`);
    expect(parseHash(`md5:${hex}`)).toBeUndefined();
    expect(parseHash(hex.slice(1))).toBeUndefined();
  });

  it("names a pasted picture by time but keeps a copied file's name", () => {
    const pastedAt = new Date(2026, 0, 2, 3, 4, 5);
    expect(renamePastedFile(new File(["x"], "image.png", { type: "image/png" }), pastedAt).name).toBe("pasted 2026-01-02 03-04-05.png");
    expect(renamePastedFile(new File(["x"], "cat.png"), pastedAt).name).toBe("cat.png");
  });

  it.each([
    ["Asia/Shanghai", "pasted 2026-01-01 00-30-09.png"],
    ["America/Los_Angeles", "pasted 2025-12-31 08-30-09.png"],
  ])("names a pasted picture in the chosen time zone: %s", (zone, name) => {
    const entries = new Map<string, string>();
    const localStorage = {
      getItem: (key: string) => entries.get(key) ?? null,
      setItem: (key: string, value: string) => entries.set(key, value),
      removeItem: (key: string) => entries.delete(key),
    };
    vi.stubGlobal("window", { localStorage });
    onTestFinished(() => {
      storeTimeZone(undefined);
    });
    storeTimeZone(zone);
    expect(renamePastedFile(new File(["x"], "image.png"), new Date("2025-12-31T16:30:09Z")).name).toBe(name);
  });
});
