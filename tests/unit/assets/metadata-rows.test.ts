import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import sharp from "sharp";
import { beforeEach, describe, expect, it } from "vitest";
import { parseFilter, parseRows, toFilter, toRows } from "@/components/assets/filter/metadata-rows";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { startSha256Thread } from "@/lib/service/assets/sha256-thread";
import { stageStream } from "@/lib/service/assets/staged-file";
import { readImageSize } from "@/lib/shared/image-size";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

describe("metadata rows", () => {
  it("flattens nested values and keeps dots in names", () => {
    expect(toRows({ camera: { lens: "50mm", iso: 200 }, "v1.2": true })).toEqual([
      { path: "camera.lens", type: "guess", value: "50mm" },
      { path: "camera.iso", type: "guess", value: "200" },
      { path: "v1\\.2", type: "guess", value: "true" },
    ]);
  });

  it("reads back any names and values that it wrote", () => {
    const values = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
    fc.assert(
      fc.property(values, (generated) => {
        // Names in rows are trimmed and not empty.
        const metadata = JSON.parse(JSON.stringify(generated), (_, value: unknown) => normalizeNames(value)) as Record<string, unknown>;
        const { metadata: restored, problems } = parseRows(toRows(metadata));
        expect([...problems]).toEqual([]);
        expect(writeExactJson(restored)).toBe(writeExactJson(metadata));
      }),
    );
  });

  it("guesses numbers, booleans and null unless a type is set", () => {
    const { metadata } = parseRows([
      { path: "seed", type: "guess", value: "40213" },
      { path: "ok", type: "guess", value: "true" },
      { path: "empty", type: "guess", value: "null" },
      { path: "code", type: "text", value: "null" },
      { path: "sku", type: "text", value: "0042" },
      { path: "size", type: "json", value: "[1, 2]" },
      { path: "shot", type: "guess", value: "front-3q" },
    ]);
    expect(metadata).toEqual({ seed: 40213, ok: true, empty: null, code: "null", sku: "0042", size: [1, 2], shot: "front-3q" });
  });

  it("keeps every digit of a seed and the spelling of numbers", () => {
    const text = '{"seed":18446744073709551615,"cfg":5.0,"in":{"a.b":1e3,"zero":-0},"list":[0.10,2.0]}';
    expect(toFilter(parseRows(parseFilter(text)).metadata)).toBe(text);
    const typedRows = [{ path: "cfg", type: "number", value: " 7.50 " } as const];
    expect(toFilter(parseRows(typedRows).metadata)).toBe('{"cfg":7.50}');
  });

  it("reports each invalid row with the reason", () => {
    const { problems } = parseRows([
      { path: "", type: "text", value: "x" },
      { path: "a", type: "number", value: "many" },
      { path: "b", type: "text", value: "1" },
      { path: "b.c", type: "text", value: "2" },
      { path: "d", type: "json", value: "{" },
      { path: "e", type: "truth", value: "perhaps" },
      { path: "", type: "guess", value: "" },
    ]);
    expect([...problems]).toEqual([
      [0, "path"],
      [1, "number"],
      [3, "twice"],
      [4, "json"],
      [5, "truth"],
    ]);
  });

  it("never changes a prototype", () => {
    const { metadata } = parseRows([{ path: "__proto__.polluted", type: "text", value: "yes" }]);
    expect(Object.hasOwn(metadata, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(toFilter(metadata)).toBe('{"__proto__":{"polluted":"yes"}}');
  });

  it("returns no filter when there are no rows", () => {
    expect(toFilter({})).toBeUndefined();
    expect(parseFilter(undefined)).toEqual([]);
    expect(parseFilter("no json")).toEqual([]);
  });
});

function normalizeNames(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [`n${name.replaceAll(/\s/g, "_")}`, item]));
}

const createImage = () => sharp({ create: { width: 301, height: 97, channels: 4, background: { r: 9, g: 80, b: 200, alpha: 0.5 } } });
const size = { width: 301, height: 97 };

