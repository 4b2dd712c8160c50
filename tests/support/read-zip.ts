// Reads an uncompressed ZIP by its central directory, and checks each CRC.
import { crc32 } from "node:zlib";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;

export function readZip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || bytes.readUInt32LE(end) !== END_SIGNATURE) throw new Error("the archive has no end record");
  const files = new Map<string, Buffer>();
  for (let index = 0, at = bytes.readUInt32LE(end + 16); index < bytes.readUInt16LE(end + 10); index += 1) {
    if (bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new Error("the central directory is damaged");
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
    const name = bytes.toString("utf8", at + 46, at + 46 + (nameLength ?? 0));
    const start = bytes.readUInt32LE(at + 42);
    const content = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    const file = bytes.subarray(content, content + bytes.readUInt32LE(at + 20));
    if (bytes.readUInt16LE(at + 10) !== 0 || crc32(file) !== bytes.readUInt32LE(at + 16)) throw new Error(`${name} is damaged`);
    files.set(name, file);
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return files;
}
