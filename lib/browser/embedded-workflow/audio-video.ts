import {
  type ByteReader,
  concatBytes,
  createView,
  decodeBytes,
  decodeLatin1,
  sliceOrThrow,
  type TextCollector,
  UnreadableFileError,
} from "./byte-reader";

/** `isTruncated`: the declared end of the box is beyond the end of its parent. */
type Box = { type: string; from: number; to: number; isTruncated: boolean };

function readBox(head: Uint8Array, offset: number, end: number): Box | undefined {
  const view = createView(head);
  const [shortSize, type] = [view.getUint32(0), decodeLatin1(head.subarray(4, 8))];
  const has64BitSize = shortSize === 1 && head.length >= 16;
  const size = has64BitSize ? Number(view.getBigUint64(8)) : shortSize === 0 ? end - offset : shortSize;
  const from = offset + (has64BitSize ? 16 : 8);
  return offset + size < from ? undefined : { type, from, to: Math.min(offset + size, end), isTruncated: offset + size > end };
}

export async function* readBoxes(reader: ByteReader, from: number, to: number): AsyncGenerator<Box> {
  for (let offset = from; offset + 8 <= to;) {
    const box = readBox(await reader.read(offset, Math.min(16, to - offset)), offset, to);
    if (!box) return;
    yield box;
    offset = box.to;
  }
}

export function* listBoxes(block: Uint8Array, from: number, to: number): Generator<Box> {
  for (let offset = from; offset + 8 <= to;) {
    const box = readBox(block.subarray(offset, Math.min(offset + 16, to)), offset, to);
    if (!box) return;
    yield box;
    offset = box.to;
  }
}

export async function readMovieTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  let isComplete = false;
  for await (const box of readBoxes(reader, 0, reader.size)) {
    if (box.type !== "moov") continue;
    isComplete = !box.isTruncated;
    for await (const childBox of readBoxes(reader, box.from, box.to)) {
      if (childBox.type === "meta") await readMeta(reader, childBox, texts);
      if (childBox.type !== "udta") continue;
      for await (const userBox of readBoxes(reader, childBox.from, childBox.to)) {
        if (userBox.type === "meta") await readMeta(reader, userBox, texts);
        if (userBox.type === "©cmt" && userBox.to - userBox.from > 4) {
          const content = await reader.read(userBox.from, userBox.to - userBox.from);
          texts.add("comment", decodeBytes(sliceOrThrow(content, 4, Math.min(content.length, 4 + createView(content).getUint16(0)))));
        }
      }
    }
  }
  if (!isComplete && !texts.isDone()) throw new UnreadableFileError("damaged");
}

async function readMeta(reader: ByteReader, { from, to, isTruncated }: Box, texts: TextCollector): Promise<void> {
  if (isTruncated) throw new UnreadableFileError("damaged");
  const meta = await reader.read(from, to - from);
  // QuickTime boxes have no version field.
  const boxes = [...listBoxes(meta, decodeLatin1(meta.subarray(4, 8)) === "hdlr" ? 0 : 4, meta.length)];
  const keys = boxes.flatMap((box) => (box.type === "keys" ? listKeys(meta, box) : []));
  for (const list of boxes.filter(({ type }) => type === "ilst")) {
    for (const item of listBoxes(meta, list.from, list.to)) {
      const childBoxes = [...listBoxes(meta, item.from, item.to)];
      const nameBox = childBoxes.find(({ type }) => type === "name");
      const key =
        item.type === "©cmt"
          ? "comment"
          : item.type === "----" && nameBox
            ? decodeLatin1(meta.subarray(nameBox.from + 4, nameBox.to))
            : keys[createView(meta).getUint32(item.from - 4) - 1];
      const dataBox = childBoxes.find(({ type }) => type === "data");
      if (key === undefined || !dataBox || !texts.shouldRead(key)) continue;
      if (dataBox.isTruncated || item.isTruncated) throw new UnreadableFileError("damaged");
      texts.add(key, decodeBytes(sliceOrThrow(meta, dataBox.from + 8, dataBox.to)));
    }
  }
}

function listKeys(meta: Uint8Array, { from, to }: Box): string[] {
  return [...listBoxes(meta, from + 8, to)].map((key) => decodeLatin1(meta.subarray(key.from, key.to)));
}

const [SEGMENT, CLUSTER, TAGS, TAG, SIMPLE_TAG, NAME, TEXT] = [0x18538067, 0x1f43b675, 0x1254c367, 0x7373, 0x67c8, 0x45a3, 0x4487];
const MAX_TAG_DEPTH = 8;
const MAX_HEADER_BYTES = 12;

