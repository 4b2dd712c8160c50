// Real video and audio files (tests/fixtures/media): streams stay unchanged, and all metadata is removed.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isCleanable } from "@/lib/server/shares/clean/clean";
import { cleanAndVerify as cleanFile, splitIntoPieces } from "@/tests/support/clean-file";

const SECRET = "a-secret-prompt";
const readFixture = (name: string) => readFile(join("tests/fixtures/media", name));
async function cleanFixture(name: string): Promise<Buffer> {
  const clean = await cleanFile(await readFixture(name));
  if (!clean) throw new Error(`${name} was not cleaned`);
  return clean;
}

type Part = { name: string; content: Buffer };
type Format = {
  split: (content: Buffer) => Part[];
  join: (name: string, content: Buffer) => Buffer;
  isParent: RegExp;
  /** The encoded streams. */
  isStream: RegExp;
};
const mp4: Format = {
  split(content) {
    const parts = [];
    for (let at = 0; at < content.length; at += content.readUInt32BE(at))
      parts.push({ name: content.toString("latin1", at + 4, at + 8), content: content.subarray(at + 8, at + content.readUInt32BE(at)) });
    return parts;
  },
  join(name, content) {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + content.length);
    head.write(name, 4, "latin1");
    return Buffer.concat([head, content]);
  },
  isParent: /^(moov|mvex|trak|edts|mdia|minf|dinf|stbl|moof|traf)$/,
  isStream: /^mdat$/,
};
const matroska: Format = {
  split(content) {
    const parts = [];
    for (let at = 0; at < content.length;) {
      const idEnd = at + Math.clz32(content[at] ?? 0) - 23;
      const sizeLength = Math.clz32(content[idEnd] ?? 0) - 23;
      const sizeBytes = [...content.subarray(idEnd, idEnd + sizeLength)];
      const size = sizeBytes.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & (0xff >> sizeLength) : byte), 0);
      const start = idEnd + sizeLength;
      parts.push({ name: content.toString("hex", at, idEnd), content: content.subarray(start, start + size) });
      at = start + size;
    }
    return parts;
  },
  join(name, content) {
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(content.length));
    size[0] = 0x01;
    return Buffer.concat([Buffer.from(name, "hex"), size, content]);
  },
  isParent: /^(1a45dfa3|18538067|114d9b74|4dbb|1549a966|1654ae6b|ae|e0|e1|55b0|1c53bb6b|bb|b7)$/,
  isStream: /^(1f43b675|63a2)$/,
};

type Section = { path: string; content: Buffer };

/** Returns the boxes or elements of a file, including nested ones below `parents`. */
function listSections(format: Format, file: Buffer, parents: RegExp, path = ""): Section[] {
  return format.split(file).flatMap(({ name, content }) => {
    const section = { path: `${path}/${name}`, content };
    return parents.test(name) ? listSections(format, content, parents, section.path) : [section];
  });
}
const listBoxes = (file: Buffer) => listSections(mp4, file, /^(moov|trak|mdia|minf|stbl|moof|traf)$/);
const listElements = (file: Buffer) => listSections(matroska, file, /^(18538067|1654ae6b|ae|1c53bb6b|bb|b7)$/);

const collectPaths = (sections: readonly Section[]) => new Set(sections.map(({ path }) => path));
const filterByPath = (sections: readonly Section[], pattern: RegExp) => sections.filter(({ path }) => pattern.test(path));

describe.each(["film.mp4", "film.mov", "fragments.mp4"])("%s", (name) => {
  test("keeps the same samples and removes all metadata", async () => {
    const file = await readFixture(name);
    const clean = await cleanFixture(name);
    expect(file.includes(SECRET)).toBe(true);
    for (const text of [SECRET, "Lavf", "udta", "meta"]) expect([text, clean.includes(text)]).toEqual([text, false]);
    expect(clean.length).toBe(file.length);
    const [before, after] = [listBoxes(file), listBoxes(clean)];
    const streamPattern = /mdat$|stbl\/(?!stsd)|traf\/|trex$|elst$|dinf$|tref$/;
    expect(filterByPath(after, streamPattern)).toEqual(filterByPath(before, streamPattern));
    // Decoder configuration without vendor and compressor names.
    for (const text of ["esds", "avcC", "chan", "pasp"]) expect([text, clean.includes(text)]).toEqual([text, file.includes(text)]);
    for (const { path, content } of filterByPath(after, /(mvhd|tkhd|mdhd)$/))
      expect([path, content.readBigUInt64BE(4)]).toEqual([path, 0n]);
    expect(filterByPath(before, /mvhd$/)[0]?.content.readBigUInt64BE(4)).not.toBe(0n);
  });
});

