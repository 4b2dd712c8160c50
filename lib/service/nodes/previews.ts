import sharp from "sharp";
import { getFrame, type Raster } from "../images/raster";
import { isRaster, type NodeValue } from "./definition";
import { type PreviewPixels } from "./run";

const PREVIEW_INTERVAL_MS = 500;
const MAX_SIZE_PX = 256;
/** The header of ComfyUI's binary message: event type 1 (PREVIEW_IMAGE) and image type 1 (JPEG). The JPEG bytes follow. */
const HEADER = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]);

export type Previews = {
  /** Schedules a preview of a finished image. */
  offer(values: readonly NodeValue[]): void;
  stop(): void;
};

/** Sends the newest image of a running job, at most twice a second. Jobs shorter than half a second have no preview. */
export function createPreviews(send: (preview: PreviewPixels) => void): Previews {
  let latestRaster: Raster | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastSentMs = performance.now();

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!latestRaster) return;
    lastSentMs = performance.now();
    send(scaleDown(latestRaster));
    latestRaster = undefined;
  }

  return {
    offer(values) {
      const raster = values.filter(isRaster).find(({ channels }) => channels === 3);
      if (!raster) return;
      // Keeps one image, because a whole batch would exceed the job's memory limit.
      latestRaster = { ...raster, frames: [getFrame(raster, 0)] };
      // A node blocks the event loop, so a timer would not fire between its images.
      if (performance.now() - lastSentMs >= PREVIEW_INTERVAL_MS) flush();
      else timer ??= setTimeout(flush, PREVIEW_INTERVAL_MS);
    },
    stop() {
      clearTimeout(timer);
      latestRaster = undefined;
    },
  };
}

function scaleDown(raster: Raster): PreviewPixels {
  const { width, height } = raster;
  const scale = Math.min(1, MAX_SIZE_PX / Math.max(width, height));
  const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const frame = getFrame(raster, 0);
  const pixels = new Uint8Array(size.width * size.height * 3);
  for (let y = 0, offset = 0; y < size.height; y++) {
    const row = Math.floor(((y + 0.5) * height) / size.height) * width;
    for (let x = 0; x < size.width; x++) {
      const sourceOffset = (row + Math.floor(((x + 0.5) * width) / size.width)) * 3;
      for (let channel = 0; channel < 3; channel++, offset++)
        pixels[offset] = Math.round(Math.min(1, Math.max(0, frame.sampleAt(sourceOffset + channel))) * 255);
    }
  }
  return { ...size, pixels };
}

export async function encodePreview({ pixels, ...size }: PreviewPixels): Promise<Uint8Array> {
  const jpeg = await sharp(pixels, { raw: { ...size, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer();
  return Buffer.concat([HEADER, jpeg]);
}