function readElement(head: Uint8Array): { id: number; size?: number; headBytes: number } | undefined {
  const idBytes = Math.clz32(head[0] ?? 0) - 23;
  const firstSizeByte = head[idBytes] ?? 0;
  const sizeBytes = Math.clz32(firstSizeByte) - 23;
  if (idBytes > 4 || sizeBytes > 8 || idBytes + sizeBytes > head.length) return undefined;
  const id = head.subarray(0, idBytes).reduce((value, byte) => value * 256 + byte, 0);
  const marker = 2 ** (8 - sizeBytes);
  const size = head.subarray(idBytes + 1, idBytes + sizeBytes).reduce((value, byte) => value * 256 + byte, firstSizeByte - marker);
  const hasKnownSize = size !== 2 ** (7 * sizeBytes) - 1;
  return { id, ...(hasKnownSize && { size }), headBytes: idBytes + sizeBytes };
}

export async function readMatroskaTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  for (let offset = 0; offset + 2 <= reader.size && !texts.isDone();) {
    const element = readElement(await reader.read(offset, Math.min(MAX_HEADER_BYTES, reader.size - offset)));
    if (!element) throw new UnreadableFileError("damaged");
    const { id, size, headBytes } = element;
    offset += headBytes;
    if (id === TAGS && size !== undefined) readSimpleTags(await reader.read(offset, size), texts, MAX_TAG_DEPTH);
    // Enters segments, and clusters of unknown size, instead of skipping them.
    if (id === SEGMENT || (id === CLUSTER && size === undefined)) continue;
    if (size === undefined) throw new UnreadableFileError("damaged");
    offset += size;
  }
}

function readSimpleTags(block: Uint8Array<ArrayBuffer>, texts: TextCollector, maxDepth: number): void {
  let name = "";
  for (let offset = 0; offset + 2 <= block.length;) {
    const element = readElement(block.subarray(offset, offset + MAX_HEADER_BYTES));
    if (element?.size === undefined) throw new UnreadableFileError("damaged");
    const content = sliceOrThrow(block, offset + element.headBytes, offset + element.headBytes + element.size);
    if (element.id === NAME) name = decodeLatin1(content.subarray(0, 80));
    else if (element.id === TEXT && texts.shouldRead(name)) texts.add(name, decodeBytes(content));
    else if ((element.id === TAG || element.id === SIMPLE_TAG) && maxDepth > 0) readSimpleTags(content, texts, maxDepth - 1);
    offset += element.headBytes + element.size;
  }
}

const MAX_KEYWORD_LENGTH = 80;

export async function readFlacTexts(reader: ByteReader, texts: TextCollector, start = 0): Promise<void> {
  for (let offset = start + 4, isLast = false; !isLast && offset + 4 <= reader.size;) {
    const head = createView(await reader.read(offset, 4)).getUint32(0);
    const length = head & 0xffffff;
    isLast = head >>> 31 === 1;
    if (((head >>> 24) & 0x7f) === 4) readVorbisComments(await reader.read(offset + 4, length), texts);
    offset += 4 + length;
  }
}

/** Reads the vendor string, the number of comments, and length-prefixed comments of the form NAME=text. */
function readVorbisComments(block: Uint8Array<ArrayBuffer>, texts: TextCollector): void {
  const view = createView(block);
  const readLength = (position: number) => {
    if (position + 4 > block.length) throw new UnreadableFileError("damaged");
    return view.getUint32(position, true);
  };
  let offset = 4 + readLength(0);
  const count = readLength(offset);
  offset += 4;
  for (let index = 0; index < count && !texts.isDone(); index++) {
    const from = offset + 4;
    const to = from + readLength(offset);
    const [prefix = "", name = ""] = /^(\w+)=/.exec(decodeLatin1(block.subarray(from, Math.min(to, from + MAX_KEYWORD_LENGTH)))) ?? [];
    if (prefix !== "" && texts.shouldRead(name)) texts.add(name, decodeBytes(sliceOrThrow(block, from + prefix.length, to)));
    offset = to;
  }
}

const MAX_PACKET_BYTES = 12_000_000;

