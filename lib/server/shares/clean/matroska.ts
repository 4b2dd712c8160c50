// Removes tags, attachments, titles and names from WebM and Matroska. Removed parts are overwritten in place, as in mp4.ts.
// Outside the clusters (encoded video and audio), only known elements are kept, none longer than its format allows.

import "server-only";
import { type MediaReader, NotCleanableError, type Pieces, readExactly } from "./pieces";

const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const TRACK = 0xae;
const TRACK_TYPE = 0x83;
const CODEC = 0x86;
const CODEC_PRIVATE = 0x63a2;
const CONTENT_ENCODINGS = 0x6d80;
const keptElements: Readonly<Record<number, ReadonlySet<number>>> = {
  // Versions, limits and document type.
  [EBML]: new Set([0x4286, 0x42f7, 0x42f2, 0x42f3, 0x4282, 0x4287, 0x4285]),
  // Seek heads, info, tracks, cues, clusters.
  [SEGMENT]: new Set([0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, CLUSTER]),
  [0x114d9b74]: new Set([0x4dbb]),
  [0x4dbb]: new Set([0x53ab, 0x53ac]),
  // Time scale and duration. The names of the writing program are required, so they are emptied.
  [0x1549a966]: new Set([0x2ad7b1, 0x4489, 0x4d80, 0x5741]),
  [0x1654ae6b]: new Set([TRACK]),
  // Numbers, flags, language, codec, times, video, audio.
  [TRACK]: new Set([
    ...[0xd7, 0x73c5, TRACK_TYPE, 0xb9, 0x88, 0x55aa, 0x9c, 0x22b59c, CODEC, CODEC_PRIVATE, 0xaa, 0x6de7, 0x6df8],
    ...[0x23e383, 0x234e7a, 0x23314f, 0x55ee, 0x56aa, 0x56bb, 0xe0, 0xe1],
  ]),
  [0xe0]: new Set([0x9a, 0x9d, 0x53b8, 0x53c0, 0xb0, 0xba, 0x54aa, 0x54bb, 0x54cc, 0x54dd, 0x54b0, 0x54ba, 0x54b2, 0x54b3, 0x55b0]),
  [0xe1]: new Set([0xb5, 0x78b5, 0x9f, 0x6264]),
  // Colours, and mastering display metadata.
  [0x55b0]: new Set([...Array.from({ length: 13 }, (_, index) => 0x55b1 + index), 0x55d0]),
  [0x55d0]: new Set(Array.from({ length: 10 }, (_, index) => 0x55d1 + index)),
  [0x1c53bb6b]: new Set([0xbb]),
  [0xbb]: new Set([0xb3, 0xb7]),
  [0xb7]: new Set([0xf7, 0xf1, 0xf0, 0xb2, 0x5378]),
};
const emptiedElements = new Set([0x4d80, 0x5741]);
/** Long enough for a number or a short word. */
const MAX_ELEMENT_BYTES = 8;
const maxBytesByElement: Readonly<Record<number, number>> = { [CODEC]: 32, [CODEC_PRIVATE]: Infinity, [CLUSTER]: Infinity };
const allowedCodecs =
  /^(V_(VP8|VP9|AV1|MPEG1|MPEG2|MPEG4\/ISO\/(SP|ASP|AP|AVC)|MPEGH\/ISO\/HEVC|MJPEG|PRORES|FFV1|THEORA)|A_(VORBIS|OPUS|FLAC|AAC|ALAC|AC3|EAC3|DTS|MPEG\/L[123]|PCM\/(INT\/(LIT|BIG)|FLOAT\/IEEE)))\0*$/;

type ParentElement = { parent: number; from: number; to: number };

export async function cleanMatroska(file: MediaReader, out: Pieces): Promise<void> {
  const head = await readElement(file, 0, file.size);
  const segment = await readElement(file, head.end, file.size);
  if (segment.id !== SEGMENT) throw new NotCleanableError("no segment");
  out.keep(0, head.start);
  await walkElements(file, out, { parent: EBML, from: head.start, to: head.end });
  out.keep(head.end, segment.start);
  await walkElements(file, out, { parent: SEGMENT, from: segment.start, to: segment.end });
}

