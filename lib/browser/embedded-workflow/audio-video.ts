import { type Bytes, concatBytes, latin1, part, type TextCollector, textOf, UnreadableFile, viewOf } from "./bytes";

/** `isCut`: its declared end is beyond its parent's end. */
type Box = { type: string; from: number; to: number; isCut: boolean };

function readBox(head: Uint8Array, at: number, end: number): Box | undefined {
  const view = viewOf(head);
  const [short, type] = [view.getUint32(0), latin1(head.subarray(4, 8))];
  const isLong = short === 1 && head.length >= 16;
  const size = isLong ? Number(view.getBigUint64(8)) : short === 0 ? end - at : short;
  const from = at + (isLong ? 16 : 8);
  return at + size < from ? undefined : { type, from, to: Math.min(at + size, end), isCut: at + size > end };
}

export async function* boxesOf(bytes: Bytes, from: number, to: number): AsyncGenerator<Box> {
  for (let at = from; at + 8 <= to;) {
    const box = readBox(await bytes.at(at, Math.min(16, to - at)), at, to);
    if (!box) return;
    yield box;
    at = box.to;
  }
}

export function* boxesIn(block: Uint8Array, from: number, to: number): Generator<Box> {
  for (let at = from; at + 8 <= to;) {
    const box = readBox(block.subarray(at, Math.min(at + 16, to)), at, to);
    if (!box) return;
    yield box;
    at = box.to;
  }
}

export async function movieTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  let isWhole = false;
  for await (const box of boxesOf(bytes, 0, bytes.size)) {
    if (box.type !== "moov") continue;
    isWhole = !box.isCut;
    for await (const inner of boxesOf(bytes, box.from, box.to)) {
      if (inner.type === "meta") await readMeta(bytes, inner, texts);
      if (inner.type !== "udta") continue;
      for await (const user of boxesOf(bytes, inner.from, inner.to)) {
        if (user.type === "meta") await readMeta(bytes, user, texts);
        if (user.type === "©cmt" && user.to - user.from > 4) {
          const content = await bytes.at(user.from, user.to - user.from);
          texts.add("comment", textOf(part(content, 4, Math.min(content.length, 4 + viewOf(content).getUint16(0)))));
        }
      }
    }
  }
  if (!isWhole && !texts.isDone()) throw new UnreadableFile("damaged");
}

async function readMeta(bytes: Bytes, { from, to, isCut }: Box, texts: TextCollector): Promise<void> {
  if (isCut) throw new UnreadableFile("damaged");
  const meta = await bytes.at(from, to - from);
  // QuickTime boxes have no version field.
  const boxes = [...boxesIn(meta, latin1(meta.subarray(4, 8)) === "hdlr" ? 0 : 4, meta.length)];
  const keys = boxes.flatMap((box) => (box.type === "keys" ? keysIn(meta, box) : []));
  for (const list of boxes.filter(({ type }) => type === "ilst")) {
    for (const item of boxesIn(meta, list.from, list.to)) {
      const inner = [...boxesIn(meta, item.from, item.to)];
      const name = inner.find(({ type }) => type === "name");
      const key =
        item.type === "©cmt"
          ? "comment"
          : item.type === "----" && name
            ? latin1(meta.subarray(name.from + 4, name.to))
            : keys[viewOf(meta).getUint32(item.from - 4) - 1];
      const data = inner.find(({ type }) => type === "data");
      if (key === undefined || !data || !texts.wants(key)) continue;
      if (data.isCut || item.isCut) throw new UnreadableFile("damaged");
      texts.add(key, textOf(part(meta, data.from + 8, data.to)));
    }
  }
}

function keysIn(meta: Uint8Array, { from, to }: Box): string[] {
  return [...boxesIn(meta, from + 8, to)].map((key) => latin1(meta.subarray(key.from, key.to)));
}

const [SEGMENT, CLUSTER, TAGS, TAG, SIMPLE_TAG, NAME, TEXT] = [0x18538067, 0x1f43b675, 0x1254c367, 0x7373, 0x67c8, 0x45a3, 0x4487];
const MAX_TAG_DEPTH = 8;
const MAX_HEAD = 12;

