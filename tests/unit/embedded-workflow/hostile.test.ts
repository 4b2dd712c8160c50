// Malicious files: each yields an error code, and none is read or decompressed beyond its limits.
import { readdirSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { openFile } from "@/components/run/workflow/open-workflow";
import { createBlobSource } from "@/lib/browser/files/byte-source";
import { failed } from "@/lib/shared/result";
import {
  createAvif,
  createBox,
  createChunk,
  createCompressedTextChunk,
  createFlac,
  createGlb,
  createInternationalTextChunk,
  createJpeg,
  createPng,
  createSafetensors,
  createTextChunk,
  createWebp,
  readCarrier,
  readEmbedded,
} from "./files";

const readCatalogue = async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 });
const getReason = async (bytes: Uint8Array) => {
  const fileResult = await openFile(createBlobSource(new Blob([new Uint8Array(bytes)])), { readCatalogue }, { name: "file" });
  return fileResult.ok ? "opened" : fileResult.failure.reason.code;
};

const createNestedBoxes = (depth: number) => {
  let inner: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) inner = createBox("udta", inner);
  return Buffer.concat([createBox("ftyp", Buffer.from("isom")), createBox("moov", inner)]);
};
const createEbml = (tags: Buffer) => Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80, 0x18, 0x53, 0x80, 0x67, 0xff]), tags]);
const createNestedTags = (depth: number) => {
  let inner = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) {
    const header = Buffer.from([0x67, 0xc8, 0x10, 0, 0, 0]);
    header.writeUInt32BE((0x10000000 | inner.length) >>> 0, 2);
    inner = Buffer.concat([header, inner]);
  }
  const head = Buffer.from([0x12, 0x54, 0xc3, 0x67, 0x10, 0, 0, 0]);
  head.writeUInt32BE((0x10000000 | inner.length) >>> 0, 4);
  return createEbml(Buffer.concat([head, inner]));
};
const createWebpWithEntries = (entries: number, textBytes: number) => {
  const directory = Buffer.alloc(2 + entries * 12);
  directory.writeUInt16LE(entries);
  for (let entry = 0; entry < entries; entry++) {
    directory.writeUInt16LE(entry, 2 + entry * 12);
    directory.writeUInt16LE(2, 4 + entry * 12);
    directory.writeUInt32LE(textBytes, 6 + entry * 12);
    directory.writeUInt32LE(8 + directory.length, 10 + entry * 12);
  }
  const tiff = Buffer.concat([Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0]), directory, Buffer.alloc(textBytes, "w")]);
  const header = Buffer.from("RIFF\0\0\0\0WEBPEXIF\0\0\0\0");
  header.writeUInt32LE(tiff.length, 16);
  return Buffer.concat([header, tiff]);
};
const toBytes = (text: string) => Buffer.from(text);
const createComments = (name: string) => Array.from({ length: 100_000 }, (_, index) => toBytes(`${name}${index}=x`));

