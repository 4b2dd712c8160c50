// Small real pictures: one for each user to load, and masks to paint over it.
import sharp from "sharp";

const EDGE_PX = 64;

export async function createUserPicture(user: string): Promise<Uint8Array<ArrayBuffer>> {
  const shade = [...user].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 256;
  const background = { r: shade, g: 40, b: 90 };
  return new Uint8Array(
    await sharp({ create: { width: EDGE_PX, height: EDGE_PX, channels: 3, background } })
      .png()
      .toBuffer(),
  );
}

/** Paints (alpha 0) a different number of pixels each time, so that no two masks of a user have the same result. */
export async function createMask(serial: number, color: number): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = Buffer.alloc(EDGE_PX * EDGE_PX * 4, 255);
  const painted = serial % (EDGE_PX * EDGE_PX);
  for (let index = 0; index < painted; index += 1) pixels.set([color & 255, (color >> 8) & 255, (color >> 16) & 255, 0], index * 4);
  return new Uint8Array(
    await sharp(pixels, { raw: { width: EDGE_PX, height: EDGE_PX, channels: 4 } })
      .png()
      .toBuffer(),
  );
}
