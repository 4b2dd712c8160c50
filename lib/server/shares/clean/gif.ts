// Removes everything but pixels, delays and the loop count from GIF. Kept extensions have their defined length and belong to an image.

import "server-only";
import { type MediaReader, NotCleanableError, type Pieces, readExactly } from "./pieces";

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const loopExtensions = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

export async function cleanGif(file: MediaReader, out: Pieces): Promise<void> {
  let at = 13 + colorTableBytes((await readExactly(file, 10, 1))[0]);
  out.keep(0, at);
  let control: { from: number; to: number } | undefined;
  let hasLoop = false;
  for (;;) {
    const [kind] = await readExactly(file, at, 1);
    if (kind === TRAILER) return out.keep(at, at + 1);
    if (kind === IMAGE) {
      if (control) out.keep(control.from, control.to);
      control = undefined;
      const end = await findBlocksEnd(file, at + 11 + colorTableBytes((await readExactly(file, at + 9, 1))[0]));
      out.keep(at, end);
      at = end;
      continue;
    }
    if (kind !== EXTENSION) throw new NotCleanableError("a block is unknown");
    const head = await readExactly(file, at, 8);
    const end = await findBlocksEnd(file, at + 2);
    if (head[1] === 0xf9) {
      if (head[2] !== 4 || head[7] !== 0) throw new NotCleanableError("a control of another length");
      control = { from: at, to: at + 8 };
    } else if (head[1] === 0xff && head[2] === 11 && !hasLoop) {
      const content = await readExactly(file, at + 3, Math.min(16, file.size - at - 3));
      const name = content.toString("latin1", 0, 11);
      if (loopExtensions.has(name) && content[11] === 3 && content[12] === 1) {
        out.add(Buffer.concat([Buffer.from([EXTENSION, 0xff, 11]), content.subarray(0, 15), Buffer.from([0])]));
        hasLoop = true;
      }
    }
    at = end;
  }
}

function colorTableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

async function findBlocksEnd(file: MediaReader, from: number): Promise<number> {
  for (let start = from; ;) {
    const bytes = await file.read(start, 4096);
    if (bytes.length === 0) throw new NotCleanableError("the picture has no end");
    let at = 0;
    while (at < bytes.length) {
      const length = bytes[at] ?? 0;
      at += 1 + length;
      if (length === 0) return start + at;
    }
    start += at;
  }
}
