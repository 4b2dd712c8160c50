import sharp from "sharp";
import { describe, expect, test, vi } from "vitest";
import { cleanFile, isCleanable } from "@/lib/server/shares/clean/clean";
import { cleanAndVerify, splitIntoPieces } from "@/tests/support/clean-file";

const SECRET = "a-secret-prompt";
async function expectClean(file: Buffer): Promise<Buffer> {
  const clean = await cleanAndVerify(file);
  if (!clean) throw new Error("The file was not cleaned.");
  expect(clean.includes(SECRET)).toBe(false);
  return clean;
}

const createImage = () => sharp({ create: { width: 40, height: 24, channels: 3, background: "#3a7" } });
const exif = { IFD0: { Copyright: SECRET, ImageDescription: SECRET }, IFD3: { GPSLatitudeRef: "N" } };
async function hasSamePixels(a: Buffer, b: Buffer): Promise<boolean> {
  const [first, second] = await Promise.all([a, b].map((file) => sharp(file, { pages: -1 }).autoOrient().raw().toBuffer()));
  return first !== undefined && second !== undefined && first.equals(second);
}

describe("image files", () => {
  test.each([1, 3, 6, 8])("keeps the pixels and orientation %i of a JPEG", async (orientation) => {
    const plain = await createImage().jpeg({ progressive: true }).withExif(exif).withMetadata({ orientation, exif }).toBuffer();
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, SECRET.length + 2]), Buffer.from(SECRET)]);
    const file = Buffer.concat([plain.subarray(0, 2), comment, plain.subarray(2), Buffer.from(`\xff\xe1${SECRET}`, "latin1")]);
    const clean = await expectClean(file);
    expect(await hasSamePixels(clean, plain)).toBe(true);
    expect((await sharp(clean).metadata()).orientation ?? 1).toBe(orientation);
  });

  test.each([1, 6])("keeps the pixels and orientation %i of a WebP", async (orientation) => {
    const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/">${SECRET}</x:xmpmeta>`;
    const plain = await createImage().webp().withMetadata({ orientation, exif }).withXmp(xmp).toBuffer();
    const clean = await expectClean(plain);
    const metadata = await sharp(clean).metadata();
    expect([metadata.xmp, metadata.orientation ?? 1, await hasSamePixels(clean, plain)]).toEqual([undefined, orientation, true]);
  });

  test("rejects a WebP with extra header content", async () => {
    const chunk = Buffer.from("VP8X\0\0\0\0", "latin1");
    chunk.writeUInt32LE(10 + SECRET.length, 4);
    const content = Buffer.concat([Buffer.from("WEBP"), chunk, Buffer.alloc(10), Buffer.from(SECRET), Buffer.alloc(SECRET.length % 2)]);
    const head = Buffer.from("RIFF\0\0\0\0", "latin1");
    head.writeUInt32LE(content.length, 4);
    expect(await splitIntoPieces(Buffer.concat([head, content]))).toBeUndefined();
  });

  test("reads a GIF of one-byte blocks in large chunks", async () => {
    const count = 20_000;
    const head = Buffer.from("GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02", "latin1");
    const file = Buffer.concat([head, Buffer.alloc(2 * count, Buffer.from([1, 7])), Buffer.from([0, 0x3b])]);
    const read = vi.fn(async (at: number, length: number) => file.subarray(at, at + length));
    expect(await cleanFile({ size: file.length, read })).toEqual([{ from: 0, to: file.length }]);
    expect(read.mock.calls.length).toBeLessThan(100);
    expect(await splitIntoPieces(file.subarray(0, -2))).toBeUndefined();
  });
});

