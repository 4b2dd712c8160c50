// Removing metadata from files: the pictures are real ones, films and sounds are built box by box.
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { cleanPieces, isCleanable } from "@/lib/server/shares/clean/clean";
import { lengthOf, type Piece } from "@/lib/server/shares/clean/pieces";
import { cleanStream, piecesBetween, spanOf } from "@/lib/server/shares/shared-bytes";

const SECRET = "a-secret-prompt";
const reading = (file: Buffer) => ({
  size: file.length,
  read: (at: number, length: number) => Promise.resolve(file.subarray(at, at + length)),
});
async function streamed(file: Buffer, pieces: readonly Piece[]): Promise<Buffer> {
  const span = spanOf(pieces) ?? { from: 0, to: 0 };
  const original = new Blob([new Uint8Array(file.subarray(span.from, span.to))]).stream();
  return Buffer.from(await new Response(cleanStream(pieces, original, span.from)).arrayBuffer());
}
async function cleaned(file: Buffer): Promise<Buffer> {
  const pieces = await cleanPieces(reading(file));
  if (!pieces) throw new Error("it was not cleaned");
  const whole = await streamed(file, pieces);
  expect(whole.length).toBe(pieces.reduce((sum, piece) => sum + lengthOf(piece), 0));
  // Any range of it is the same range of the whole.
  for (const [from, to] of [
    [0, 1],
    [5, 40],
    [whole.length - 30, whole.length],
    [Math.floor(whole.length / 2), whole.length],
  ] as const)
    expect((await streamed(file, piecesBetween(pieces, from, to))).equals(whole.subarray(from, to))).toBe(true);
  expect(whole.includes(SECRET)).toBe(false);
  return whole;
}

const picture = () => sharp({ create: { width: 40, height: 24, channels: 3, background: "#3a7" } });
const exif = { IFD0: { Copyright: SECRET, ImageDescription: SECRET }, IFD3: { GPSLatitudeRef: "N" } };
async function samePixels(a: Buffer, b: Buffer): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map((file) => sharp(file, { pages: -1 }).autoOrient().raw().toBuffer()));
  return one !== undefined && other !== undefined && one.equals(other);
}

