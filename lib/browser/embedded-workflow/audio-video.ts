import { type Bytes, concatBytes, createView, decodeBytes, decodeLatin1, takePart, type TextCollector, UnreadableFile } from "./bytes";

/** `isCut`: its declared end is beyond the end of its parent. */
type Box = { type: string; from: number; to: number; isCut: boolean };

function readBox(head: Uint8Array, offset: number, end: number): Box | undefined {
  const view = createView(head);
  const [shortSize, type] = [view.getUint32(0), decodeLatin1(head.subarray(4, 8))];
  const has64BitSize = shortSize === 1 && head.length >= 16;
  const size = has64BitSize ? Number(view.getBigUint64(8)) : shortSize === 0 ? end - offset : shortSize;
  const from = offset + (has64BitSize ? 16 : 8);
  return offset + size < from ? undefined : { type, from, to: Math.min(offset + size, end), isCut: offset + size > end };
}

export async function* readBoxes(bytes: Bytes, from: number, to: number): AsyncGenerator<Box> {
  for (let offset = from; offset + 8 <= to;) {
    const box = readBox(await bytes.at(offset, Math.min(16, to - offset)), offset, to);
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

export async function readMovieTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  let isComplete = false;
  for await (const box of readBoxes(bytes, 0, bytes.size)) {
    if (box.type !== "moov") continue;
    isComplete = !box.isCut;
    for await (const inner of readBoxes(bytes, box.from, box.to)) {
      if (inner.type === "meta") await readMeta(bytes, inner, texts);
      if (inner.type !== "udta") continue;
      for await (const user of readBoxes(bytes, inner.from, inner.to)) {
        if (user.type === "meta") await readMeta(bytes, user, texts);
        if (user.type === "©cmt" && user.to - user.from > 4) {
          const content = await bytes.at(user.from, user.to - user.from);
          texts.add("comment", decodeBytes(takePart(content, 4, Math.min(content.length, 4 + createView(content).getUint16(0)))));
        }
      }
    }
  }
  if (!isComplete && !texts.isDone()) throw new UnreadableFile("damaged");
}

async function readMeta(bytes: Bytes, { from, to, isCut }: Box, texts: TextCollector): Promise<void> {
  if (isCut) throw new UnreadableFile("damaged");
  const meta = await bytes.at(from, to - from);
  // QuickTime boxes have no version field.
  const boxes = [...listBoxes(meta, decodeLatin1(meta.subarray(4, 8)) === "hdlr" ? 0 : 4, meta.length)];
  const keys = boxes.flatMap((box) => (box.type === "keys" ? listKeys(meta, box) : []));
  for (const list of boxes.filter(({ type }) => type === "ilst")) {
    for (const item of listBoxes(meta, list.from, list.to)) {
      const inner = [...listBoxes(meta, item.from, item.to)];
      const name = inner.find(({ type }) => type === "name");
      const key =
        item.type === "©cmt"
          ? "comment"
          : item.type === "----" && name
            ? decodeLatin1(meta.subarray(name.from + 4, name.to))
            : keys[createView(meta).getUint32(item.from - 4) - 1];
      const data = inner.find(({ type }) => type === "data");
      if (key === undefined || !data || !texts.wants(key)) continue;
      if (data.isCut || item.isCut) throw new UnreadableFile("damaged");
      texts.add(key, decodeBytes(takePart(meta, data.from + 8, data.to)));
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
  const isKnown = size !== 2 ** (7 * sizeBytes) - 1;
  return { id, ...(isKnown && { size }), headBytes: idBytes + sizeBytes };
}

export async function readMatroskaTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let offset = 0; offset + 2 <= bytes.size && !texts.isDone();) {
    const element = readElement(await bytes.at(offset, Math.min(MAX_HEADER_BYTES, bytes.size - offset)));
    if (!element) throw new UnreadableFile("damaged");
    const { id, size, headBytes } = element;
    offset += headBytes;
    if (id === TAGS && size !== undefined) readSimpleTags(await bytes.at(offset, size), texts, MAX_TAG_DEPTH);
    // Segments and clusters may have no size, so their content is read.
    if (id === SEGMENT || (id === CLUSTER && size === undefined)) continue;
    if (size === undefined) throw new UnreadableFile("damaged");
    offset += size;
  }
}

function readSimpleTags(block: Uint8Array<ArrayBuffer>, texts: TextCollector, depth: number): void {
  let name = "";
  for (let offset = 0; offset + 2 <= block.length;) {
    const element = readElement(block.subarray(offset, offset + MAX_HEADER_BYTES));
    if (element?.size === undefined) throw new UnreadableFile("damaged");
    const content = takePart(block, offset + element.headBytes, offset + element.headBytes + element.size);
    if (element.id === NAME) name = decodeLatin1(content.subarray(0, 80));
    else if (element.id === TEXT && texts.wants(name)) texts.add(name, decodeBytes(content));
    else if ((element.id === TAG || element.id === SIMPLE_TAG) && depth > 0) readSimpleTags(content, texts, depth - 1);
    offset += element.headBytes + element.size;
  }
}

const MAX_KEYWORD_LENGTH = 80;

export async function readFlacTexts(bytes: Bytes, texts: TextCollector, from = 0): Promise<void> {
  for (let offset = from + 4, isLast = false; !isLast && offset + 4 <= bytes.size;) {
    const head = createView(await bytes.at(offset, 4)).getUint32(0);
    const length = head & 0xffffff;
    isLast = head >>> 31 === 1;
    if (((head >>> 24) & 0x7f) === 4) readVorbisComments(await bytes.at(offset + 4, length), texts);
    offset += 4 + length;
  }
}

/** Vendor string, number of comments, then length-prefixed comments of the form NAME=text. */
function readVorbisComments(block: Uint8Array<ArrayBuffer>, texts: TextCollector): void {
  const view = createView(block);
  const readLength = (at: number) => {
    if (at + 4 > block.length) throw new UnreadableFile("damaged");
    return view.getUint32(at, true);
  };
  let offset = 4 + readLength(0);
  const count = readLength(offset);
  offset += 4;
  for (let comment = 0; comment < count && !texts.isDone(); comment++) {
    const from = offset + 4;
    const to = from + readLength(offset);
    const [start = "", name = ""] = /^(\w+)=/.exec(decodeLatin1(block.subarray(from, Math.min(to, from + MAX_KEYWORD_LENGTH)))) ?? [];
    if (start !== "" && texts.wants(name)) texts.add(name, decodeBytes(takePart(block, from + start.length, to)));
    offset = to;
  }
}

const MAX_PACKET_BYTES = 12_000_000;

/** The second packet of the first stream contains the comments. It may span many pages. */
export async function readOggTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let serial: number | undefined;
  let endedPackets = 0;
  let packetBytes = 0;
  for (let offset = 0; offset + 27 <= bytes.size && endedPackets < 2;) {
    const head = await bytes.at(offset, 27);
    if (decodeLatin1(head.subarray(0, 4)) !== "OggS") throw new UnreadableFile("damaged");
    const [stream, count] = [createView(head).getUint32(14, true), head[26] ?? 0];
    serial ??= stream;
    const lengths = (await bytes.at(offset + 27, count)).slice();
    offset += 27 + count;
    for (const length of lengths) {
      if (stream === serial && endedPackets === 1) {
        parts.push((await bytes.at(offset, length)).slice());
        packetBytes += length;
      }
      offset += length;
      if (stream === serial && length < 255) endedPackets += 1;
      if (packetBytes > MAX_PACKET_BYTES) throw new UnreadableFile("too_much");
      if (endedPackets === 2) break;
    }
  }
  if (endedPackets < 2) throw new UnreadableFile("damaged");
  const packet = concatBytes(parts);
  const start = decodeLatin1(packet.subarray(0, 8));
  const from = start === "OpusTags" ? 8 : start.startsWith("\x03vorbis") ? 7 : ((packet[0] ?? 0) & 0x7f) === 4 ? 4 : undefined;
  if (from !== undefined) readVorbisComments(packet.subarray(from), texts);
}

