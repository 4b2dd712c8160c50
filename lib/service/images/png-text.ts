// Text chunks of a PNG: the graph is stored inside the picture. sharp writes none, so they are inserted after the header.
// Values are JSON with every character beyond ASCII escaped, as readers of the family expect (tEXt is Latin-1).
// Must never: touch another chunk; the pixels stay the same byte for byte.

import { crc32 } from "node:zlib";

const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 25;

export function toAsciiJson(text: string): string {
  return text.replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The PNG specification, 11.3.4.2: 1 to 79 printable Latin-1 characters without spaces at the ends. */
export function isPngKeyword(keyword: string): boolean {
  return /^[\x21-\x7e\xa1-\xff]([\x20-\x7e\xa1-\xff]{0,77}[\x21-\x7e\xa1-\xff])?$/.test(keyword);
}

/** `png` must be a whole PNG; a keyword that the format does not allow is left out. */
export function withPngText(png: Buffer, texts: Record<string, string>): Buffer {
  const chunks = Object.entries(texts)
    .filter(([keyword]) => isPngKeyword(keyword))
    .map(([keyword, text]) => toChunk(Buffer.from(`${keyword}\0${toAsciiJson(text)}`, "latin1")));
  const header = SIGNATURE_BYTES + HEADER_BYTES;
  return Buffer.concat([png.subarray(0, header), ...chunks, png.subarray(header)]);
}

function toChunk(content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from("tEXt", "latin1"), content]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(content.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** The tEXt chunks of a PNG by keyword; the values are not parsed. */
export function readPngText(png: Buffer): Record<string, string> {
  const found: [string, string][] = [];
  for (let at = SIGNATURE_BYTES; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "tEXt") {
      const content = png.toString("latin1", at + 8, at + 8 + length);
      const end = content.indexOf("\0");
      found.push([content.slice(0, end), content.slice(end + 1)]);
    }
    at += length + 12;
  }
  return Object.fromEntries(found);
}
