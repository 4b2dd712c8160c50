import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MAX_ADDRESSES, readAddresses } from "@/components/transfers/downloads/address-line";
import { aboutFile, changesBetween, draftOf, mergeAbout, newDraft, readDraft } from "@/components/transfers/uploads/about-form";
import { checkStored } from "@/components/transfers/uploads/carry";
import { readHash } from "@/components/transfers/uploads/start-dialog";
import { pastedName } from "@/components/transfers/ways-in";
import { chooseZone } from "@/components/ui/time/use-clock";
import { maskAddresses, maskedAddress } from "@/lib/contract/assets/file-refs";
import { failed } from "@/lib/shared/result";

const hex = "ab".repeat(32);

describe("what shall stand on an asset", () => {
  it("is read from its form and written back to it", () => {
    const preview = "11111111-1111-4111-8111-111111111111";
    const read = readDraft({ name: " A cat ", tags: "input, cats，dogs,cats,", metadata: '{"shot":12}', preview });
    expect(read).toEqual({
      ok: true,
      value: { name: "A cat", tags: ["input", "cats", "dogs"], metadata: { shot: 12 }, previewId: preview },
    });
    if (read.ok) expect(readDraft(draftOf(read.value))).toEqual(read);
  });

  it("keeps every digit of a number in its metadata", () => {
    const metadata = '{"seed":18446744073709551615}';
    const read = readDraft({ ...newDraft, metadata });
    if (!read.ok) throw new Error("it was refused");
    expect(draftOf(read.value).metadata.replace(/\s/g, "")).toBe(metadata);
    expect(changesBetween(read.value, { ...read.value, metadata: {} })?.fields).toEqual({ user_metadata: {} });
  });

  it("names its preview by the address of that asset as well, since an address is what a browser has at hand", () => {
    const id = "11111111-1111-4111-8111-111111111111";
    for (const preview of [`https://desk.example/assets/${id}?connection=c1`, ` /base/assets?view=all&asset=${id}#top `, id]) {
      const read = readDraft({ ...newDraft, preview });
      expect(read.ok && read.value.previewId).toBe(id);
    }
    for (const preview of [`https://desk.example/jobs/${id}`, `https://desk.example/assets/${id}0`, `see ${id}`])
      expect(readDraft({ ...newDraft, preview })).toEqual(failed({ preview: true }));
  });

  it("that makes no sense says which field", () => {
    expect(readDraft({ name: "a\u0000", tags: "x".repeat(201), metadata: "[1]", preview: "cat" })).toEqual(
      failed({ name: true, tags: true, metadata: true, preview: true }),
    );
    expect(readDraft({ ...newDraft, metadata: "{" })).toEqual(failed({ metadata: true }));
  });

  it("takes a file's folders as tags or into its name, or leaves them out", () => {
    const about = { name: "", tags: ["input"], metadata: {} };
    expect(aboutFile(about, "shots/night/a.png", "none")).toEqual(about);
    expect(aboutFile(about, "shots/night/a.png", "tags").tags).toEqual(["input", "shots", "night"]);
    expect(aboutFile(about, "shots/night/a.png", "name").name).toBe("shots/night/a.png");
    expect(aboutFile(about, "a.png", "name").name).toBe("");
  });

  it("given for all is added to each, and nothing is written where nothing differs", () => {
    const before = { name: "a", tags: ["input"], metadata: { shot: 1 } };
    const merged = mergeAbout(before, { name: "", tags: ["cats", "input"], metadata: { take: 2 } });
    expect(merged).toMatchObject({ name: "a", tags: ["input", "cats"], metadata: { shot: 1, take: 2 } });
    expect(changesBetween(before, { ...before })).toBeUndefined();
    expect(changesBetween(before, merged)).toEqual({
      addedTags: ["cats"],
      removedTags: [],
      fields: { user_metadata: { shot: 1, take: 2 } },
    });
    expect(changesBetween({ ...before, previewId: "x" }, { ...before, tags: [] })).toEqual({
      addedTags: [],
      removedTags: ["input"],
      fields: { preview_id: null },
    });
  });
});