function readElement(head: Uint8Array): { id: number; size?: number; headBytes: number } | undefined {
  const idBytes = Math.clz32(head[0] ?? 0) - 23;
  const sizeAt = head[idBytes] ?? 0;
  const sizeBytes = Math.clz32(sizeAt) - 23;
  if (idBytes > 4 || sizeBytes > 8 || idBytes + sizeBytes > head.length) return undefined;
  const id = head.subarray(0, idBytes).reduce((value, byte) => value * 256 + byte, 0);
  const marker = 2 ** (8 - sizeBytes);
  const size = head.subarray(idBytes + 1, idBytes + sizeBytes).reduce((value, byte) => value * 256 + byte, sizeAt - marker);
  const isKnown = size !== 2 ** (7 * sizeBytes) - 1;
  return { id, ...(isKnown && { size }), headBytes: idBytes + sizeBytes };
}

export async function matroskaTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let at = 0; at + 2 <= bytes.size && !texts.isDone();) {
    const element = readElement(await bytes.at(at, Math.min(MAX_HEAD, bytes.size - at)));
    if (!element) throw new UnreadableFile("damaged");
    const { id, size, headBytes } = element;
    at += headBytes;
    if (id === TAGS && size !== undefined) simpleTags(await bytes.at(at, size), texts, MAX_TAG_DEPTH);
    // Segments and clusters may have no size: read their content.
    if (id === SEGMENT || (id === CLUSTER && size === undefined)) continue;
    if (size === undefined) throw new UnreadableFile("damaged");
    at += size;
  }
}

function simpleTags(block: Uint8Array<ArrayBuffer>, texts: TextCollector, depth: number): void {
  let name = "";
  for (let at = 0; at + 2 <= block.length;) {
    const element = readElement(block.subarray(at, at + MAX_HEAD));
    if (element?.size === undefined) throw new UnreadableFile("damaged");
    const content = part(block, at + element.headBytes, at + element.headBytes + element.size);
    if (element.id === NAME) name = latin1(content.subarray(0, 80));
    else if (element.id === TEXT && texts.wants(name)) texts.add(name, textOf(content));
    else if ((element.id === TAG || element.id === SIMPLE_TAG) && depth > 0) simpleTags(content, texts, depth - 1);
    at += element.headBytes + element.size;
  }
}

const MAX_KEYWORD_LENGTH = 80;

export async function flacTexts(bytes: Bytes, texts: TextCollector, from = 0): Promise<void> {
  for (let at = from + 4, isLast = false; !isLast && at + 4 <= bytes.size;) {
    const head = viewOf(await bytes.at(at, 4)).getUint32(0);
    const length = head & 0xffffff;
    isLast = head >>> 31 === 1;
    if (((head >>> 24) & 0x7f) === 4) vorbisComments(await bytes.at(at + 4, length), texts);
    at += 4 + length;
  }
}

/** Vendor string, number of comments, then length-prefixed comments of the form NAME=text. */
function vorbisComments(block: Uint8Array<ArrayBuffer>, texts: TextCollector): void {
  const view = viewOf(block);
  const lengthAt = (at: number) => {
    if (at + 4 > block.length) throw new UnreadableFile("damaged");
    return view.getUint32(at, true);
  };
  let at = 4 + lengthAt(0);
  const count = lengthAt(at);
  at += 4;
  for (let comment = 0; comment < count && !texts.isDone(); comment++) {
    const from = at + 4;
    const to = from + lengthAt(at);
    const [start = "", name = ""] = /^(\w+)=/.exec(latin1(block.subarray(from, Math.min(to, from + MAX_KEYWORD_LENGTH)))) ?? [];
    if (start !== "" && texts.wants(name)) texts.add(name, textOf(part(block, from + start.length, to)));
    at = to;
  }
}

const MAX_PACKET = 12_000_000;