it.each<[string, () => Promise<Buffer> | Buffer, string]>([
  ["a text that decompresses to 60 MB", () => createPng(createCompressedTextChunk("prompt", "a".repeat(60_000_000))), "too_much"],
  ["invalid compressed bytes", () => createPng(createChunk("zTXt", toBytes("prompt\0\0no zlib"))), "damaged"],
  ["a text with a declared length of 4 GB", () => createPng(createChunk("tEXt", toBytes("prompt\0{}"), 4_000_000_000)), "damaged"],
  ["an irrelevant chunk with a declared length of 4 GB", () => createPng(createChunk("IDAT", toBytes("x"), 4_000_000_000)), "picture"],
  ["100,000 texts", () => createPng(...Array.from({ length: 100_000 }, (_, index) => createTextChunk(`k${index}`, "v"))), "picture"],
  [
    "an image truncated inside its text",
    async () => (await createPng(createTextChunk("prompt", "{".repeat(500)))).subarray(0, 200),
    "damaged",
  ],
  [
    "a text with invalid characters",
    () => createPng(createChunk("tEXt", Buffer.concat([toBytes("prompt\0"), Buffer.from([0xff, 0xfe, 0x80])]))),
    "not_json",
  ],
  ["a text that is a list", () => createPng(createTextChunk("prompt", "[]")), "no_graph"],
  [
    "too many long integers",
    () => createPng(createTextChunk("prompt", `{"a":[${"12345678901234567890,".repeat(60_000)}1]}`)),
    "too_many_numbers",
  ],
  [
    "a text nested a million levels deep",
    () => createPng(createTextChunk("prompt", `{"a":${"[".repeat(1e6)}${"]".repeat(1e6)}}`)),
    "too_large",
  ],
  ["a JPEG segment with length zero", () => Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0]), "damaged"],
  ["an EXIF text that extends past its block", async () => corruptExif(await createJpeg({ Make: `prompt:${"x".repeat(300)}` })), "damaged"],
  [
    "an AVIF truncated inside its EXIF block",
    async () => (await createAvif({ Make: `prompt:${"x".repeat(300)}` })).subarray(0, -200),
    "damaged",
  ],
  ["65,535 EXIF entries that share a text of 9 MB", () => createWebpWithEntries(65_535, 9_000_000), "picture"],
  ["deeply nested boxes", () => createNestedBoxes(20_000), "media"],
  [
    "a box with a declared length beyond the file",
    () => Buffer.concat([createBox("ftyp", toBytes("isom")), createBox("moov", toBytes(""), 1e9)]),
    "damaged",
  ],
  ["a box with an invalid length", () => Buffer.concat([createBox("ftyp", toBytes("isom")), createBox("free", toBytes(""), 3)]), "damaged"],
  [
    "a video without its index",
    () => Buffer.concat([createBox("ftyp", toBytes("isom")), createBox("mdat", Buffer.alloc(50_000))]),
    "damaged",
  ],
  [
    "invalid metadata keys",
    () => Buffer.concat([createBox("ftyp", toBytes("")), createBox("moov", createBox("meta", createBox("keys", toBytes("zzzz"))))]),
    "media",
  ],
  ["deeply nested tags", () => createNestedTags(20_000), "media"],
  ["tags with a declared length of 1 TB", () => createEbml(Buffer.from([0x12, 0x54, 0xc3, 0x67, 0x01, 0, 0, 0xff, 0, 0, 0, 0])), "damaged"],
  ["an invalid EBML element", () => createEbml(Buffer.from([0, 0, 0, 0])), "damaged"],
  ["100,000 comments", () => createFlac(createComments("K")), "media"],
  ["a declared count of 4 billion comments", () => createFlac([], { count: 4_000_000_000 }), "damaged"],
  [
    "a comment with a declared length of 4 GB",
    () => Buffer.concat([createFlac([], { count: 1 }), Buffer.from([255, 255, 255, 255])]),
    "damaged",
  ],
  ["a truncated comment block", () => createFlac([toBytes("prompt=x")], { claimed: 5000 }), "damaged"],
  ["a missing ID3 tag", () => Buffer.concat([toBytes("ID3"), Buffer.from([4, 0, 0, 127, 127, 127, 127])]), "damaged"],
  ["invalid Ogg pages", () => Buffer.concat([toBytes("OggS"), Buffer.alloc(60)]), "damaged"],
  ["a scene that is not JSON", () => createGlb("{".repeat(100)), "damaged"],
  ["a drawing without a node catalogue", () => createFlac([toBytes('workflow={"nodes":[{}],"links":[]}')]), "no_catalogue"],
  ["an SVG with incomplete metadata", () => toBytes("<svg><metadata><![CDATA[{"), "picture"],
])("handles %s", async (_, make, reason) => {
  expect(await getReason(await make())).toBe(reason);
});

const [graph, drawing] = ['{"1":{"class_type":"A","inputs":{}}}', '{"nodes":[{"id":1,"type":"A"}],"links":[]}'];
const tags = { Model: `prompt:${graph}`, Make: `workflow:${drawing}` };
const metadata = { prompt: graph, workflow: drawing };

it.each<[string, () => Promise<Buffer> | Buffer]>([
  ...readdirSync("tests/fixtures/carriers").map((name): [string, () => Buffer] => [name, () => readCarrier(name)]),
  [
    "a PNG",
    () =>
      createPng(
        createTextChunk("prompt", graph),
        createCompressedTextChunk("workflow", drawing),
        createInternationalTextChunk("workflow", drawing, true),
      ),
  ],
  [
    "an animated PNG",
    () => createPng(createChunk("comf", toBytes(`prompt\0${graph}`)), createChunk("comf", toBytes(`workflow\0${drawing}`))),
  ],
  ["a WebP", () => createWebp(tags)],
  ["a JPEG", () => createJpeg(tags)],
  ["an AVIF", () => createAvif(tags)],
  ["a GLB", () => createGlb(JSON.stringify({ asset: { extras: metadata } }))],
  ["a latent", () => createSafetensors(JSON.stringify({ __metadata__: metadata }))],
  ["an SVG", () => toBytes(`<svg><metadata><![CDATA[${JSON.stringify(metadata)}]]></metadata></svg>`)],
])("handles %s truncated anywhere and with any bytes changed", async (_, make) => {
  const buffer = await make();
  const arbitrary = fc.integer({ min: 0, max: buffer.length - 1 });
  await fc.assert(
    fc.asyncProperty(arbitrary, fc.array(fc.tuple(arbitrary, fc.integer({ min: 0, max: 255 })), { maxLength: 8 }), async (end, changes) => {
      const broken = Buffer.from(buffer);
      for (const [offset, byte] of changes) broken[offset] = byte;
      for (const bytes of [broken, broken.subarray(0, end)])
        expect(["workflow", "none", "damaged", "too_much", "unknown"]).toContain((await readEmbedded(bytes)).kind);
    }),
    { numRuns: 30, seed: 20261123 },
  );
});

function corruptExif(image: Buffer): Buffer {
  // Enlarges the declared length of the entry with the longest text.
  const textOffset = image.indexOf(Buffer.from("prompt:"));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(308);
  const entry = image.subarray(0, textOffset).lastIndexOf(length);
  const broken = Buffer.from(image);
  broken.writeUInt32LE(60_000, entry);
  return broken;
}