const joinParts = (parts: readonly (Buffer | string)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));
function createBox(type: string, ...children: (Buffer | string)[]): Buffer {
  const content = joinParts(children);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
}
/** Creates the content of a box with timestamps. `length` includes the timestamps. */
const createTimedContent = (length: number) => Buffer.concat([Buffer.alloc(4), Buffer.alloc(8, 0x5a), Buffer.alloc(length - 12)]);
const urlBox = createBox("url ", "\0\0\0\x01");
const sampleEntry = createBox(
  "avc1",
  Buffer.alloc(42),
  Buffer.from(SECRET.padEnd(32)),
  Buffer.alloc(4),
  createBox("avcC", "SETUP"),
  createBox("uuid", SECRET),
);
const sampleTable = createBox(
  "stbl",
  createBox("stsd", "\0\0\0\0\0\0\0\x01", sampleEntry),
  createBox("stts", "\0\0\0\0\0\0\0\x01TIMES..."),
  createBox("sgpd", SECRET),
  createBox("meta", SECRET),
);
const createMediaInfo = (reference: Buffer) =>
  createBox(
    "minf",
    createBox("vmhd", Buffer.alloc(12)),
    createBox("hdlr", Buffer.alloc(24), SECRET),
    createBox("dinf", createBox("dref", "\0\0\0\0\0\0\0\x01", reference)),
    sampleTable,
  );
const createTrack = (handler: string, reference: Buffer) =>
  createBox(
    "trak",
    createBox("tkhd", createTimedContent(84)),
    createBox("udta", SECRET),
    createBox(
      "mdia",
      createBox("mdhd", createTimedContent(24)),
      createBox("hdlr", Buffer.alloc(8), handler, Buffer.alloc(12), SECRET),
      createMediaInfo(reference),
    ),
  );
const createVideo = (handler = "vide", reference = urlBox) =>
  Buffer.concat([
    createBox("ftyp", "isom", SECRET.slice(0, 4), "mp42", SECRET),
    createBox(
      "moov",
      createBox("mvhd", createTimedContent(100)),
      createTrack(handler, reference),
      createBox("udta", createBox("meta", SECRET)),
    ),
    createBox(
      "moof",
      createBox("mfhd", Buffer.alloc(8)),
      createBox("traf", createBox("tfhd", Buffer.alloc(8)), createBox("uuid", SECRET)),
      createBox("meta", SECRET),
    ),
    createBox("mdat", "PIXELS"),
    createBox("uuid", SECRET),
  ]);

function createElement(id: string, ...children: (Buffer | string)[]): Buffer {
  const content = joinParts(children);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(content.length));
  size[0] = 0x01;
  return Buffer.concat([Buffer.from(id, "hex"), size, content]);
}

/** Creates a Matroska file with one track of these elements. */
const createMatroska = (...trackElements: Buffer[]) =>
  Buffer.concat([
    createElement("1a45dfa3", createElement("4282", "webm")),
    createElement("18538067", createElement("1654ae6b", createElement("ae", ...trackElements)), createElement("1f43b675", "PIXELS")),
  ]);