/** The second packet of the first stream holds the comments; it may span many pages. */
export async function oggTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let serial: number | undefined;
  let ended = 0;
  let packetBytes = 0;
  for (let at = 0; at + 27 <= bytes.size && ended < 2;) {
    const head = await bytes.at(at, 27);
    if (latin1(head.subarray(0, 4)) !== "OggS") throw new UnreadableFile("damaged");
    const [stream, count] = [viewOf(head).getUint32(14, true), head[26] ?? 0];
    serial ??= stream;
    const lengths = (await bytes.at(at + 27, count)).slice();
    at += 27 + count;
    for (const length of lengths) {
      if (stream === serial && ended === 1) {
        parts.push((await bytes.at(at, length)).slice());
        packetBytes += length;
      }
      at += length;
      if (stream === serial && length < 255) ended += 1;
      if (packetBytes > MAX_PACKET) throw new UnreadableFile("too_much");
      if (ended === 2) break;
    }
  }
  if (ended < 2) throw new UnreadableFile("damaged");
  const packet = concatBytes(parts);
  const start = latin1(packet.subarray(0, 8));
  const from = start === "OpusTags" ? 8 : start.startsWith("\x03vorbis") ? 7 : ((packet[0] ?? 0) & 0x7f) === 4 ? 4 : undefined;
  if (from !== undefined) vorbisComments(packet.subarray(from), texts);
}

/** TXXX frames of ID3 2.3 and 2.4. A FLAC file may begin with such a tag. */
export async function id3Texts(bytes: Bytes, texts: TextCollector): Promise<void> {
  const head = await bytes.at(0, 10);
  const [version, flags] = [head[3] ?? 0, head[5] ?? 0];
  const size = synchsafe(head, 6);
  if (version === 3 || version === 4) {
    const content = await bytes.at(10, size);
    frames(flags & 0x80 && version === 3 ? removeUnsync(content) : content, version, flags, texts);
  }
  const after = 10 + size;
  if (!texts.isDone() && after + 4 <= bytes.size && latin1(await bytes.at(after, 4)) === "fLaC") await flacTexts(bytes, texts, after);
}

function frames(tag: Uint8Array<ArrayBuffer>, version: number, flags: number, texts: TextCollector): void {
  const view = viewOf(tag);
  const sizeAt = (at: number) => (version === 4 ? synchsafe(tag, at) : view.getUint32(at));
  const hasMore = flags & 0x40 && tag.length >= 4;
  for (let at = hasMore ? sizeAt(0) + (version === 3 ? 4 : 0) : 0; at + 10 <= tag.length && tag[at] !== 0 && !texts.isDone();) {
    const size = sizeAt(at + 4);
    if (latin1(tag.subarray(at, at + 4)) === "TXXX") {
      const frameFlags = version === 4 ? (tag[at + 9] ?? 0) : 0;
      const raw = part(tag, at + 10 + (frameFlags & 1 ? 4 : 0), at + 10 + size);
      userText(frameFlags & 2 ? removeUnsync(raw) : raw, texts);
    }
    at += 10 + size;
  }
}

function userText(frame: Uint8Array, texts: TextCollector): void {
  const encoding = frame[0] ?? 0;
  const isWide = encoding === 1 || encoding === 2;
  const start = frame.subarray(1, 1 + MAX_KEYWORD_LENGTH * 2);
  let end = start.indexOf(0);
  if (isWide) for (end = 0; end + 1 < start.length && (start[end] !== 0 || start[end + 1] !== 0); end += 2);
  const name = end < 0 ? "" : letters(start.subarray(0, end), encoding);
  if (texts.wants(name)) texts.add(name, letters(frame.subarray(1 + end + (isWide ? 2 : 1)), encoding).replace(/\0$/, ""));
}

function letters(bytes: Uint8Array, encoding: number): string {
  if (encoding !== 1 && encoding !== 2) return textOf(bytes);
  const isBig = encoding === 2 || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return new TextDecoder(isBig ? "utf-16be" : "utf-16le").decode(bytes);
}

function synchsafe(bytes: Uint8Array, at: number): number {
  return [0, 1, 2, 3].reduce((value, step) => value * 128 + ((bytes[at + step] ?? 0) & 0x7f), 0);
}

/** Undoes ID3 unsynchronisation, which puts a zero after each 255. */
function removeUnsync(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.filter((byte, at) => byte !== 0 || bytes[at - 1] !== 0xff);
}
