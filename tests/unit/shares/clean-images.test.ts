// A marker inserted into any chunk, segment or extension of an image must not be in the cleaned file.
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { cleanFile } from "@/lib/server/shares/clean/clean";
import { cleanAndVerify } from "@/tests/support/clean-file";

const MARKER = "a-mark-of-16-bytes-and-longer-than-any-field";

const getPixels = (file: Buffer) => sharp(file, { pages: -1 }).autoOrient().toColourspace("srgb").raw().toBuffer();
const pixelsByOriginal = new Map<Buffer, Promise<Buffer>>();

async function expectClean(name: string, file: Buffer, plain: Buffer): Promise<void> {
  const clean = await cleanAndVerify(file);
  if (!clean) throw new Error(`${name} was not cleaned`);
  expect([name, clean.includes(MARKER.slice(0, 4))]).toEqual([name, false]);
  const pixels = pixelsByOriginal.get(plain) ?? getPixels(plain);
  pixelsByOriginal.set(plain, pixels);
  expect([name, clean.equals(plain) || (await getPixels(clean)).equals(await pixels)]).toEqual([name, true]);
  // Cleaning again changes nothing.
  expect([name, (await cleanAndVerify(clean))?.equals(clean)]).toEqual([name, true]);
}

const sampleImage = sharp({ create: { width: 40, height: 24, channels: 3, background: "#3a7" } });
const insertBytes = (file: Buffer, at: number, bytes: Buffer) => Buffer.concat([file.subarray(0, at), bytes, file.subarray(at)]);
const toLatin1 = (text: string) => Buffer.from(text, "latin1");