async function walkElements(file: MediaReader, out: Pieces, { parent, from, to }: ParentElement): Promise<void> {
  let isAllowed = parent !== TRACK;
  for (let offset = from; offset < to;) {
    const { id, start, end } = await readElement(file, offset, to);
    if (parent === TRACK && id === TRACK_TYPE) {
      isAllowed = await isAudioOrVideo(file, start, end);
      if (!isAllowed) break;
    }
    // Compressed frames need their encoding description, which can contain arbitrary bytes.
    if (parent === TRACK && id === CONTENT_ENCODINGS) throw new NotCleanableError("compressed frames are not supported");
    if (keptElements[parent]?.has(id) !== true) addVoidElement(out, end - offset);
    else if (keptElements[id]) {
      out.keep(offset, start);
      await walkElements(file, out, { parent: id, from: start, to: end });
    } else if (emptiedElements.has(id)) {
      out.keep(offset, start);
      out.addZeros(end - start);
    } else if (end - start > (maxBytesByElement[id] ?? MAX_ELEMENT_BYTES))
      throw new NotCleanableError("an element is longer than its format allows");
    else if (id === CODEC && !allowedCodecs.test((await readExactly(file, start, end - start)).toString("latin1")))
      throw new NotCleanableError("an unknown codec");
    else if (id === CODEC_PRIVATE) {
      out.keep(offset, start);
      await walkCodecPrivate(file, out, { from: start, to: end });
    } else out.keep(offset, end);
    offset = end;
  }
  if (!isAllowed) throw new NotCleanableError("a track is neither audio nor video");
}

/** An audio decoder's data. For FLAC and Vorbis it includes the tags of the original file. */
async function walkCodecPrivate(file: MediaReader, out: Pieces, { from, to }: { from: number; to: number }): Promise<void> {
  const head = await file.read(from, Math.min(to - from, 1024));
  if (head.toString("latin1", 0, 4) === "fLaC") {
    out.keep(from, from + 4);
    for (let offset = from + 4; offset < to;) {
      const block = await readExactly(file, offset, 4);
      const end = offset + 4 + block.readUIntBE(1, 3);
      if (end > to) throw new NotCleanableError("a block exceeds its parent");
      if (((block[0] ?? 0) & 0x7f) === 0) out.keep(offset, end);
      else {
        // The block becomes padding.
        out.add(Buffer.from([((block[0] ?? 0) & 0x80) | 1]));
        out.keep(offset + 1, offset + 4);
        out.addZeros(end - offset - 4);
      }
      offset = end;
    }
    return;
  }
  // Three packets, of which the second contains the tags. They are preceded by the lengths of the first two.
  const lengths: number[] = [0];
  let headerBytes = 1;
  for (; head[0] === 2 && headerBytes < head.length && lengths.length < 3; headerBytes++) {
    lengths.push((lengths.pop() ?? 0) + (head[headerBytes] ?? 0));
    if (head[headerBytes] !== 255) lengths.push(0);
  }
  const [firstLength = 0, secondLength = 0] = lengths;
  if (head.toString("latin1", headerBytes + 1, headerBytes + 7) !== "vorbis") return out.keep(from, to);
  const tagsStart = from + headerBytes + firstLength;
  const paddingBytes = secondLength - 7 - 4 - 4 - 1;
  if (paddingBytes < 0 || tagsStart + secondLength > to || (await readExactly(file, tagsStart, 7)).toString("latin1") !== "\x03vorbis")
    throw new NotCleanableError("Vorbis comment header not found");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(paddingBytes);
  // An empty program name and no tags.
  out.keep(from, tagsStart + 7);
  out.add(length);
  out.addZeros(paddingBytes + 4);
  out.add(Buffer.from([1]));
  out.keep(tagsStart + secondLength, to);
}

async function isAudioOrVideo(file: MediaReader, from: number, to: number): Promise<boolean> {
  const type = to - from > 8 ? 0 : (await readExactly(file, from, to - from)).reduce((sum, byte) => sum * 256 + byte, 0);
  return type === 1 || type === 2;
}

async function readElement(file: MediaReader, offset: number, to: number): Promise<{ id: number; start: number; end: number }> {
  const bytes = await file.read(offset, 12);
  const idLength = Math.clz32(bytes[0] ?? 0) - 23;
  if (idLength > 4 || bytes.length < idLength + 1) throw new NotCleanableError("invalid element");
  const sizeLength = Math.clz32(bytes[idLength] ?? 0) - 23;
  if (sizeLength > 8 || bytes.length < idLength + sizeLength) throw new NotCleanableError("invalid element");
  const sizeBytes = [...bytes.subarray(idLength, idLength + sizeLength)];
  const size = sizeBytes.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & (0xff >> sizeLength) : byte), 0);
  const isUnknownSize = sizeBytes.every((byte, index) => (index === 0 ? byte | (0xff & ~(0xff >> sizeLength)) : byte) === 0xff);
  const start = offset + idLength + sizeLength;
  if (isUnknownSize || start + size > to) throw new NotCleanableError("an element has no end");
  return { id: bytes.readUIntBE(0, idLength), start, end: start + size };
}

function addVoidElement(out: Pieces, length: number): void {
  const head = Buffer.alloc(length > 128 ? 9 : 2);
  head[0] = 0xec;
  if (head.length === 2) head[1] = 0x80 | (length - 2);
  else {
    head.writeBigUInt64BE(BigInt(length - 9), 1);
    head[1] = 0x01;
  }
  out.add(head);
  out.addZeros(length - head.length);
}
