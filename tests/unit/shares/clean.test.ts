import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { cleanFile, isCleanable } from "@/lib/server/shares/clean/clean";
import { cleaned, splitIntoPieces } from "@/tests/support/clean-file";

const SECRET = "a-secret-prompt";
const reading = (file: Buffer) => ({
  size: file.length,
  read: (at: number, length: number) => Promise.resolve(file.subarray(at, at + length)),
});
async function expectClean(file: Buffer): Promise<Buffer> {
  const clean = await cleaned(file);
  if (!clean) throw new Error("it was not cleaned");
  expect(clean.includes(SECRET)).toBe(false);
  return clean;
}

const picture = () => sharp({ create: { width: 40, height: 24, channels: 3, background: "#3a7" } });
const exif = { IFD0: { Copyright: SECRET, ImageDescription: SECRET }, IFD3: { GPSLatitudeRef: "N" } };
async function samePixels(a: Buffer, b: Buffer): Promise<boolean> {
  const [first, second] = await Promise.all([a, b].map((file) => sharp(file, { pages: -1 }).autoOrient().raw().toBuffer()));
  return first !== undefined && second !== undefined && first.equals(second);
}

describe("pixels and orientation of pictures", () => {
  test.each([1, 3, 6, 8])("keeps a JPEG rotated by %i", async (orientation) => {
    const plain = await picture().jpeg({ progressive: true }).withExif(exif).withMetadata({ orientation, exif }).toBuffer();
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, SECRET.length + 2]), Buffer.from(SECRET)]);
    const file = Buffer.concat([plain.subarray(0, 2), comment, plain.subarray(2), Buffer.from(`\xff\xe1${SECRET}`, "latin1")]);
    const clean = await expectClean(file);
    expect(await samePixels(clean, plain)).toBe(true);
    expect((await sharp(clean).metadata()).orientation ?? 1).toBe(orientation);
  });

  test.each([1, 6])("keeps a WebP rotated by %i", async (orientation) => {
    const plain = await picture()
      .webp()
      .withMetadata({ orientation, exif })
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${SECRET}</x:xmpmeta>`)
      .toBuffer();
    const clean = await expectClean(plain);
    const metadata = await sharp(clean).metadata();
    expect(metadata.xmp).toBeUndefined();
    expect(metadata.orientation ?? 1).toBe(orientation);
    expect(await samePixels(clean, plain)).toBe(true);
  });

  test("doesn't clean WebP with extra header content", async () => {
    const chunk = Buffer.from("VP8X\0\0\0\0", "latin1");
    chunk.writeUInt32LE(10 + SECRET.length, 4);
    const content = Buffer.concat([Buffer.from("WEBP"), chunk, Buffer.alloc(10), Buffer.from(SECRET), Buffer.alloc(SECRET.length % 2)]);
    const head = Buffer.from("RIFF\0\0\0\0", "latin1");
    head.writeUInt32LE(content.length, 4);
    expect(await splitIntoPieces(Buffer.concat([head, content]))).toBeUndefined();
  });

  test("reads a GIF of one-byte blocks in stretches", async () => {
    const count = 20_000;
    const head = Buffer.from("GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02", "latin1");
    const file = Buffer.concat([head, Buffer.alloc(2 * count, Buffer.from([1, 7])), Buffer.from([0, 0x3b])]);
    let reads = 0;
    const { size, read } = reading(file);
    const countingRead = (at: number, length: number) => ((reads += 1), read(at, length));
    expect(await cleanFile({ size, read: countingRead })).toEqual([{ from: 0, to: file.length }]);
    expect(reads).toBeLessThan(100);
    expect(await splitIntoPieces(file.subarray(0, -2))).toBeUndefined();
  });
});

function box(type: string, ...inside: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(inside.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
}
/** `length` of the whole content. */
const createTimed = (length: number) => Buffer.concat([Buffer.alloc(4), Buffer.alloc(8, 0x5a), Buffer.alloc(length - 12)]);
const urlBox = box("url ", "\0\0\0\x01");
const entry = box("avc1", Buffer.alloc(42), Buffer.from(SECRET.padEnd(32)), Buffer.alloc(4), box("avcC", "SETUP"), box("uuid", SECRET));
const samples = box(
  "stbl",
  box("stsd", "\0\0\0\0\0\0\0\x01", entry),
  box("stts", "\0\0\0\0\0\0\0\x01TIMES..."),
  box("sgpd", SECRET),
  box("meta", SECRET),
);
const minf = (reference: Buffer) =>
  box(
    "minf",
    box("vmhd", Buffer.alloc(12)),
    box("hdlr", Buffer.alloc(24), SECRET),
    box("dinf", box("dref", "\0\0\0\0\0\0\0\x01", reference)),
    samples,
  );
const track = (handler: string, reference: Buffer) =>
  box(
    "trak",
    box("tkhd", createTimed(84)),
    box("udta", SECRET),
    box("mdia", box("mdhd", createTimed(24)), box("hdlr", Buffer.alloc(8), handler, Buffer.alloc(12), SECRET), minf(reference)),
  );
const film = (handler = "vide", reference = urlBox) =>
  Buffer.concat([
    box("ftyp", "isom", SECRET.slice(0, 4), "mp42", SECRET),
    box("moov", box("mvhd", createTimed(100)), track(handler, reference), box("udta", box("meta", SECRET))),
    box("moof", box("mfhd", Buffer.alloc(8)), box("traf", box("tfhd", Buffer.alloc(8)), box("uuid", SECRET)), box("meta", SECRET)),
    box("mdat", "PIXELS"),
    box("uuid", SECRET),
  ]);

function element(id: string, ...inside: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(inside.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(content.length));
  size[0] = 0x01;
  return Buffer.concat([Buffer.from(id, "hex"), size, content]);
}

const webm = element("1a45dfa3", element("4282", "webm"));

describe("offsets in videos", () => {
  test.each(["meta", "subt", "text", "sbtl", "clcp"])("doesn't clean MP4 with a track of %s", async (handler) => {
    expect(await splitIntoPieces(film(handler))).toBeUndefined();
  });

  test("rejects a track without a handler", async () => {
    const nameless = box("trak", box("tkhd", createTimed(84)), box("mdia", box("mdhd", createTimed(24)), minf(urlBox)));
    const twice = box("trak", box("mdia", box("hdlr", Buffer.alloc(8), "vide"), box("hdlr", Buffer.alloc(8), "text")));
    for (const bytes of [nameless, twice])
      expect(await splitIntoPieces(Buffer.concat([box("ftyp", "isom"), box("moov", bytes)]))).toBeUndefined();
    const tracks = element("1654ae6b", element("ae", element("d7", "\x01"), element("86", "S_TEXT/UTF8")));
    expect(await splitIntoPieces(Buffer.concat([webm, element("18538067", tracks)]))).toBeUndefined();
  });

  test("doesn't clean MP4 with path-named samples", async () => {
    for (const reference of [box("alis", "\0\0\0\0", SECRET), box("url ", "\0\0\0\0", SECRET), box("url ", "\0\0\0\x01", SECRET)])
      expect(await splitIntoPieces(film("vide", reference))).toBeUndefined();
  });

  test.each([
    [1, true],
    [2, true],
    [0x11, false],
    [0x12, false],
    [0x21, false],
  ])("Matroska with a track of type %i is cleaned: %s", async (type, isCleaned) => {
    const entry = element("ae", element("83", Buffer.from([type])), element("d7", "\x01"));
    const file = Buffer.concat([webm, element("18538067", element("1654ae6b", entry), element("1f43b675", "PIXELS"))]);
    expect((await splitIntoPieces(file)) !== undefined).toBe(isCleaned);
  });

  test("blanks the comments and pictures of FLAC in Matroska", async () => {
    const block = (type: number, content: string) => Buffer.concat([Buffer.from([type, 0, 0, content.length]), Buffer.from(content)]);
    const decoded = element("63a2", "fLaC", block(0, "STREAMINFO"), block(4, SECRET), block(0x86, SECRET));
    const tracks = element("1654ae6b", element("ae", element("83", "\x02"), decoded));
    const file = Buffer.concat([webm, element("18538067", tracks, element("1f43b675", "PIXELS"))]);
    const clean = await expectClean(file);
    expect(clean.length).toBe(file.length);
    expect(clean.indexOf("PIXELS")).toBe(file.indexOf("PIXELS"));
  });

  test("blanks the minor version of an MP4's brand", async () => {
    expect((await expectClean(film())).toString("latin1", 4, 20)).toBe("ftypisom\0\0\0\0mp42");
  });
});

describe("audio data", () => {
  const sound = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(200, 7)]);

  test("rejects audio followed by another kind of tag", async () => {
    const old = Buffer.concat([Buffer.from(`TAG${SECRET}`), Buffer.alloc(125 - SECRET.length)]);
    const tags = [`LYRICSBEGIN${SECRET}LYRICSEND`, `LYRICSBEGIN${SECRET}000026LYRICS200`, `${SECRET}3DI\x04\0\0\0\0\0\x0f`];
    for (const tag of tags)
      for (const last of [Buffer.alloc(0), old])
        expect([tag, await splitIntoPieces(Buffer.concat([sound, Buffer.from(tag, "latin1"), last]))]).toEqual([tag, undefined]);
  });

  test("accepts only a whole frame header as MP3", async () => {
    const heads = ["fffe6800", "fff15080", "ffe00000", "fffbf064", "fffb9c64", "fffb9066", "ffeb9064"];
    for (const head of heads)
      expect([head, await splitIntoPieces(Buffer.concat([Buffer.from(head, "hex"), Buffer.from(SECRET)]))]).toEqual([head, undefined]);
  });

  test("keeps what FLAC needs for decoding", async () => {
    const info = "STREAMINFO".padEnd(34);
    const block = (type: number, content: string) => Buffer.concat([Buffer.from([type, 0, 0, content.length]), Buffer.from(content)]);
    const file = Buffer.concat([Buffer.from("fLaC"), block(0, info), block(4, SECRET), block(3, SECRET), block(0x80 | 6, SECRET), sound]);
    const clean = await expectClean(file);
    expect(clean.equals(Buffer.concat([Buffer.from("fLaC"), block(0x80, info), sound]))).toBe(true);
  });
});

test("rejects broken and unknown files", async () => {
  const png = await picture().png().toBuffer();
  const jpeg = await picture().jpeg().toBuffer();
  const avif = await picture().avif().toBuffer();
  const cutFiles = [png.subarray(0, -5), jpeg.subarray(0, -2), film().subarray(0, -1), avif];
  const texts = ["<svg/>", '{"a": 1}', "", "OggS\0\0", "\0\x01\x02"].map((text) => Buffer.from(text, "latin1"));
  for (const file of [...cutFiles, ...texts.filter(({ length }) => length > 0)]) expect(await splitIntoPieces(file)).toBeUndefined();
  expect(await splitIntoPieces(Buffer.from("plain words\n"))).toEqual([{ from: 0, to: 12 }]);
});

test("recognizes cleanable files by name", () => {
  expect(["a.png", "b.JPEG", "c.mp4", "d.flac"].every((name) => isCleanable(name, undefined))).toBe(true);
  expect(["a.avif", "b.svg", "c.ogg", "d.glb", "e.json", "f"].some((name) => isCleanable(name, undefined))).toBe(false);
  expect(isCleanable("f", "image/png")).toBe(true);
});
