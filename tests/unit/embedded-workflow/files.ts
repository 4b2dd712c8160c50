// Builds files with an embedded workflow, and malformed ones.
import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { readEmbeddedWorkflow } from "@/lib/browser/embedded-workflow";
import { createBlobSource } from "@/lib/browser/files/byte-source";

export const readCarrier = (name: string) => readFileSync(`tests/fixtures/carriers/${name}`);
export const readEmbedded = (bytes: Uint8Array) => readEmbeddedWorkflow(createBlobSource(new Blob([new Uint8Array(bytes)])));

const pixels = { create: { width: 4, height: 4, channels: 3, background: "#3366cc" } } as const;

export function createChunk(type: string, content: Buffer, declaredLength = content.length): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(declaredLength);
  return Buffer.concat([length, Buffer.from(type, "latin1"), content, Buffer.alloc(4)]);
}

export async function createPng(...chunks: Buffer[]): Promise<Buffer> {
  const plain = await sharp(pixels).png().toBuffer();
  return Buffer.concat([plain.subarray(0, 33), ...chunks, plain.subarray(33)]);
}

type Tags = Record<string, string>;
export const createWebp = (tags: Tags) => sharp(pixels).webp().withExif({ IFD0: tags }).toBuffer();
export const createAvif = (tags: Tags) => sharp(pixels).avif({ effort: 0 }).withExif({ IFD0: tags }).toBuffer();
export const createJpeg = (tags: Tags) => sharp(pixels).jpeg().withExif({ IFD0: tags }).toBuffer();

export const createTextChunk = (keyword: string, text: string) => createChunk("tEXt", Buffer.from(`${keyword}\0${text}`));
export const createCompressedTextChunk = (keyword: string, text: string) =>
  createChunk("zTXt", Buffer.concat([Buffer.from(`${keyword}\0\0`), deflateSync(text)]));
export const createInternationalTextChunk = (keyword: string, text: string, isCompressed: boolean) =>
  createChunk(
    "iTXt",
    Buffer.concat([
      Buffer.from(`${keyword}\0`),
      Buffer.from([isCompressed ? 1 : 0, 0]),
      Buffer.from("\0\0"),
      isCompressed ? deflateSync(text) : Buffer.from(text),
    ]),
  );

/** Creates a file of a latent or of model weights. */
export function createSafetensors(header: string, declaredLength = Buffer.byteLength(header)): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(declaredLength));
  return Buffer.concat([length, Buffer.from(header), Buffer.alloc(64)]);
}

/** Creates an MP4 box. Its length includes its header. */
export function createBox(type: string, content: Uint8Array, declaredLength = content.length + 8): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(declaredLength >>> 0);
  header.write(type, 4, "latin1");
  return Buffer.concat([header, content]);
}

export function createFlac(comments: readonly Uint8Array[], { count = comments.length, claimed: declaredLength = 0 } = {}): Buffer {
  const encodeUint32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value >>> 0);
    return bytes;
  };
  const block = Buffer.concat([
    encodeUint32(0),
    encodeUint32(count),
    ...comments.flatMap((comment) => [encodeUint32(comment.length), Buffer.from(comment)]),
  ]);
  const header = Buffer.alloc(4);
  header.writeUInt32BE((0x84000000 | (declaredLength || block.length)) >>> 0);
  return Buffer.concat([Buffer.from("fLaC"), header, block]);
}

export function createGlb(scene: string): Buffer {
  const header = Buffer.alloc(20);
  header.write("glTF");
  header.writeUInt32LE(2, 4);
  header.writeUInt32LE(20 + Buffer.byteLength(scene), 8);
  header.writeUInt32LE(Buffer.byteLength(scene), 12);
  header.write("JSON", 16);
  return Buffer.concat([header, Buffer.from(scene)]);
}