/** The second packet of the first stream contains the comments. It may span many pages. */
export async function readOggTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  const packetParts: Uint8Array<ArrayBuffer>[] = [];
  let firstStream: number | undefined;
  let completedPackets = 0;
  let packetBytes = 0;
  for (let offset = 0; offset + 27 <= reader.size && completedPackets < 2;) {
    const head = await reader.read(offset, 27);
    if (decodeLatin1(head.subarray(0, 4)) !== "OggS") throw new UnreadableFileError("damaged");
    const [stream, count] = [createView(head).getUint32(14, true), head[26] ?? 0];
    firstStream ??= stream;
    const lengths = (await reader.read(offset + 27, count)).slice();
    offset += 27 + count;
    for (const length of lengths) {
      if (stream === firstStream && completedPackets === 1) {
        packetParts.push((await reader.read(offset, length)).slice());
        packetBytes += length;
      }
      offset += length;
      if (stream === firstStream && length < 255) completedPackets += 1;
      if (packetBytes > MAX_PACKET_BYTES) throw new UnreadableFileError("too_much");
      if (completedPackets === 2) break;
    }
  }
  if (completedPackets < 2) throw new UnreadableFileError("damaged");
  const packet = concatBytes(packetParts);
  const signature = decodeLatin1(packet.subarray(0, 8));
  const commentsStart =
    signature === "OpusTags" ? 8 : signature.startsWith("\x03vorbis") ? 7 : ((packet[0] ?? 0) & 0x7f) === 4 ? 4 : undefined;
  if (commentsStart !== undefined) readVorbisComments(packet.subarray(commentsStart), texts);
}

/** Reads the TXXX frames of ID3 2.3 and 2.4. A FLAC file may begin with an ID3 tag. */
export async function readId3Texts(reader: ByteReader, texts: TextCollector): Promise<void> {
  const head = await reader.read(0, 10);
  const [version, flags] = [head[3] ?? 0, head[5] ?? 0];
  const size = readSynchsafe(head, 6);
  if (version === 3 || version === 4) {
    const content = await reader.read(10, size);
    readFrames(flags & 0x80 && version === 3 ? removeUnsync(content) : content, version, flags, texts);
  }
  const tagEnd = 10 + size;
  if (!texts.isDone() && tagEnd + 4 <= reader.size && decodeLatin1(await reader.read(tagEnd, 4)) === "fLaC")
    await readFlacTexts(reader, texts, tagEnd);
}

function readFrames(tag: Uint8Array<ArrayBuffer>, version: number, flags: number, texts: TextCollector): void {
  const view = createView(tag);
  const readSize = (position: number) => (version === 4 ? readSynchsafe(tag, position) : view.getUint32(position));
  const hasExtendedHeader = flags & 0x40 && tag.length >= 4;
  for (
    let offset = hasExtendedHeader ? readSize(0) + (version === 3 ? 4 : 0) : 0;
    offset + 10 <= tag.length && tag[offset] !== 0 && !texts.isDone();
  ) {
    const size = readSize(offset + 4);
    if (decodeLatin1(tag.subarray(offset, offset + 4)) === "TXXX") {
      const frameFlags = version === 4 ? (tag[offset + 9] ?? 0) : 0;
      const frame = sliceOrThrow(tag, offset + 10 + (frameFlags & 1 ? 4 : 0), offset + 10 + size);
      readUserText(frameFlags & 2 ? removeUnsync(frame) : frame, texts);
    }
    offset += 10 + size;
  }
}

function readUserText(frame: Uint8Array, texts: TextCollector): void {
  const encoding = frame[0] ?? 0;
  const isUtf16 = encoding === 1 || encoding === 2;
  const field = frame.subarray(1, 1 + MAX_KEYWORD_LENGTH * 2);
  let end = field.indexOf(0);
  if (isUtf16) for (end = 0; end + 1 < field.length && (field[end] !== 0 || field[end + 1] !== 0); end += 2);
  const name = end < 0 ? "" : decodeText(field.subarray(0, end), encoding);
  if (texts.shouldRead(name)) texts.add(name, decodeText(frame.subarray(1 + end + (isUtf16 ? 2 : 1)), encoding).replace(/\0$/, ""));
}

function decodeText(bytes: Uint8Array, encoding: number): string {
  if (encoding !== 1 && encoding !== 2) return decodeBytes(bytes);
  const isBigEndian = encoding === 2 || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return new TextDecoder(isBigEndian ? "utf-16be" : "utf-16le").decode(bytes);
}

function readSynchsafe(bytes: Uint8Array, position: number): number {
  return [0, 1, 2, 3].reduce((value, index) => value * 128 + ((bytes[position + index] ?? 0) & 0x7f), 0);
}

/** Undoes the unsynchronisation of ID3, which inserts a zero byte after each byte 0xff. */
function removeUnsync(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.filter((byte, index) => byte !== 0 || bytes[index - 1] !== 0xff);
}