describe("what the service says it holds", () => {
  const ours = { size: 3, hash: hex };
  it("is verified by the very hash, with or without its prefix, and nothing else", () => {
    expect(checkStored({ id: "1", asset_hash: `blake3:${hex}` }, ours)).toEqual({ kind: "verified" });
    expect(checkStored({ id: "1", asset_hash: hex.toUpperCase(), size: 3 }, ours)).toEqual({ kind: "verified" });
    expect(checkStored({ id: "1", asset_hash: `blake3:${"0".repeat(64)}` }, ours).kind).toBe("differs");
    expect(checkStored({ id: "1", asset_hash: hex, size: 4 }, ours)).toEqual({ kind: "differs", theirs: "4" });
    expect(checkStored({ id: "1", asset_hash: `sha256:${hex}` }, ours)).toEqual({ kind: "unchecked", why: "other-hash" });
    expect(checkStored({ id: "1" }, ours)).toEqual({ kind: "unchecked", why: "no-hash" });
    expect(checkStored({ id: "1", asset_hash: hex }, { size: 3, hash: undefined })).toEqual({ kind: "unchecked", why: "not-hashed" });
  });
});

describe("an address", () => {
  const faultOf = (text: string) => readAddresses(text).addresses[0]?.fault;

  it("is read one a line, and says what is wrong with it", () => {
    expect(readAddresses(" https://huggingface.co/a \n\n https://civitai.com/b").addresses.map(({ url }) => url)).toEqual([
      "https://huggingface.co/a",
      "https://civitai.com/b",
    ]);
    expect(faultOf("cat")).toBe("none");
    expect(faultOf("http://huggingface.co/a")).toBe("scheme");
    expect(faultOf("file:///etc/passwd")).toBe("scheme");
    expect(faultOf("https://me:secret@huggingface.co/a")).toBe("credentials");
    expect(faultOf(`https://huggingface.co/${"a".repeat(4000)}`)).toBe("long");
    expect(faultOf("http://127.0.0.1:8000/a")).toBeUndefined();
    expect(readAddresses("https://a.example/1\nhttps://a.example/1").addresses[1]?.fault).toBe("twice");
  });

  it("is bounded in number, and shown without what may be a token", () => {
    const many = readAddresses(Array.from({ length: MAX_ADDRESSES + 1 }, (_, at) => `https://a.example/${at}`).join("\n"));
    expect([many.addresses.length, many.isCut]).toEqual([MAX_ADDRESSES, true]);
    expect(readAddresses("https://a.example/m?token=abc#x").addresses[0]?.shown).toBe("https://a.example/m?…");
    expect(maskedAddress("https://me:secret@a.example/m")).toBe("https://a.example/m");
    expect(maskedAddress("no address?token=abc")).toBe("no address");
    expect(maskAddresses("GET https://a.example/m?token=abc, then http://b.example/?k=v failed")).toBe(
      "GET https://a.example/m?… then http://b.example/?… failed",
    );
  });
});

describe("small things that are typed or pasted", () => {
  it("a hash is known with and without its prefix", () => {
    expect(readHash(` BLAKE3:${hex.toUpperCase()} `)).toBe(`blake3:${hex}`);
    expect(readHash(hex)).toBe(`blake3:${hex}`);
    expect(readHash(`sha256:${hex}`)).toBe(`sha256:${hex}`);
    expect(readHash(`md5:${hex}`)).toBeUndefined();
    expect(readHash(hex.slice(1))).toBeUndefined();
  });

  it("a pasted picture is named by its moment, and a copied file keeps its name", () => {
    const at = new Date(2026, 0, 2, 3, 4, 5);
    expect(pastedName(new File(["x"], "image.png", { type: "image/png" }), at).name).toBe("pasted 2026-01-02 03-04-05.png");
    expect(pastedName(new File(["x"], "cat.png"), at).name).toBe("cat.png");
  });

  it.each([
    ["Asia/Shanghai", "pasted 2026-01-01 00-30-09.png"],
    ["America/Los_Angeles", "pasted 2025-12-31 08-30-09.png"],
  ])("a pasted picture is named by the time that the person chose to read: %s", (zone, name) => {
    const kept = new Map<string, string>();
    const localStorage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
      removeItem: (key: string) => kept.delete(key),
    };
    vi.stubGlobal("window", { localStorage });
    onTestFinished(() => {
      chooseZone(undefined);
      vi.unstubAllGlobals();
    });
    chooseZone(zone);
    expect(pastedName(new File(["x"], "image.png"), new Date("2025-12-31T16:30:09Z")).name).toBe(name);
  });
});
