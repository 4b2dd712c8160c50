// Builds files with an embedded workflow, and fake ones, from small parts.
import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { readEmbeddedWorkflow } from "@/lib/browser/embedded-workflow";
import { createBlobSource } from "@/lib/browser/files/byte-source";

export const readCarrier = (name: string) => readFileSync(`tests/fixtures/carriers/${name}`);
export const readEmbedded = (bytes: Uint8Array) => readEmbeddedWorkflow(createBlobSource(new Blob([new Uint8Array(bytes)])));

const pixels = { create: { width: 4, height: 4, channels: 3, background: "#3366cc" } } as const;

export function chunk(type: string, content: Buffer, claimed = content.length): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(claimed);
  return Buffer.concat([length, Buffer.from(type, "latin1"), content, Buffer.alloc(4)]);
}

export async function png(...chunks: Buffer[]): Promise<Buffer> {
  const plain = await sharp(pixels).png().toBuffer();
  return Buffer.concat([plain.subarray(0, 33), ...chunks, plain.subarray(33)]);
}

type Tags = Record<string, string>;
export const webp = (tags: Tags) => sharp(pixels).webp().withExif({ IFD0: tags }).toBuffer();
export const avif = (tags: Tags) => sharp(pixels).avif({ effort: 0 }).withExif({ IFD0: tags }).toBuffer();
export const jpeg = (tags: Tags) => sharp(pixels).jpeg().withExif({ IFD0: tags }).toBuffer();

export const plainText = (keyword: string, text: string) => chunk("tEXt", Buffer.from(`${keyword}\0${text}`));
export const packedText = (keyword: string, text: string) =>
  chunk("zTXt", Buffer.concat([Buffer.from(`${keyword}\0\0`), deflateSync(text)]));
export const worldText = (keyword: string, text: string, isPacked: boolean) =>
  chunk(
    "iTXt",
    Buffer.concat([
      Buffer.from(`${keyword}\0`),
      Buffer.from([isPacked ? 1 : 0, 0]),
      Buffer.from("\0\0"),
      isPacked ? deflateSync(text) : Buffer.from(text),
    ]),
  );

/** A file of a latent or of weights. */
export function safetensors(header: string, claimed = Buffer.byteLength(header)): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(claimed));
  return Buffer.concat([length, Buffer.from(header), Buffer.alloc(64)]);
}

/** A box of an MP4 file; its length includes its header. */
export function box(type: string, content: Uint8Array, claimed = content.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(claimed >>> 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
}

export function flac(comments: readonly Uint8Array[], { count = comments.length, claimed = 0 } = {}): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value >>> 0);
    return bytes;
  };
  const block = Buffer.concat([number(0), number(count), ...comments.flatMap((comment) => [number(comment.length), Buffer.from(comment)])]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE((0x84000000 | (claimed || block.length)) >>> 0);
  return Buffer.concat([Buffer.from("fLaC"), head, block]);
}

export function glb(scene: string): Buffer {
  const head = Buffer.alloc(20);
  head.write("glTF");
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(20 + Buffer.byteLength(scene), 8);
  head.writeUInt32LE(Buffer.byteLength(scene), 12);
  head.write("JSON", 16);
  return Buffer.concat([head, Buffer.from(scene)]);
}