function pngText(keyword: string, text: string): Buffer {
  const typed = Buffer.concat([Buffer.from("tEXt"), Buffer.from(`${keyword}\0${text}`)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(typed.length - 4);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

describe("pictures keep their pixels and their way up", () => {
  test("PNG, with texts between its chunks and behind its end", async () => {
    const plain = await picture().png().withExif(exif).toBuffer();
    const file = Buffer.concat([plain.subarray(0, 33), pngText("prompt", SECRET), plain.subarray(33), Buffer.from(SECRET)]);
    const clean = await cleaned(file);
    expect(await samePixels(clean, plain)).toBe(true);
    expect((await sharp(clean).metadata()).comments).toBeUndefined();
  });

  test.each([1, 3, 6, 8])("JPEG that is turned as %i says", async (orientation) => {
    const plain = await picture().jpeg({ progressive: true }).withExif(exif).withMetadata({ orientation, exif }).toBuffer();
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, SECRET.length + 2]), Buffer.from(SECRET)]);
    const file = Buffer.concat([plain.subarray(0, 2), comment, plain.subarray(2), Buffer.from(`\xff\xe1${SECRET}`, "latin1")]);
    const clean = await cleaned(file);
    expect(await samePixels(clean, plain)).toBe(true);
    expect((await sharp(clean).metadata()).orientation ?? 1).toBe(orientation);
  });

  test.each([1, 6])("WebP that is turned as %i says", async (orientation) => {
    const plain = await picture()
      .webp()
      .withMetadata({ orientation, exif })
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${SECRET}</x:xmpmeta>`)
      .toBuffer();
    const clean = await cleaned(plain);
    const metadata = await sharp(clean).metadata();
    expect(metadata.xmp).toBeUndefined();
    expect(metadata.orientation ?? 1).toBe(orientation);
    expect(await samePixels(clean, plain)).toBe(true);
  });

  test("WebP with more in its head than belongs there is not cleaned", async () => {
    const chunk = Buffer.from("VP8X\0\0\0\0", "latin1");
    chunk.writeUInt32LE(10 + SECRET.length, 4);
    const content = Buffer.concat([Buffer.from("WEBP"), chunk, Buffer.alloc(10), Buffer.from(SECRET), Buffer.alloc(SECRET.length % 2)]);
    const head = Buffer.from("RIFF\0\0\0\0", "latin1");
    head.writeUInt32LE(content.length, 4);
    expect(await cleanPieces(reading(Buffer.concat([head, content])))).toBeUndefined();
  });

  test("GIF of blocks of one byte is read a stretch at a time", async () => {
    const count = 20_000;
    const head = Buffer.from("GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02", "latin1");
    const file = Buffer.concat([head, Buffer.alloc(2 * count, Buffer.from([1, 7])), Buffer.from([0, 0x3b])]);
    let reads = 0;
    const { size, read } = reading(file);
    const counted = (at: number, length: number) => ((reads += 1), read(at, length));
    expect(await cleanPieces({ size, read: counted })).toEqual([{ from: 0, to: file.length }]);
    expect(reads).toBeLessThan(100);
    expect(await cleanPieces(reading(file.subarray(0, -2)))).toBeUndefined();
  });

  test("GIF that moves, with a comment", async () => {
    const frames = Buffer.concat([Buffer.alloc(40 * 24 * 3, 10), Buffer.alloc(40 * 24 * 3, 200)]);
    const plain = await sharp(frames, { raw: { width: 40, height: 48, channels: 3, pageHeight: 24 } })
      .gif({ loop: 3, delay: [100, 100] })
      .toBuffer();
    const comment = Buffer.concat([Buffer.from([0x21, 0xfe, SECRET.length]), Buffer.from(SECRET), Buffer.from([0])]);
    const at = 13 + 3 * 2 ** (((plain[10] ?? 0) & 7) + 1);
    const clean = await cleaned(Buffer.concat([plain.subarray(0, at), comment, plain.subarray(at)]));
    expect(await sharp(clean, { pages: -1 }).metadata()).toMatchObject({ pages: 2, loop: 3 });
    expect(await samePixels(clean, plain)).toBe(true);
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
const timed = (length: number) => Buffer.concat([Buffer.alloc(4), Buffer.alloc(8, 0x5a), Buffer.alloc(length - 12)]);
const here = box("url ", "\0\0\0\x01");
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
    box("tkhd", timed(84)),
    box("udta", SECRET),
    box("mdia", box("mdhd", timed(24)), box("hdlr", Buffer.alloc(8), handler, Buffer.alloc(12), SECRET), minf(reference)),
  );
const film = (handler = "vide", reference = here) =>
  Buffer.concat([
    box("ftyp", "isom", SECRET.slice(0, 4), "mp42", SECRET),
    box("moov", box("mvhd", timed(100)), track(handler, reference), box("udta", box("meta", SECRET))),
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

describe("films keep their length, so that every offset in them still fits", () => {
  test("MP4: tags, names and times are blanked, the rest is where it was", async () => {
    const clean = await cleaned(film());
    expect(clean.length).toBe(film().length);
    expect(clean.indexOf("PIXELS")).toBe(film().indexOf("PIXELS"));
    expect(clean.includes(Buffer.alloc(8, 0x5a))).toBe(false);
    expect(clean.includes("udta")).toBe(false);
    expect(clean.includes("TIMES")).toBe(true);
    expect(clean.toString("latin1", 4, 20)).toBe("ftypisom\0\0\0\0mp42");
    expect(clean.includes(SECRET.slice(0, 4))).toBe(false);
  });

  test.each(["meta", "subt", "text", "sbtl", "clcp"])("MP4 with a track of %s is not cleaned", async (handler) => {
    expect(await cleanPieces(reading(film(handler)))).toBeUndefined();
  });

  test("a track that does not say what it is of is not cleaned", async () => {
    const nameless = box("trak", box("tkhd", timed(84)), box("mdia", box("mdhd", timed(24)), minf(here)));
    const twice = box("trak", box("mdia", box("hdlr", Buffer.alloc(8), "vide"), box("hdlr", Buffer.alloc(8), "text")));
    for (const one of [nameless, twice])
      expect(await cleanPieces(reading(Buffer.concat([box("ftyp", "isom"), box("moov", one)])))).toBeUndefined();
    const tracks = element("1654ae6b", element("ae", element("d7", "\x01"), element("86", "S_TEXT/UTF8")));
    expect(await cleanPieces(reading(Buffer.concat([webm, element("18538067", tracks)])))).toBeUndefined();
  });

  test("MP4 whose samples are named by a path is not cleaned", async () => {
    for (const reference of [box("alis", "\0\0\0\0", SECRET), box("url ", "\0\0\0\0", SECRET), box("url ", "\0\0\0\x01", SECRET)])
      expect(await cleanPieces(reading(film("vide", reference)))).toBeUndefined();
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
    expect((await cleanPieces(reading(file))) !== undefined).toBe(isCleaned);
  });

  test("WebM: tags, attachments, titles and the names of tracks are blanked", async () => {
    const block = (type: number, content: string) => Buffer.concat([Buffer.from([type, 0, 0, content.length]), Buffer.from(content)]);
    const decoded = element("63a2", "fLaC", block(0, "STREAMINFO"), block(4, SECRET), block(0x86, SECRET));
    const flac = element("ae", element("83", "\x02"), decoded);
    const file = Buffer.concat([
      webm,
      element(
        "18538067",
        element(
          "1549a966",
          element("7ba9", SECRET),
          element("4d80", SECRET),
          element("2ad7b1", "\x0f\x42\x40"),
          Buffer.from([0x44, 0x61, 0x81, 1]),
        ),
        element("1654ae6b", element("ae", element("536e", SECRET), element("83", "\x01")), flac),
        element("1f43b675", "PIXELS"),
        element("1254c367", SECRET),
        element("1941a469", SECRET),
      ),
    ]);
    const clean = await cleaned(file);
    expect(clean.length).toBe(file.length);
    expect(clean.indexOf("PIXELS")).toBe(file.indexOf("PIXELS"));
  });
});

describe("sounds keep their sound", () => {
  const sound = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(200, 7)]);
  const id3 = Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0", "latin1"), Buffer.from([SECRET.length]), Buffer.from(SECRET)]);

  test("MP3, with tags before and behind", async () => {
    const old = Buffer.concat([Buffer.from(`TAG${SECRET}`), Buffer.alloc(125 - SECRET.length)]);
    expect((await cleaned(Buffer.concat([id3, sound, old]))).equals(sound)).toBe(true);
  });

  test("a sound with a tag of another kind behind it is not cleaned", async () => {
    const old = Buffer.concat([Buffer.from(`TAG${SECRET}`), Buffer.alloc(125 - SECRET.length)]);
    const tags = [`LYRICSBEGIN${SECRET}LYRICSEND`, `LYRICSBEGIN${SECRET}000026LYRICS200`, `${SECRET}3DI\x04\0\0\0\0\0\x0f`];
    for (const tag of tags)
      for (const last of [Buffer.alloc(0), old])
        expect([tag, await cleanPieces(reading(Buffer.concat([sound, Buffer.from(tag, "latin1"), last])))]).toEqual([tag, undefined]);
  });

  test("only a whole head of a frame is taken for an MP3", async () => {
    const heads = ["fffe6800", "fff15080", "ffe00000", "fffbf064", "fffb9c64", "fffb9066", "ffeb9064"];
    for (const head of heads)
      expect([head, await cleanPieces(reading(Buffer.concat([Buffer.from(head, "hex"), Buffer.from(SECRET)])))]).toEqual([head, undefined]);
  });

  test("FLAC keeps what it is decoded by", async () => {
    const info = "STREAMINFO".padEnd(34);
    const block = (type: number, content: string) => Buffer.concat([Buffer.from([type, 0, 0, content.length]), Buffer.from(content)]);
    const file = Buffer.concat([Buffer.from("fLaC"), block(0, info), block(4, SECRET), block(3, SECRET), block(0x80 | 6, SECRET), sound]);
    const clean = await cleaned(file);
    expect(clean.equals(Buffer.concat([Buffer.from("fLaC"), block(0x80, info), sound]))).toBe(true);
  });
});

test("what is broken, unknown or cannot be cleaned is not let through", async () => {
  const png = await picture().png().toBuffer();
  const jpeg = await picture().jpeg().toBuffer();
  const avif = await picture().avif().toBuffer();
  const others = [png.subarray(0, -5), jpeg.subarray(0, -2), film().subarray(0, -1), avif];
  const texts = ["<svg/>", '{"a": 1}', "", "OggS\0\0", "\0\x01\x02"].map((text) => Buffer.from(text, "latin1"));
  for (const file of [...others, ...texts.filter(({ length }) => length > 0)]) expect(await cleanPieces(reading(file))).toBeUndefined();
  expect(await cleanPieces(reading(Buffer.from("plain words\n")))).toEqual([{ from: 0, to: 12 }]);
});

test("which files can be cleaned is known by their names before they are shared", () => {
  expect(["a.png", "b.JPEG", "c.mp4", "d.flac"].every((name) => isCleanable(name, undefined))).toBe(true);
  expect(["a.avif", "b.svg", "c.ogg", "d.glb", "e.json", "f"].some((name) => isCleanable(name, undefined))).toBe(false);
  expect(isCleanable("f", "image/png")).toBe(true);
});