/** TXXX frames of ID3 2.3 and 2.4. A FLAC file may begin with such a tag. */
export async function readId3Texts(bytes: Bytes, texts: TextCollector): Promise<void> {
  const head = await bytes.at(0, 10);
  const [version, flags] = [head[3] ?? 0, head[5] ?? 0];
  const size = readSynchsafe(head, 6);
  if (version === 3 || version === 4) {
    const content = await bytes.at(10, size);
    readFrames(flags & 0x80 && version === 3 ? removeUnsync(content) : content, version, flags, texts);
  }
  const tagEnd = 10 + size;
  if (!texts.isDone() && tagEnd + 4 <= bytes.size && decodeLatin1(await bytes.at(tagEnd, 4)) === "fLaC")
    await readFlacTexts(bytes, texts, tagEnd);
}

function readFrames(tag: Uint8Array<ArrayBuffer>, version: number, flags: number, texts: TextCollector): void {
  const view = createView(tag);
  const readSize = (at: number) => (version === 4 ? readSynchsafe(tag, at) : view.getUint32(at));
  const hasExtendedHeader = flags & 0x40 && tag.length >= 4;
  for (
    let offset = hasExtendedHeader ? readSize(0) + (version === 3 ? 4 : 0) : 0;
    offset + 10 <= tag.length && tag[offset] !== 0 && !texts.isDone();
  ) {
    const size = readSize(offset + 4);
    if (decodeLatin1(tag.subarray(offset, offset + 4)) === "TXXX") {
      const frameFlags = version === 4 ? (tag[offset + 9] ?? 0) : 0;
      const raw = takePart(tag, offset + 10 + (frameFlags & 1 ? 4 : 0), offset + 10 + size);
      readUserText(frameFlags & 2 ? removeUnsync(raw) : raw, texts);
    }
    offset += 10 + size;
  }
}

function readUserText(frame: Uint8Array, texts: TextCollector): void {
  const encoding = frame[0] ?? 0;
  const isWide = encoding === 1 || encoding === 2;
  const start = frame.subarray(1, 1 + MAX_KEYWORD_LENGTH * 2);
  let end = start.indexOf(0);
  if (isWide) for (end = 0; end + 1 < start.length && (start[end] !== 0 || start[end + 1] !== 0); end += 2);
  const name = end < 0 ? "" : decodeText(start.subarray(0, end), encoding);
  if (texts.wants(name)) texts.add(name, decodeText(frame.subarray(1 + end + (isWide ? 2 : 1)), encoding).replace(/\0$/, ""));
}

function decodeText(bytes: Uint8Array, encoding: number): string {
  if (encoding !== 1 && encoding !== 2) return decodeBytes(bytes);
  const isBigEndian = encoding === 2 || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return new TextDecoder(isBigEndian ? "utf-16be" : "utf-16le").decode(bytes);
}

function readSynchsafe(bytes: Uint8Array, at: number): number {
  return [0, 1, 2, 3].reduce((value, step) => value * 128 + ((bytes[at + step] ?? 0) & 0x7f), 0);
}

/** Undoes the unsynchronisation of ID3, which inserts a zero after each 255. */
function removeUnsync(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.filter((byte, at) => byte !== 0 || bytes[at - 1] !== 0xff);
}
