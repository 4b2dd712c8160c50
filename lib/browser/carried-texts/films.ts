// Tags of MP4 and MOV files (moov: keys and lists of meta, with or without udta around it) and of Matroska and WebM files.

import { type Bytes, type Found, latin1, part, textOf, Unreadable, viewOf } from "./bytes";

/** `isCut`: it claims to end after the box that contains it. */
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

export async function movieTexts(bytes: Bytes, found: Found): Promise<void> {
  let isWhole = false;
  for await (const box of boxesOf(bytes, 0, bytes.size)) {
    if (box.type !== "moov") continue;
    isWhole = !box.isCut;
    for await (const inner of boxesOf(bytes, box.from, box.to)) {
      if (inner.type === "meta") await readMeta(bytes, inner, found);
      if (inner.type !== "udta") continue;
      for await (const user of boxesOf(bytes, inner.from, inner.to)) {
        if (user.type === "meta") await readMeta(bytes, user, found);
        // A QuickTime text: its length, its language, its letters.
        if (user.type === "©cmt" && user.to - user.from > 4) {
          const content = await bytes.at(user.from, user.to - user.from);
          found.add("comment", textOf(part(content, 4, Math.min(content.length, 4 + viewOf(content).getUint16(0)))));
        }
      }
    }
  }
  if (!isWhole && !found.isDone()) throw new Unreadable("damaged");
}

async function readMeta(bytes: Bytes, { from, to, isCut }: Box, found: Found): Promise<void> {
  if (isCut) throw new Unreadable("damaged");
  const meta = await bytes.at(from, to - from);
  // QuickTime has no version in front.
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
      if (key === undefined || !data || !found.wants(key)) continue;
      if (data.isCut || item.isCut) throw new Unreadable("damaged");
      // First the kind of value and its language, then the value.
      found.add(key, textOf(part(meta, data.from + 8, data.to)));
    }
  }
}

function keysIn(meta: Uint8Array, { from, to }: Box): string[] {
  // Version and count; then each key as a box of its namespace.
  return [...boxesIn(meta, from + 8, to)].map((key) => latin1(meta.subarray(key.from, key.to)));
}

const [SEGMENT, CLUSTER, TAGS, TAG, SIMPLE_TAG, NAME, TEXT] = [0x18538067, 0x1f43b675, 0x1254c367, 0x7373, 0x67c8, 0x45a3, 0x4487];
const DEEPEST = 8;
const LONGEST_HEAD = 12;

/** `size` is undefined if the file does not give it. */
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

export async function matroskaTexts(bytes: Bytes, found: Found): Promise<void> {
  for (let at = 0; at + 2 <= bytes.size && !found.isDone();) {
    const element = readElement(await bytes.at(at, Math.min(LONGEST_HEAD, bytes.size - at)));
    if (!element) throw new Unreadable("damaged");
    const { id, size, headBytes } = element;
    at += headBytes;
    if (id === TAGS && size !== undefined) simpleTags(await bytes.at(at, size), found, DEEPEST);
    // They need not give their size: their content comes next.
    if (id === SEGMENT || (id === CLUSTER && size === undefined)) continue;
    if (size === undefined) throw new Unreadable("damaged");
    at += size;
  }
}

function simpleTags(block: Uint8Array<ArrayBuffer>, found: Found, depth: number): void {
  let name = "";
  for (let at = 0; at + 2 <= block.length;) {
    const element = readElement(block.subarray(at, at + LONGEST_HEAD));
    if (element?.size === undefined) throw new Unreadable("damaged");
    const content = part(block, at + element.headBytes, at + element.headBytes + element.size);
    if (element.id === NAME) name = latin1(content.subarray(0, 80));
    else if (element.id === TEXT && found.wants(name)) found.add(name, textOf(content));
    else if ((element.id === TAG || element.id === SIMPLE_TAG) && depth > 0) simpleTags(content, found, depth - 1);
    at += element.headBytes + element.size;
  }
}
