// Malicious files: each yields a message, and none is read or unpacked beyond its limits.
import { readdirSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { openFile } from "@/components/run/workflow/open-workflow";
import { createBlobSource } from "@/lib/browser/files/byte-source";
import { failed } from "@/lib/shared/result";
import {
  avif,
  box,
  chunk,
  flac,
  glb,
  jpeg,
  packedText,
  plainText,
  png,
  readCarrier,
  readEmbedded,
  safetensors,
  webp,
  worldText,
} from "./files";

const readCatalogue = async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 });
const getReason = async (bytes: Uint8Array) => {
  const fileResult = await openFile(createBlobSource(new Blob([new Uint8Array(bytes)])), { readCatalogue }, { name: "file" });
  return fileResult.ok ? "opened" : fileResult.failure.reason.code;
};

const nest = (depth: number) => {
  let inner: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) inner = box("udta", inner);
  return Buffer.concat([box("ftyp", Buffer.from("isom")), box("moov", inner)]);
};
const ebml = (tags: Buffer) => Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80, 0x18, 0x53, 0x80, 0x67, 0xff]), tags]);
const simpleTags = (depth: number) => {
  let inner = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) {
    const head = Buffer.from([0x67, 0xc8, 0x10, 0, 0, 0]);
    head.writeUInt32BE((0x10000000 | inner.length) >>> 0, 2);
    inner = Buffer.concat([head, inner]);
  }
  const head = Buffer.from([0x12, 0x54, 0xc3, 0x67, 0x10, 0, 0, 0]);
  head.writeUInt32BE((0x10000000 | inner.length) >>> 0, 4);
  return ebml(Buffer.concat([head, inner]));
};
const tiffOfMany = (entries: number, textBytes: number) => {
  const directory = Buffer.alloc(2 + entries * 12);
  directory.writeUInt16LE(entries);
  for (let entry = 0; entry < entries; entry++) {
    directory.writeUInt16LE(entry, 2 + entry * 12);
    directory.writeUInt16LE(2, 4 + entry * 12);
    directory.writeUInt32LE(textBytes, 6 + entry * 12);
    directory.writeUInt32LE(8 + directory.length, 10 + entry * 12);
  }
  const tiff = Buffer.concat([Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0]), directory, Buffer.alloc(textBytes, "w")]);
  const head = Buffer.from("RIFF\0\0\0\0WEBPEXIF\0\0\0\0");
  head.writeUInt32LE(tiff.length, 16);
  return Buffer.concat([head, tiff]);
};
const bytes = (text: string) => Buffer.from(text);
const repeat = (name: string) => Array.from({ length: 100_000 }, (_, at) => bytes(`${name}${at}=x`));

