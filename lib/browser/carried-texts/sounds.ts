// Tags of FLAC, Ogg (Opus, Vorbis, FLAC) and MP3 files.

import { type Bytes, type Found, joined, latin1, part, textOf, Unreadable, viewOf } from "./bytes";

const LONGEST_KEYWORD = 80;

export async function flacTexts(bytes: Bytes, found: Found, from = 0): Promise<void> {
  for (let at = from + 4, isLast = false; !isLast && at + 4 <= bytes.size;) {
    const head = viewOf(await bytes.at(at, 4)).getUint32(0);
    const length = head & 0xffffff;
    isLast = head >>> 31 === 1;
    if (((head >>> 24) & 0x7f) === 4) vorbisComments(await bytes.at(at + 4, length), found);
    at += 4 + length;
  }
}

/** The writer's name, the number of comments, then each comment as NAME=text with its length in front. */
function vorbisComments(block: Uint8Array<ArrayBuffer>, found: Found): void {
  const view = viewOf(block);
  const lengthAt = (at: number) => {
    if (at + 4 > block.length) throw new Unreadable("damaged");
    return view.getUint32(at, true);
  };
  let at = 4 + lengthAt(0);
  const count = lengthAt(at);
  at += 4;
  for (let comment = 0; comment < count && !found.isDone(); comment++) {
    const from = at + 4;
    const to = from + lengthAt(at);
    const [start = "", name = ""] = /^(\w+)=/.exec(latin1(block.subarray(from, Math.min(to, from + LONGEST_KEYWORD)))) ?? [];
    if (start !== "" && found.wants(name)) found.add(name, textOf(part(block, from + start.length, to)));
    at = to;
  }
}

const MOST_PACKET = 12_000_000;

/** The second packet of the first stream holds the comments; it may span many pages. */
export async function oggTexts(bytes: Bytes, found: Found): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let serial: number | undefined;
  let ended = 0;
  let packetBytes = 0;
  for (let at = 0; at + 27 <= bytes.size && ended < 2;) {
    const head = await bytes.at(at, 27);
    if (latin1(head.subarray(0, 4)) !== "OggS") throw new Unreadable("damaged");
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
      if (packetBytes > MOST_PACKET) throw new Unreadable("too_much");
      if (ended === 2) break;
    }
  }
  if (ended < 2) throw new Unreadable("damaged");
  const packet = joined(parts);
  const start = latin1(packet.subarray(0, 8));
  const from = start === "OpusTags" ? 8 : start.startsWith("\x03vorbis") ? 7 : ((packet[0] ?? 0) & 0x7f) === 4 ? 4 : undefined;
  if (from !== undefined) vorbisComments(packet.subarray(from), found);
}

/** TXXX frames of ID3 2.3 and 2.4. A FLAC file may begin with such a tag. */
export async function id3Texts(bytes: Bytes, found: Found): Promise<void> {
  const head = await bytes.at(0, 10);
  const [version, flags] = [head[3] ?? 0, head[5] ?? 0];
  const size = synchsafe(head, 6);
  if (version === 3 || version === 4) {
    const content = await bytes.at(10, size);
    frames(flags & 0x80 && version === 3 ? withoutStuffing(content) : content, version, flags, found);
  }
  const after = 10 + size;
  if (!found.isDone() && after + 4 <= bytes.size && latin1(await bytes.at(after, 4)) === "fLaC") await flacTexts(bytes, found, after);
}

function frames(tag: Uint8Array<ArrayBuffer>, version: number, flags: number, found: Found): void {
  const view = viewOf(tag);
  const sizeAt = (at: number) => (version === 4 ? synchsafe(tag, at) : view.getUint32(at));
  const hasMore = flags & 0x40 && tag.length >= 4;
  for (let at = hasMore ? sizeAt(0) + (version === 3 ? 4 : 0) : 0; at + 10 <= tag.length && tag[at] !== 0 && !found.isDone();) {
    const size = sizeAt(at + 4);
    if (latin1(tag.subarray(at, at + 4)) === "TXXX") {
      const how = version === 4 ? (tag[at + 9] ?? 0) : 0;
      const raw = part(tag, at + 10 + (how & 1 ? 4 : 0), at + 10 + size);
      userText(how & 2 ? withoutStuffing(raw) : raw, found);
    }
    at += 10 + size;
  }
}

/** The character set, the name, the text. */
function userText(frame: Uint8Array, found: Found): void {
  const set = frame[0] ?? 0;
  const isWide = set === 1 || set === 2;
  const start = frame.subarray(1, 1 + LONGEST_KEYWORD * 2);
  let end = start.indexOf(0);
  if (isWide) for (end = 0; end + 1 < start.length && (start[end] !== 0 || start[end + 1] !== 0); end += 2);
  const name = end < 0 ? "" : letters(start.subarray(0, end), set);
  if (found.wants(name)) found.add(name, letters(frame.subarray(1 + end + (isWide ? 2 : 1)), set).replace(/\0$/, ""));
}

function letters(bytes: Uint8Array, set: number): string {
  if (set !== 1 && set !== 2) return textOf(bytes);
  const isBig = set === 2 || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return new TextDecoder(isBig ? "utf-16be" : "utf-16le").decode(bytes);
}

/** Each byte holds seven bits. */
function synchsafe(bytes: Uint8Array, at: number): number {
  return [0, 1, 2, 3].reduce((value, step) => value * 128 + ((bytes[at + step] ?? 0) & 0x7f), 0);
}

/** A zero follows each 255, so that no player takes a tag for sound. */
function withoutStuffing(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.filter((byte, at) => byte !== 0 || bytes[at - 1] !== 0xff);
}