describe.each(["film.webm", "film.mkv"])("%s", (name) => {
  test("keeps the frames and audio and removes all metadata", async () => {
    const file = await readFixture(name);
    const clean = await cleanFixture(name);
    expect(file.includes(SECRET)).toBe(true);
    for (const text of [SECRET, "Lavf", "encoder="]) expect([text, clean.includes(text)]).toEqual([text, false]);
    expect(clean.length).toBe(file.length);
    const [before, after] = [listElements(file), listElements(clean)];
    // Clusters, cues, and the decoding parameters of tracks.
    const streamPattern = /\/(1f43b675|1c53bb6b\/bb\/.*|1654ae6b\/ae\/(83|86|e0|e1|23e383))$/;
    expect(filterByPath(after, streamPattern)).toEqual(filterByPath(before, streamPattern));
    // Tags, attachments, chapters, and track names.
    expect([...collectPaths(before)].filter((path) => /1254c367|1941a469|1043a770|536e$/.test(path)).length).toBeGreaterThan(1);
    expect([...collectPaths(after)].filter((path) => /1254c367|1941a469|1043a770|536e$/.test(path))).toEqual([]);
  });
});

test("keeps a WebM audio file's codec data without tags", async () => {
  const [before, after] = [await readFixture("film.webm"), await cleanFixture("film.webm")].map((file) =>
    listElements(file)
      .find(({ path, content }) => path.endsWith("/63a2") && content.includes("vorbis"))
      ?.content.toString("latin1"),
  );
  expect(before).toContain("encoder=Lavc");
  expect(after).not.toContain("Lavc");
  const lastPacket = before?.slice(before.lastIndexOf("\x05vorbis"));
  expect(after?.endsWith(lastPacket ?? "none")).toBe(true);
});

test("keeps only the frames of sound.mp3", async () => {
  const file = await readFixture("sound.mp3");
  const clean = await cleanFixture("sound.mp3");
  const start = file.indexOf(clean);
  expect(start).toBeGreaterThan(0);
  expect(file.toString("latin1", 0, 3)).toBe("ID3");
  // The length of the tag, seven bits in each byte.
  expect(start).toBe(10 + [...file.subarray(6, 10)].reduce((sum, byte) => sum * 128 + byte, 0));
  expect(start + clean.length).toBe(file.length - 128);
  expect(clean.includes(SECRET)).toBe(false);
});

test("keeps sound.flac's stream info and frames without comments and cover", async () => {
  const file = await readFixture("sound.flac");
  const clean = await cleanFixture("sound.flac");
  const findEndOfBlocks = (bytes: Buffer): number => {
    for (let at = 4; ;) {
      const isLast = ((bytes[at] ?? 0) & 0x80) !== 0;
      at += 4 + bytes.readUIntBE(at + 1, 3);
      if (isLast) return at;
    }
  };
  expect(clean.subarray(findEndOfBlocks(clean)).equals(file.subarray(findEndOfBlocks(file)))).toBe(true);
  // No other block is left.
  expect(findEndOfBlocks(clean)).toBe(42);
  expect(clean.subarray(8, 42).equals(file.subarray(8, 42))).toBe(true);
  for (const text of [SECRET, "Lavf", "\x89PNG"]) expect([text, clean.includes(text, "latin1")]).toEqual([text, false]);
});

test("rejects a time code track and Ogg audio", async () => {
  expect(await splitIntoPieces(await readFixture("timecode.mov"))).toBeUndefined();
  expect(await splitIntoPieces(await readFixture("sound.ogg"))).toBeUndefined();
  expect(isCleanable("sound.ogg", "audio/ogg")).toBe(false);
});

/** Each generated file has extra content in one box or element, or an extra sibling after it. */
describe("text inserted outside the encoded streams", () => {
  const INSERTED_TEXT = Buffer.from("inserted-text");
  function* insertText(format: Format, content: Buffer, path = ""): Generator<{ path: string; file: Buffer }> {
    const parts = format.split(content);
    for (const [index, part] of parts.entries()) {
      const joinParts = (sublist: typeof parts) => sublist.map(({ name, content }) => format.join(name, content));
      const replacePart = (...replacements: Buffer[]) =>
        Buffer.concat([...joinParts(parts.slice(0, index)), ...replacements, ...joinParts(parts.slice(index + 1))]);
      const partPath = `${path}/${part.name}`;
      const sibling = format === mp4 ? format.join("free", INSERTED_TEXT) : format.join("ec", INSERTED_TEXT);
      yield { path: `after ${partPath}`, file: replacePart(format.join(part.name, part.content), sibling) };
      if (!format.isStream.test(part.name))
        yield { path: partPath, file: replacePart(format.join(part.name, Buffer.concat([part.content, INSERTED_TEXT]))) };
      if (format.isParent.test(part.name))
        for (const child of insertText(format, part.content, partPath))
          yield { path: child.path, file: replacePart(format.join(part.name, child.file)) };
    }
  }

  test.each<[string, Format]>([
    ["film.mp4", mp4],
    ["film.mov", mp4],
    ["fragments.mp4", mp4],
    ["film.webm", matroska],
    ["film.mkv", matroska],
  ])("is removed from every box or element of %s", async (name, format) => {
    const remainingPaths: string[] = [];
    let count = 0;
    for (const { path, file } of insertText(format, await readFixture(name))) {
      count++;
      expect(file.includes(INSERTED_TEXT)).toBe(true);
      if ((await cleanFile(file))?.includes(INSERTED_TEXT)) remainingPaths.push(path);
    }
    expect(remainingPaths).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });
});