it.each<[string, () => Promise<Buffer> | Buffer, string]>([
  ["a text that unpacks without end", () => png(packedText("prompt", "a".repeat(60_000_000))), "too_much"],
  ["packed bytes that are none", () => png(chunk("zTXt", bytes("prompt\0\0no zlib"))), "damaged"],
  ["a text that claims four gigabytes", () => png(chunk("tEXt", bytes("prompt\0{}"), 4_000_000_000)), "damaged"],
  ["a chunk of no interest that claims them", () => png(chunk("IDAT", bytes("x"), 4_000_000_000)), "picture"],
  ["a hundred thousand texts", () => png(...Array.from({ length: 100_000 }, (_, at) => plainText(`k${at}`, "v"))), "picture"],
  ["a picture cut off inside its text", async () => (await png(plainText("prompt", "{".repeat(500)))).subarray(0, 200), "damaged"],
  ["a text in no character set", () => png(chunk("tEXt", Buffer.concat([bytes("prompt\0"), Buffer.from([0xff, 0xfe, 0x80])]))), "not_json"],
  ["a text that is a list", () => png(plainText("prompt", "[]")), "no_graph"],
  [
    "more long integers than are read",
    () => png(plainText("prompt", `{"a":[${"12345678901234567890,".repeat(60_000)}1]}`)),
    "too_many_numbers",
  ],
  ["a text nested a million levels deep", () => png(plainText("prompt", `{"a":${"[".repeat(1e6)}${"]".repeat(1e6)}}`)), "too_large"],
  ["a JPEG whose segment has no length", () => Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0]), "damaged"],
  ["an EXIF text that ends behind its block", async () => cutExif(await jpeg({ Make: `prompt:${"x".repeat(300)}` })), "damaged"],
  ["an AVIF cut off inside its EXIF", async () => (await avif({ Make: `prompt:${"x".repeat(300)}` })).subarray(0, -200), "damaged"],
  ["65,535 EXIF entries of one text of nine megabytes", () => tiffOfMany(65_535, 9_000_000), "picture"],
  ["boxes in boxes", () => nest(20_000), "media"],
  [
    "a box that claims to be larger than the file",
    () => Buffer.concat([box("ftyp", bytes("isom")), box("moov", bytes(""), 1e9)]),
    "damaged",
  ],
  ["a box of no length", () => Buffer.concat([box("ftyp", bytes("isom")), box("free", bytes(""), 3)]), "damaged"],
  ["a film without its index", () => Buffer.concat([box("ftyp", bytes("isom")), box("mdat", Buffer.alloc(50_000))]), "damaged"],
  ["keys that are none", () => Buffer.concat([box("ftyp", bytes("")), box("moov", box("meta", box("keys", bytes("zzzz"))))]), "media"],
  ["tags in tags", () => simpleTags(20_000), "media"],
  ["tags that claim a terabyte", () => ebml(Buffer.from([0x12, 0x54, 0xc3, 0x67, 0x01, 0, 0, 0xff, 0, 0, 0, 0])), "damaged"],
  ["an element of no kind", () => ebml(Buffer.from([0, 0, 0, 0])), "damaged"],
  ["a hundred thousand comments", () => flac(repeat("K")), "media"],
  ["four thousand million comments", () => flac([], { count: 4_000_000_000 }), "damaged"],
  ["a comment that claims four gigabytes", () => Buffer.concat([flac([], { count: 1 }), Buffer.from([255, 255, 255, 255])]), "damaged"],
  ["a block of comments that is not there", () => flac([bytes("prompt=x")], { claimed: 5000 }), "damaged"],
  ["an ID3 tag that is not there", () => Buffer.concat([bytes("ID3"), Buffer.from([4, 0, 0, 127, 127, 127, 127])]), "damaged"],
  ["Ogg pages that are none", () => Buffer.concat([bytes("OggS"), Buffer.alloc(60)]), "damaged"],
  ["a scene that is no JSON", () => glb("{".repeat(100)), "damaged"],
  ["a drawing without a service's list of nodes", () => flac([bytes('workflow={"nodes":[{}],"links":[]}')]), "no_catalogue"],
  ["a drawing of a picture that is none", () => bytes("<svg><metadata><![CDATA[{"), "picture"],
])("%s", async (_, make, reason) => {
  expect(await getReason(await make())).toBe(reason);
});

const [graph, drawing] = ['{"1":{"class_type":"A","inputs":{}}}', '{"nodes":[{"id":1,"type":"A"}],"links":[]}'];
const tags = { Model: `prompt:${graph}`, Make: `workflow:${drawing}` };
const ofScene = { prompt: graph, workflow: drawing };

it.each<[string, () => Promise<Buffer> | Buffer]>([
  ...readdirSync("tests/fixtures/carriers").map((name): [string, () => Buffer] => [name, () => readCarrier(name)]),
  ["a PNG", () => png(plainText("prompt", graph), packedText("workflow", drawing), worldText("workflow", drawing, true))],
  ["an animated PNG", () => png(chunk("comf", bytes(`prompt\0${graph}`)), chunk("comf", bytes(`workflow\0${drawing}`)))],
  ["a WebP", () => webp(tags)],
  ["a JPEG", () => jpeg(tags)],
  ["an AVIF", () => avif(tags)],
  ["a GLB", () => glb(JSON.stringify({ asset: { extras: ofScene } }))],
  ["a latent", () => safetensors(JSON.stringify({ __metadata__: ofScene }))],
  ["an SVG", () => bytes(`<svg><metadata><![CDATA[${JSON.stringify(ofScene)}]]></metadata></svg>`)],
])("handles %s truncated anywhere and with any bytes changed", async (_, make) => {
  const buffer = await make();
  const arbitrary = fc.integer({ min: 0, max: buffer.length - 1 });
  await fc.assert(
    fc.asyncProperty(arbitrary, fc.array(fc.tuple(arbitrary, fc.integer({ min: 0, max: 255 })), { maxLength: 8 }), async (end, changes) => {
      const broken = Buffer.from(buffer);
      for (const [at, byte] of changes) broken[at] = byte;
      for (const bytes of [broken, broken.subarray(0, end)])
        expect(["workflow", "none", "damaged", "too_much", "unknown"]).toContain((await readEmbedded(bytes)).kind);
    }),
    { numRuns: 60, seed: 20261123 },
  );
});

function cutExif(picture: Buffer): Buffer {
  // Enlarges the declared length of the entry with the longest text.
  const at = picture.indexOf(Buffer.from("prompt:"));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(308);
  const entry = picture.subarray(0, at).lastIndexOf(length);
  const broken = Buffer.from(picture);
  broken.writeUInt32LE(60_000, entry);
  return broken;
}