function createPngChunk(type: string, content: Buffer): Buffer {
  const typeAndContent = Buffer.concat([toLatin1(type), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(typeAndContent));
  return Buffer.concat([length, typeAndContent, checksum]);
}

describe("PNG", async () => {
  const plain = await sampleImage.clone().png().toBuffer();
  const IDAT = plain.indexOf("IDAT") - 4;
  const IEND = plain.indexOf("IEND") - 4;
  const minContentLengths: Record<string, number> = {
    ...{ gAMA: 4, cHRM: 32, sRGB: 1, cICP: 4, acTL: 8, fcTL: 26, PLTE: 3, tRNS: 6, sBIT: 3, pHYs: 9, bKGD: 6 },
  };
  const otherTypes = "iCCP eXIf tEXt zTXt iTXt tIME sPLT hIST mDCV cLLI oFFs vpAg prIv fdAT".split(" ");

  it.each([...Object.keys(minContentLengths), ...otherTypes])("removes a marker in %s at every position", async (type) => {
    for (const [section, at] of Object.entries({ first: 33, "before pixels": IDAT, "after pixels": IEND, last: plain.length }))
      for (const content of [
        toLatin1(MARKER),
        Buffer.concat([Buffer.alloc(minContentLengths[type] ?? 0), toLatin1(MARKER)]),
        deflateSync(toLatin1(MARKER), { level: 0 }),
      ])
        await expectClean(`${type} ${section}`, insertBytes(plain, at, createPngChunk(type, content)), plain);
  });

  it("removes bytes after the end and inside the last chunk", async () => {
    await expectClean("IEND", Buffer.concat([plain.subarray(0, IEND), createPngChunk("IEND", toLatin1(MARKER)), toLatin1(MARKER)]), plain);
  });

  it("is rejected when its pixel data or header has extra bytes", async () => {
    const compressed = plain.subarray(IDAT + 8, IEND - 4);
    const withPixels = (...parts: Buffer[]) =>
      Buffer.concat([plain.subarray(0, IDAT), ...parts.map((part) => createPngChunk("IDAT", part)), plain.subarray(IEND)]);
    const uncompressedRows = Buffer.alloc(25 * (1 + 40 * 3), MARKER);
    const chunkWithoutChecksum = Buffer.concat([createPngChunk("IDAT", Buffer.alloc(0)).subarray(0, 8), toLatin1(MARKER).subarray(0, 4)]);
    for (const file of [
      withPixels(compressed, toLatin1(MARKER)),
      withPixels(Buffer.concat([compressed, toLatin1(MARKER)])),
      withPixels(deflateSync(uncompressedRows, { level: 0 })),
      insertBytes(plain, IDAT, chunkWithoutChecksum),
      Buffer.concat([
        plain.subarray(0, 8),
        createPngChunk("IHDR", Buffer.concat([plain.subarray(16, 29), toLatin1(MARKER)])),
        plain.subarray(33),
      ]),
    ])
      expect(await cleanAndVerify(file)).toBeUndefined();
    expect(await cleanAndVerify(withPixels(compressed.subarray(0, 20), compressed.subarray(20)))).toBeDefined();
  });

  it("is rejected before reading pixels when it declares more than 2 GiB", async () => {
    const size = Buffer.alloc(8);
    size.writeUInt32BE(100_000, 0);
    size.writeUInt32BE(100_000, 4);
    const header = createPngChunk("IHDR", Buffer.concat([size, plain.subarray(24, 29)]));
    const file = Buffer.concat([plain.subarray(0, 8), header, plain.subarray(33)]);
    const readAt = (at: number, length: number) =>
      at < IDAT + 8 ? Promise.resolve(file.subarray(at, at + length)) : Promise.reject(new Error("pixels were read"));
    expect(await cleanFile({ size: file.length, read: readAt })).toBeUndefined();
  });

  it.each([
    ["interlaced", sampleImage.clone().png({ progressive: true })],
    ["16-bit with alpha", sampleImage.clone().ensureAlpha(0.5).toColourspace("rgb16").png()],
    ["grey", sampleImage.clone().greyscale().png()],
    [
      "palette",
      sampleImage
        .clone()
        .composite([{ input: { create: { width: 9, height: 9, channels: 4, background: "#f008" } } }])
        .png({ palette: true }),
    ],
  ])("keeps the pixels of this variant: %s", async (name, image) => {
    const file = await image.toBuffer();
    await expectClean(name, insertBytes(file, 33, createPngChunk("tEXt", toLatin1(`a\0${MARKER}`))), file);
  });

  it("keeps the frames of an animation and removes metadata between them", async () => {
    const pixels = plain.subarray(IDAT + 8, IEND - 4);
    const createFrameControl = (number: number) => {
      const content = Buffer.alloc(26);
      content.writeUInt32BE(number);
      content.writeUInt32BE(40, 4);
      content.writeUInt32BE(24, 8);
      content.writeUInt16BE(1, 20);
      return createPngChunk("fcTL", content);
    };
    const [sequenceNumber, animationControl] = [Buffer.from([0, 0, 0, 2]), Buffer.from([0, 0, 0, 0, 0, 0, 0, 0])];
    animationControl.writeUInt32BE(2);
    const markerChunk = createPngChunk("prIv", toLatin1(MARKER));
    const listChunks = (metadata: Buffer) => [
      ...[
        plain.subarray(0, 33),
        createPngChunk("acTL", animationControl),
        metadata,
        createFrameControl(0),
        plain.subarray(IDAT, IEND),
        metadata,
      ],
      ...[createFrameControl(1), metadata, createPngChunk("fdAT", Buffer.concat([sequenceNumber, pixels])), metadata, plain.subarray(IEND)],
    ];
    expect((await cleanAndVerify(Buffer.concat(listChunks(markerChunk))))?.equals(Buffer.concat(listChunks(Buffer.alloc(0))))).toBe(true);
    const chunksWithMarkerFrame = [
      ...listChunks(markerChunk).slice(0, -1),
      createPngChunk("fdAT", Buffer.concat([sequenceNumber, toLatin1(MARKER)])),
      plain.subarray(IEND),
    ];
    expect(await cleanAndVerify(Buffer.concat(chunksWithMarkerFrame))).toBeUndefined();
    const chunksWithWrongNumber = listChunks(Buffer.alloc(0)).map((part) =>
      part.includes("fdAT") ? createPngChunk("fdAT", Buffer.concat([toLatin1("MARK"), pixels])) : part,
    );
    expect(await cleanAndVerify(Buffer.concat(chunksWithWrongNumber))).toBeUndefined();
  });
});

describe("JPEG", async () => {
  const createSegment = (marker: number, content: Buffer) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([head, content]);
  };
  const names = [
    "",
    "JFIF\0\x01\x01\0\0\x01\0\x01\x04\x03",
    "JFXX\0\x13",
    "Exif\0\0",
    "ICC_PROFILE\0\x01\x01",
    "Adobe\0d\0\0\0\0\x01",
    "Photoshop 3.0\0",
    "MPF\0",
  ];

  it.each([false, true])(
    "removes a marker in every segment at every position (progressive: %s)",
    async (progressive) => {
      const plain = await sampleImage.clone().jpeg({ progressive }).toBuffer();
      const scan = plain.indexOf(Buffer.from([0xff, 0xda]));
      const markers = [...Array.from({ length: 16 }, (_, index) => 0xe0 + index), 0xfe, 0xf0];
      for (const marker of markers)
        for (const name of names)
          // The name doesn't affect other positions, so names are tested only at the start.
          for (const at of name === "" ? [2, scan, plain.length - 2, plain.length] : [2])
            await expectClean(`${marker} ${name} ${at}`, insertBytes(plain, at, createSegment(marker, toLatin1(name + MARKER))), plain);
    },
    30_000,
  );

  it("is rejected when a table, frame or scan header has extra bytes", async () => {
    const plain = await sampleImage.clone().jpeg().toBuffer();
    for (const marker of [0xdb, 0xc4, 0xc0, 0xda]) {
      const at = plain.indexOf(Buffer.from([0xff, marker]));
      const end = at + 2 + plain.readUInt16BE(at + 2);
      const longerSegment = createSegment(marker, Buffer.concat([plain.subarray(at + 4, end), toLatin1(MARKER)]));
      expect([marker, await cleanAndVerify(Buffer.concat([plain.subarray(0, at), longerSegment, plain.subarray(end)]))]).toEqual([
        marker,
        undefined,
      ]);
    }
  });

  it.each([0xdb, 0xc4, 0xc0])("is rejected when a later segment redefines segment %i", async (marker) => {
    const plain = await sampleImage.clone().jpeg().toBuffer();
    const at = plain.indexOf(Buffer.from([0xff, marker]));
    const end = at + 2 + plain.readUInt16BE(at + 2);
    const unusedContent = Buffer.concat([plain.subarray(at + 4, end - MARKER.length), toLatin1(MARKER)]);
    if (marker === 0xc0) plain.subarray(at + 4, end).copy(unusedContent);
    expect(await cleanAndVerify(insertBytes(plain, at, createSegment(marker, unusedContent)))).toBeUndefined();
  });

  it("keeps inverted CMYK values", async () => {
    const plain = await sampleImage.clone().toColourspace("cmyk").jpeg().toBuffer();
    await expectClean("cmyk", insertBytes(plain, 2, createSegment(0xfe, toLatin1(MARKER))), plain);
  });
});

