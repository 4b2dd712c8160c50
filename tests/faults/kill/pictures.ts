// Small real pictures: one for each user to load, and masks to paint over it.
import sharp from "sharp";

const EDGE = 64;

export async function getPicture(user: string): Promise<Uint8Array<ArrayBuffer>> {
  const shade = [...user].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 256;
  const background = { r: shade, g: 40, b: 90 };
  return new Uint8Array(
    await sharp({ create: { width: EDGE, height: EDGE, channels: 3, background } })
      .png()
      .toBuffer(),
  );
}

/** Paints (alpha 0) a different number of pixels each time, so that no two masks of a user have the same result. */
export async function maskFor(serial: number, color: number): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = Buffer.alloc(EDGE * EDGE * 4, 255);
  const painted = serial % (EDGE * EDGE);
  for (let at = 0; at < painted; at += 1) pixels.set([color & 255, (color >> 8) & 255, (color >> 16) & 255, 0], at * 4);
  return new Uint8Array(
    await sharp(pixels, { raw: { width: EDGE, height: EDGE, channels: 4 } })
      .png()
      .toBuffer(),
  );
}
