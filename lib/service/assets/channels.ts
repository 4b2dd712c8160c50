// One channel group of an image as PNG, as the family's view answers it: colours without transparency, or transparency alone.

import sharp from "sharp";
import { ServiceError } from "../service-error";
import { MOST_PIXELS } from "./image-limits";

export async function extractChannel(path: string, channel: "rgb" | "alpha"): Promise<Buffer> {
  try {
    const image = sharp(path, { limitInputPixels: MOST_PIXELS });
    if (channel === "rgb") return await image.removeAlpha().toColourspace("srgb").png().toBuffer();
    // Black everywhere, and as transparent as the original; an image without alpha is opaque.
    const { data, info } = await image.ensureAlpha().toColourspace("srgb").raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
    for (let at = 0; at < data.length; at += 4) data.fill(0, at, at + 3);
    return await sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
      .png()
      .toBuffer();
  } catch (error) {
    throw new ServiceError(
      "UNPROCESSABLE",
      "The channels of this file cannot be read.",
      error instanceof Error ? error.message : undefined,
    );
  }
}
