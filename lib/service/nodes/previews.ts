import sharp from "sharp";
import { countPixels, getFrame, type Raster } from "../images/raster";
import { isRaster, type NodeValue } from "./definition";

const PREVIEW_INTERVAL_MS = 500;
const MAX_SIZE_PX = 256;
/** Encoding a preview of a larger image would delay the job. */
const MAX_PIXELS = 16 * 1024 ** 2;
/** The header of ComfyUI's binary message: event type 1 (PREVIEW_IMAGE) and image type 1 (JPEG). The JPEG bytes follow. */
const HEADER = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]);

export type Previews = {
  /** Schedules a preview of a finished node's values. */
  offer(values: readonly NodeValue[]): void;
  stop(): void;
};

/** Sends the newest image of a running job, at most twice a second. Jobs shorter than half a second have no preview. */
export function createPreviews(send: (bytes: Uint8Array) => void): Previews {
  let latestRaster: Raster | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function flush(): Promise<void> {
    timer = undefined;
    const raster = latestRaster;
    latestRaster = undefined;
    if (!raster) return;
    const bytes = await encodePreview(raster);
    if (!isStopped) send(bytes);
  }

  return {
    offer(values) {
      const raster = values.filter(isRaster).find((value) => value.channels === 3 && countPixels(value) <= MAX_PIXELS);
      if (!raster) return;
      latestRaster = raster;
      // A failed preview must not fail the job.
      timer ??= setTimeout(() => void flush().catch(() => undefined), PREVIEW_INTERVAL_MS);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      latestRaster = undefined;
    },
  };
}

async function encodePreview(raster: Raster): Promise<Uint8Array> {
  const { width, height } = raster;
  const scale = Math.min(1, MAX_SIZE_PX / Math.max(width, height));
  const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const samples = getFrame(raster, 0).samples();
  const pixels = new Uint8Array(size.width * size.height * 3);
  for (let y = 0, offset = 0; y < size.height; y++) {
    const row = Math.floor(((y + 0.5) * height) / size.height) * width;
    for (let x = 0; x < size.width; x++) {
      const sourceOffset = (row + Math.floor(((x + 0.5) * width) / size.width)) * 3;
      for (let channel = 0; channel < 3; channel++, offset++)
        pixels[offset] = Math.round(Math.min(1, Math.max(0, samples[sourceOffset + channel] ?? 0)) * 255);
    }
  }
  const jpeg = await sharp(pixels, { raw: { ...size, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer();
  return Buffer.concat([HEADER, jpeg]);
}