describe("readPictureSize", () => {
  it.each([
    ["a PNG", () => createImage().png()],
    ["a GIF", () => createImage().gif()],
    ["a JPEG", () => createImage().jpeg()],
    ["a progressive JPEG", () => createImage().jpeg({ progressive: true })],
    ["a WebP with transparency", () => createImage().webp()],
    ["a plain WebP", () => createImage().removeAlpha().webp()],
    ["a lossless WebP", () => createImage().webp({ lossless: true })],
  ])("reads the size of %s", async (_, encode) => {
    const bytes = new Uint8Array(await encode().toBuffer());
    expect(await readImageSize(bytes)).toEqual(size);
  });

  it.each([1, 3, 6, 8])("returns the displayed size of a photo with orientation %i", async (orientation) => {
    const bytes = new Uint8Array(await createImage().jpeg().withMetadata({ orientation }).toBuffer());
    expect(await readImageSize(bytes)).toEqual(orientation >= 5 ? { width: 97, height: 301 } : size);
  });
});

it("returns no size when the format's orientation can't be read", async () => {
  const encode = (format: "avif" | "tiff") => createImage().removeAlpha().toFormat(format).withMetadata({ orientation: 6 }).toBuffer();
  for (const format of ["avif", "tiff"] as const) expect(await readImageSize(new Uint8Array(await encode(format))), format).toBeUndefined();
});

it("returns no size when the bytes are not a complete picture", async () => {
  const bytes = new Uint8Array(await createImage().jpeg().withMetadata({ orientation: 6 }).toBuffer());
  for (let length = 0; length < bytes.length; length += 7) await readImageSize(bytes.subarray(0, length));
  for (const text of ["", "<svg/>", "\x89PNG\r\n\x1a\n", "GIF89a", "RIFF....WEBPVP8L", "RIFF....WEBPnone0000"]) {
    expect(await readImageSize(Uint8Array.from(text, (character) => character.charCodeAt(0))), text).toBeUndefined();
  }
  // A segment of length zero ends the search.
  expect(await readImageSize(Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0]))).toBeUndefined();
});

describe("a staged file", () => {
  const MIB = 1024 ** 2;
  let folder: string;

  beforeEach(() => (folder = createTemporaryFolder()));

  /** Splits content into pieces of unequal size, like a socket. */
  async function* splitIntoPieces(content: Buffer) {
    for (let at = 0, size = 70_001; at < content.length; at += size) yield content.subarray(at, at + size);
    await Promise.resolve();
  }

  it.each([0, 24])("stores %i MiB exactly and computes SHA-256 in parallel", async (mib) => {
    const contents = [0, 1, 2].map(() => randomBytes(mib * MIB + 17));
    const staged = await Promise.all(contents.map((content) => stageStream(splitIntoPieces(content), { folder, maxBytes: 100 * MIB })));
    for (const [index, content] of contents.entries()) {
      expect(staged[index]?.sha256).toBe(createHash("sha256").update(content).digest("hex"));
      expect(staged[index]?.size).toBe(content.length);
      expect(readFileSync(staged[index]?.path ?? "").equals(content)).toBe(true);
    }
  });

  it("computes the SHA-256 when the hashing thread ends early", async () => {
    const content = randomBytes(24 * MIB);
    let wasStarted = false;
    const startThread = (path: string) => {
      const thread = startSha256Thread(path);
      wasStarted = thread !== undefined;
      thread?.stop();
      return thread;
    };
    const { sha256 } = await stageStream(splitIntoPieces(content), { folder, maxBytes: 100 * MIB, startThread });
    expect([sha256, wasStarted]).toEqual([createHash("sha256").update(content).digest("hex"), true]);
  });

  it("deletes the file when it is too large or the client disconnects", async () => {
    async function* readUntilError() {
      yield* splitIntoPieces(randomBytes(20 * MIB));
      throw new Error("gone");
    }
    await expect(stageStream(splitIntoPieces(randomBytes(20 * MIB)), { folder, maxBytes: 18 * MIB })).rejects.toThrow("larger than");
    await expect(stageStream(readUntilError(), { folder, maxBytes: 100 * MIB })).rejects.toThrow("gone");
    expect(readdirSync(folder)).toEqual([]);
    const content = randomBytes(20 * MIB);
    const { sha256 } = await stageStream(splitIntoPieces(content), { folder, maxBytes: 100 * MIB });
    expect(sha256).toBe(createHash("sha256").update(content).digest("hex"));
  });
});
