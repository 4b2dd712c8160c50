// Marks planted in every kind of chunk, segment and extension of a picture, at every position: none is in the cleaned file.
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { cleanFile } from "@/lib/server/shares/clean/clean";
import { cleaned } from "@/tests/support/clean-file";

const MARK = "a-mark-of-16-bytes-and-longer-than-any-field";

const getPixels = (file: Buffer) => sharp(file, { pages: -1 }).autoOrient().toColourspace("srgb").raw().toBuffer();
const pixelsOfPlain = new Map<Buffer, Promise<Buffer>>();

async function expectClean(name: string, file: Buffer, plain: Buffer): Promise<void> {
  const clean = await cleaned(file);
  if (!clean) throw new Error(`${name} was not cleaned`);
  expect([name, clean.includes(MARK.slice(0, 4))]).toEqual([name, false]);
  const pixels = pixelsOfPlain.get(plain) ?? getPixels(plain);
  pixelsOfPlain.set(plain, pixels);
  expect([name, clean.equals(plain) || (await getPixels(clean)).equals(await pixels)]).toEqual([name, true]);
  // Cleaning again changes nothing.
  expect([name, (await cleaned(clean))?.equals(clean)]).toEqual([name, true]);
}

const picture = sharp({ create: { width: 40, height: 24, channels: 3, background: "#3a7" } });
const insert = (file: Buffer, at: number, bytes: Buffer) => Buffer.concat([file.subarray(0, at), bytes, file.subarray(at)]);
const latin = (text: string) => Buffer.from(text, "latin1");

function pngChunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([latin(type), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

describe("PNG", async () => {
  const plain = await picture.clone().png().toBuffer();
  const IDAT = plain.indexOf("IDAT") - 4;
  const IEND = plain.indexOf("IEND") - 4;
  const exact: Record<string, number> = {
    gAMA: 4,
    cHRM: 32,
    sRGB: 1,
    cICP: 4,
    acTL: 8,
    fcTL: 26,
    PLTE: 3,
    tRNS: 6,
    sBIT: 3,
    pHYs: 9,
    bKGD: 6,
  };
  const types = [
    ...Object.keys(exact),
    "iCCP",
    "eXIf",
    "tEXt",
    "zTXt",
    "iTXt",
    "tIME",
    "sPLT",
    "hIST",
    "mDCV",
    "cLLI",
    "oFFs",
    "vpAg",
    "prIv",
    "fdAT",
  ];

  it.each(types)("loses a mark in %s, at every position", async (type) => {
    for (const [section, at] of Object.entries({ first: 33, "before pixels": IDAT, "after pixels": IEND, last: plain.length }))
      for (const content of [
        latin(MARK),
        Buffer.concat([Buffer.alloc(exact[type] ?? 0), latin(MARK)]),
        deflateSync(latin(MARK), { level: 0 }),
      ])
        await expectClean(`${type} ${section}`, insert(plain, at, pngChunk(type, content)), plain);
  });

  it("drops bytes after the end, also inside the last chunk", async () => {
    await expectClean("IEND", Buffer.concat([plain.subarray(0, IEND), pngChunk("IEND", latin(MARK)), latin(MARK)]), plain);
  });

  it("is refused with foreign bytes in its pixels or a longer header", async () => {
    const compressed = plain.subarray(IDAT + 8, IEND - 4);
    const withPixels = (...parts: Buffer[]) =>
      Buffer.concat([plain.subarray(0, IDAT), ...parts.map((part) => pngChunk("IDAT", part)), plain.subarray(IEND)]);
    const rows = Buffer.alloc(25 * (1 + 40 * 3), MARK);
    const unsummed = Buffer.concat([pngChunk("IDAT", Buffer.alloc(0)).subarray(0, 8), latin(MARK).subarray(0, 4)]);
    for (const file of [
      withPixels(compressed, latin(MARK)),
      withPixels(Buffer.concat([compressed, latin(MARK)])),
      withPixels(deflateSync(rows, { level: 0 })),
      insert(plain, IDAT, unsummed),
      Buffer.concat([plain.subarray(0, 8), pngChunk("IHDR", Buffer.concat([plain.subarray(16, 29), latin(MARK)])), plain.subarray(33)]),
    ])
      expect(await cleaned(file)).toBeUndefined();
    expect(await cleaned(withPixels(compressed.subarray(0, 20), compressed.subarray(20)))).toBeDefined();
  });

  it("is refused before its pixels are read if it claims more than 2 GiB of them", async () => {
    const size = Buffer.alloc(8);
    size.writeUInt32BE(100_000, 0);
    size.writeUInt32BE(100_000, 4);
    const header = pngChunk("IHDR", Buffer.concat([size, plain.subarray(24, 29)]));
    const file = Buffer.concat([plain.subarray(0, 8), header, plain.subarray(33)]);
    const readAt = (at: number, length: number) =>
      at < IDAT + 8 ? Promise.resolve(file.subarray(at, at + length)) : Promise.reject(new Error("pixels were read"));
    expect(await cleanFile({ size: file.length, read: readAt })).toBeUndefined();
  });

  it.each([
    ["interlaced", picture.clone().png({ progressive: true })],
    ["of 16 bits with alpha", picture.clone().ensureAlpha(0.5).toColourspace("rgb16").png()],
    ["grey", picture.clone().greyscale().png()],
    [
      "of a palette",
      picture
        .clone()
        .composite([{ input: { create: { width: 9, height: 9, channels: 4, background: "#f008" } } }])
        .png({ palette: true }),
    ],
  ])("keeps the pixels of %s", async (name, image) => {
    const file = await image.toBuffer();
    await expectClean(name, insert(file, 33, pngChunk("tEXt", latin(`a\0${MARK}`))), file);
  });

  it("keeps the frames of an animation and drops metadata between", async () => {
    const pixels = plain.subarray(IDAT + 8, IEND - 4);
    const control = (number: number) => {
      const content = Buffer.alloc(26);
      content.writeUInt32BE(number);
      content.writeUInt32BE(40, 4);
      content.writeUInt32BE(24, 8);
      content.writeUInt16BE(1, 20);
      return pngChunk("fcTL", content);
    };
    const [first, two] = [Buffer.from([0, 0, 0, 2]), Buffer.from([0, 0, 0, 0, 0, 0, 0, 0])];
    two.writeUInt32BE(2);
    const mark = pngChunk("prIv", latin(MARK));
    const frames = (between: Buffer) => [
      ...[plain.subarray(0, 33), pngChunk("acTL", two), between, control(0), plain.subarray(IDAT, IEND), between],
      ...[control(1), between, pngChunk("fdAT", Buffer.concat([first, pixels])), between, plain.subarray(IEND)],
    ];
    expect((await cleaned(Buffer.concat(frames(mark))))?.equals(Buffer.concat(frames(Buffer.alloc(0))))).toBe(true);
    const hidden = [...frames(mark).slice(0, -1), pngChunk("fdAT", Buffer.concat([first, latin(MARK)])), plain.subarray(IEND)];
    expect(await cleaned(Buffer.concat(hidden))).toBeUndefined();
    const numbered = frames(Buffer.alloc(0)).map((part) =>
      part.includes("fdAT") ? pngChunk("fdAT", Buffer.concat([latin("MARK"), pixels])) : part,
    );
    expect(await cleaned(Buffer.concat(numbered))).toBeUndefined();
  });
});

describe("JPEG", async () => {
  const segment = (marker: number, content: Buffer) => {
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
    "loses a mark in every segment, at every position (progressive: %s)",
    async (progressive) => {
      const plain = await picture.clone().jpeg({ progressive }).toBuffer();
      const scan = plain.indexOf(Buffer.from([0xff, 0xda]));
      const markers = [...Array.from({ length: 16 }, (_, index) => 0xe0 + index), 0xfe, 0xf0];
      for (const marker of markers)
        for (const name of names)
          // A name changes nothing about the position, so names are tried where decoders look first.
          for (const at of name === "" ? [2, scan, plain.length - 2, plain.length] : [2])
            await expectClean(`${marker} ${name} ${at}`, insert(plain, at, segment(marker, latin(name + MARK))), plain);
    },
    30_000,
  );

  it("is refused with a marker inside a table, frame or scan header", async () => {
    const plain = await picture.clone().jpeg().toBuffer();
    for (const marker of [0xdb, 0xc4, 0xc0, 0xda]) {
      const at = plain.indexOf(Buffer.from([0xff, marker]));
      const end = at + 2 + plain.readUInt16BE(at + 2);
      const longer = segment(marker, Buffer.concat([plain.subarray(at + 4, end), latin(MARK)]));
      expect([marker, await cleaned(Buffer.concat([plain.subarray(0, at), longer, plain.subarray(end)]))]).toEqual([marker, undefined]);
    }
  });

  it.each([0xdb, 0xc4, 0xc0])("is refused when a later segment redefines segment %i", async (marker) => {
    const plain = await picture.clone().jpeg().toBuffer();
    const at = plain.indexOf(Buffer.from([0xff, marker]));
    const end = at + 2 + plain.readUInt16BE(at + 2);
    const unused = Buffer.concat([plain.subarray(at + 4, end - MARK.length), latin(MARK)]);
    if (marker === 0xc0) plain.subarray(at + 4, end).copy(unused);
    expect(await cleaned(insert(plain, at, segment(marker, unused)))).toBeUndefined();
  });

  it("keeps four inks as they were inverted", async () => {
    const plain = await picture.clone().toColourspace("cmyk").jpeg().toBuffer();
    await expectClean("cmyk", insert(plain, 2, segment(0xfe, latin(MARK))), plain);
  });
});

describe("GIF", async () => {
  const frames = Buffer.concat([Buffer.alloc(40 * 24 * 3, 10), Buffer.alloc(40 * 24 * 3, 200)]);
  const plain = await sharp(frames, { raw: { width: 40, height: 48, channels: 3, pageHeight: 24 } })
    .gif({ loop: 3, delay: [100, 200] })
    .toBuffer();
  const block = (text: string) => Buffer.concat([Buffer.from([text.length]), latin(text)]);
  const extension = (label: number, ...blocks: string[]) =>
    Buffer.concat([Buffer.from([0x21, label]), ...blocks.map(block), Buffer.from([0])]);
  const controls = [...plain.keys()].filter((at) => plain[at] === 0x21 && plain[at + 1] === 0xf9);

  it("loses marks in every extension, at every position, and keeps loop and delays", async () => {
    for (const metadata of [
      extension(0xfe, MARK),
      extension(0x01, "x".repeat(12), MARK),
      Buffer.concat([extension(0xf9, MARK.slice(0, 4)), extension(0x01, "x".repeat(12), MARK)]),
      extension(0xff, "NETSCAPE2.0", MARK),
      extension(0xff, "NETSCAPE2.0", "\x01\x03\0", MARK),
      extension(0xff, "XMP DataXMP", MARK),
      extension(0xce, MARK),
    ])
      for (const at of [...controls, plain.length - 1, plain.length]) {
        const file = insert(plain, at, metadata);
        await expectClean(`${metadata.toString("latin1")} ${at}`, file, plain);
        expect(await sharp(await cleaned(file), { pages: -1 }).metadata()).toMatchObject({ loop: 3, delay: [100, 200] });
      }
  });

  it("is refused with a control of another length", async () => {
    expect(await cleaned(insert(plain, controls[0] ?? 0, extension(0xf9, "abcd", MARK)))).toBeUndefined();
  });
});

describe("WebP", async () => {
  const chunk = (type: string, content: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(content.length);
    return Buffer.concat([latin(type), size, content, Buffer.alloc(content.length % 2)]);
  };
  const withSize = (file: Buffer) => {
    const copy = Buffer.from(file);
    copy.writeUInt32LE(file.length - 8, 4);
    return copy;
  };
  const frames = Buffer.concat([Buffer.alloc(40 * 24 * 4, 90), Buffer.alloc(40 * 24 * 4, 200)]);
  const kinds = {
    lossy: await picture.clone().webp().toBuffer(),
    lossless: await picture.clone().webp({ lossless: true }).toBuffer(),
    alpha: await picture.clone().ensureAlpha(0.5).webp().toBuffer(),
    turned: await picture.clone().withMetadata({ orientation: 6 }).webp().toBuffer(),
    moving: await sharp(frames, { raw: { width: 40, height: 48, channels: 4, pageHeight: 24 } })
      .webp({ delay: [100, 200] })
      .toBuffer(),
  };

  it.each(Object.entries(kinds))("drops metadata in every chunk of %s at every position", async (kind, plain) => {
    for (const type of ["EXIF", "XMP ", "ICCP", "ANIM", "ALPH", "VP8 ", "VP8L", "ABCD"]) {
      const metadata = chunk(type, latin(MARK));
      await expectClean(`${kind} ${type} last`, withSize(Buffer.concat([plain, metadata])), plain);
      await expectClean(`${kind} ${type} after the end`, Buffer.concat([plain, metadata]), plain);
    }
    if (kind === "lossy" || kind === "lossless") return;
    await expectClean(`${kind} unknown`, withSize(insert(plain, 30, chunk("ABCD", latin(MARK)))), plain);
  });

  it("loses marks inside a frame", async () => {
    const { moving } = kinds;
    const at = moving.indexOf("ANMF");
    const length = moving.readUInt32LE(at + 4);
    const longer = chunk("ANMF", Buffer.concat([moving.subarray(at + 8, at + 8 + length), chunk("ABCD", latin(MARK))]));
    await expectClean("frame", withSize(Buffer.concat([moving.subarray(0, at), longer, moving.subarray(at + 8 + length)])), moving);
  });
});

it.each(["png", "jpeg", "webp"] as const)("drops the colour profile of a %s", async (format) => {
  const plain = await picture.clone().withIccProfile("p3").toFormat(format).toBuffer();
  expect((await sharp(plain).metadata()).icc).toBeDefined();
  expect((await sharp(await cleaned(plain)).metadata()).icc).toBeUndefined();
});