describe("video files", () => {
  test.each(["meta", "subt", "text", "sbtl", "clcp"])("rejects an MP4 with a %s track", async (handler) => {
    expect(await splitIntoPieces(createVideo(handler))).toBeUndefined();
  });

  test("rejects a track without exactly one handler or type", async () => {
    const mediaHeader = createBox("mdhd", createTimedContent(24));
    const trackWithoutHandler = createBox(
      "trak",
      createBox("tkhd", createTimedContent(84)),
      createBox("mdia", mediaHeader, createMediaInfo(urlBox)),
    );
    const handlers = ["vide", "text"].map((handler) => createBox("hdlr", Buffer.alloc(8), handler));
    const trackWithTwoHandlers = createBox("trak", createBox("mdia", ...handlers));
    for (const bytes of [trackWithoutHandler, trackWithTwoHandlers])
      expect(await splitIntoPieces(Buffer.concat([createBox("ftyp", "isom"), createBox("moov", bytes)]))).toBeUndefined();
    expect(await splitIntoPieces(createMatroska(createElement("d7", "\x01"), createElement("86", "S_TEXT/UTF8")))).toBeUndefined();
  });

  test("rejects an MP4 with samples in an external file", async () => {
    for (const reference of [
      createBox("alis", "\0\0\0\0", SECRET),
      createBox("url ", "\0\0\0\0", SECRET),
      createBox("url ", "\0\0\0\x01", SECRET),
    ])
      expect(await splitIntoPieces(createVideo("vide", reference))).toBeUndefined();
  });

  test.each([
    [1, true],
    [2, true],
    [0x11, false],
    [0x12, false],
    [0x21, false],
  ])("cleans Matroska with a track of type %i: %s", async (type, isCleaned) => {
    const file = createMatroska(createElement("83", Buffer.from([type])), createElement("d7", "\x01"));
    expect((await splitIntoPieces(file)) !== undefined).toBe(isCleaned);
  });

  test("blanks the comments and pictures of FLAC in Matroska", async () => {
    const createBlock = (type: number, content: string) => Buffer.concat([Buffer.from([type, 0, 0, content.length]), Buffer.from(content)]);
    const codecData = createElement("63a2", "fLaC", createBlock(0, "STREAMINFO"), createBlock(4, SECRET), createBlock(0x86, SECRET));
    const file = createMatroska(createElement("83", "\x02"), codecData);
    const clean = await expectClean(file);
    expect(clean.length).toBe(file.length);
    expect(clean.indexOf("PIXELS")).toBe(file.indexOf("PIXELS"));
  });

  test("blanks the minor version of an MP4", async () => {
    expect((await expectClean(createVideo())).toString("latin1", 4, 20)).toBe("ftypisom\0\0\0\0mp42");
  });
});

describe("audio files", () => {
  const audioFrames = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(200, 7)]);

  test("rejects audio followed by an unsupported tag", async () => {
    const id3v1Tag = Buffer.concat([Buffer.from(`TAG${SECRET}`), Buffer.alloc(125 - SECRET.length)]);
    const tags = [`LYRICSBEGIN${SECRET}LYRICSEND`, `LYRICSBEGIN${SECRET}000026LYRICS200`, `${SECRET}3DI\x04\0\0\0\0\0\x0f`];
    for (const tag of tags)
      for (const trailer of [Buffer.alloc(0), id3v1Tag])
        expect([tag, await splitIntoPieces(Buffer.concat([audioFrames, Buffer.from(tag, "latin1"), trailer]))]).toEqual([tag, undefined]);
  });

  test.each(["fffe6800", "fff15080", "ffe00000", "fffbf064", "fffb9c64", "fffb9066", "ffeb9064"])(
    "rejects MP3 with the invalid frame header %s",
    async (header) => {
      expect(await splitIntoPieces(Buffer.concat([Buffer.from(header, "hex"), Buffer.from(SECRET)]))).toBeUndefined();
    },
  );
});

test("rejects truncated and unsupported files", async () => {
  const png = await createImage().png().toBuffer();
  const jpeg = await createImage().jpeg().toBuffer();
  const avif = await createImage().avif().toBuffer();
  const invalidFiles = [png.subarray(0, -5), jpeg.subarray(0, -2), createVideo().subarray(0, -1), avif];
  const texts = ["<svg/>", '{"a": 1}', "", "OggS\0\0", "\0\x01\x02"].map((text) => Buffer.from(text, "latin1"));
  for (const file of [...invalidFiles, ...texts.filter(({ length }) => length > 0)]) expect(await splitIntoPieces(file)).toBeUndefined();
  expect(await splitIntoPieces(Buffer.from("plain words\n"))).toEqual([{ from: 0, to: 12 }]);
});

test("recognizes cleanable files by name", () => {
  expect(["a.png", "b.JPEG", "c.mp4", "d.flac"].every((name) => isCleanable(name, undefined))).toBe(true);
  expect(["a.avif", "b.svg", "c.ogg", "d.glb", "e.json", "f"].some((name) => isCleanable(name, undefined))).toBe(false);
  expect(isCleanable("f", "image/png")).toBe(true);
});