describe("GIF", async () => {
  const frames = Buffer.concat([Buffer.alloc(40 * 24 * 3, 10), Buffer.alloc(40 * 24 * 3, 200)]);
  const plain = await sharp(frames, { raw: { width: 40, height: 48, channels: 3, pageHeight: 24 } })
    .gif({ loop: 3, delay: [100, 200] })
    .toBuffer();
  const createBlock = (text: string) => Buffer.concat([Buffer.from([text.length]), toLatin1(text)]);
  const createExtension = (label: number, ...blocks: string[]) =>
    Buffer.concat([Buffer.from([0x21, label]), ...blocks.map(createBlock), Buffer.from([0])]);
  const controlOffsets = [...plain.keys()].filter((at) => plain[at] === 0x21 && plain[at + 1] === 0xf9);

  it("removes markers in every extension and keeps the loop count and delays", async () => {
    for (const metadata of [
      createExtension(0xfe, MARKER),
      createExtension(0x01, "x".repeat(12), MARKER),
      Buffer.concat([createExtension(0xf9, MARKER.slice(0, 4)), createExtension(0x01, "x".repeat(12), MARKER)]),
      createExtension(0xff, "NETSCAPE2.0", MARKER),
      createExtension(0xff, "NETSCAPE2.0", "\x01\x03\0", MARKER),
      createExtension(0xff, "XMP DataXMP", MARKER),
      createExtension(0xce, MARKER),
    ])
      for (const at of [...controlOffsets, plain.length - 1, plain.length]) {
        const file = insertBytes(plain, at, metadata);
        await expectClean(`${metadata.toString("latin1")} ${at}`, file, plain);
        expect(await sharp(await cleanAndVerify(file), { pages: -1 }).metadata()).toMatchObject({ loop: 3, delay: [100, 200] });
      }
  });

  it("is rejected when a graphic control has a wrong length", async () => {
    expect(await cleanAndVerify(insertBytes(plain, controlOffsets[0] ?? 0, createExtension(0xf9, "abcd", MARKER)))).toBeUndefined();
  });
});

