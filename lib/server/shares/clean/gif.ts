// Removes everything but pixels, delays and the loop count from GIF. Kept extensions have their defined length and belong to an image.

import "server-only";
import { exactly, type MediaReader, NotCleanable, type Pieces } from "./pieces";

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const loops = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

export async function cleanGif(file: MediaReader, out: Pieces): Promise<void> {
  let at = 13 + tableBytes((await exactly(file, 10, 1))[0]);
  out.keep(0, at);
  let control: { from: number; to: number } | undefined;
  let hasLoop = false;
  for (;;) {
    const [kind] = await exactly(file, at, 1);
    if (kind === TRAILER) return out.keep(at, at + 1);
    if (kind === IMAGE) {
      if (control) out.keep(control.from, control.to);
      control = undefined;
      const end = await afterBlocks(file, at + 11 + tableBytes((await exactly(file, at + 9, 1))[0]));
      out.keep(at, end);
      at = end;
      continue;
    }
    if (kind !== EXTENSION) throw new NotCleanable("a block is unknown");
    const head = await exactly(file, at, 8);
    const end = await afterBlocks(file, at + 2);
    if (head[1] === 0xf9) {
      if (head[2] !== 4 || head[7] !== 0) throw new NotCleanable("a control of another length");
      control = { from: at, to: at + 8 };
    } else if (head[1] === 0xff && head[2] === 11 && !hasLoop) {
      const content = await exactly(file, at + 3, Math.min(16, file.size - at - 3));
      const name = content.toString("latin1", 0, 11);
      if (loops.has(name) && content[11] === 3 && content[12] === 1) {
        out.add(Buffer.concat([Buffer.from([EXTENSION, 0xff, 11]), content.subarray(0, 15), Buffer.from([0])]));
        hasLoop = true;
      }
    }
    at = end;
  }
}

function tableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

async function afterBlocks(file: MediaReader, from: number): Promise<number> {
  for (let start = from; ;) {
    const bytes = await file.read(start, 4096);
    if (bytes.length === 0) throw new NotCleanable("the picture has no end");
    let at = 0;
    while (at < bytes.length) {
      const length = bytes[at] ?? 0;
      at += 1 + length;
      if (length === 0) return start + at;
    }
    start += at;
  }
}