describe("WebP", async () => {
  const createChunk = (type: string, content: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(content.length);
    return Buffer.concat([toLatin1(type), size, content, Buffer.alloc(content.length % 2)]);
  };
  const withSize = (file: Buffer) => {
    const copy = Buffer.from(file);
    copy.writeUInt32LE(file.length - 8, 4);
    return copy;
  };
  const frames = Buffer.concat([Buffer.alloc(40 * 24 * 4, 90), Buffer.alloc(40 * 24 * 4, 200)]);
  const images = {
    lossy: await sampleImage.clone().webp().toBuffer(),
    lossless: await sampleImage.clone().webp({ lossless: true }).toBuffer(),
    alpha: await sampleImage.clone().ensureAlpha(0.5).webp().toBuffer(),
    turned: await sampleImage.clone().withMetadata({ orientation: 6 }).webp().toBuffer(),
    moving: await sharp(frames, { raw: { width: 40, height: 48, channels: 4, pageHeight: 24 } })
      .webp({ delay: [100, 200] })
      .toBuffer(),
  };

  it.each(Object.entries(images))("removes metadata in every chunk of a %s image at every position", async (name, plain) => {
    for (const type of ["EXIF", "XMP ", "ICCP", "ANIM", "ALPH", "VP8 ", "VP8L", "ABCD"]) {
      const metadata = createChunk(type, toLatin1(MARKER));
      await expectClean(`${name} ${type} last`, withSize(Buffer.concat([plain, metadata])), plain);
      await expectClean(`${name} ${type} after the end`, Buffer.concat([plain, metadata]), plain);
    }
    if (name === "lossy" || name === "lossless") return;
    await expectClean(`${name} unknown`, withSize(insertBytes(plain, 30, createChunk("ABCD", toLatin1(MARKER)))), plain);
  });

  it("removes a marker inside a frame", async () => {
    const { moving } = images;
    const at = moving.indexOf("ANMF");
    const length = moving.readUInt32LE(at + 4);
    const longerFrame = createChunk(
      "ANMF",
      Buffer.concat([moving.subarray(at + 8, at + 8 + length), createChunk("ABCD", toLatin1(MARKER))]),
    );
    await expectClean("frame", withSize(Buffer.concat([moving.subarray(0, at), longerFrame, moving.subarray(at + 8 + length)])), moving);
  });
});

it.each(["png", "jpeg", "webp"] as const)("removes the colour profile of a %s", async (format) => {
  const plain = await sampleImage.clone().withIccProfile("p3").toFormat(format).toBuffer();
  expect((await sharp(plain).metadata()).icc).toBeDefined();
  expect((await sharp(await cleanAndVerify(plain)).metadata()).icc).toBeUndefined();
});
