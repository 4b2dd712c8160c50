// Makes the images that the samples load: public/samples/photo.png and product.png. Run by hand when the scenes change:
// node bin/make-sample-images.mjs. The same code gives the same pixels on every machine; nothing is read but this file.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { landscape } from "./sample-images/landscape.mjs";
import { bottle } from "./sample-images/bottle.mjs";

const folder = fileURLToPath(new URL("../public/samples/", import.meta.url));

/** Paints every pixel with `paint(x, y)`, which answers channels of 0 to 255. */
function raster(width, height, channels, paint) {
  const bytes = Buffer.alloc(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = paint(x, y);
      const at = (y * width + x) * channels;
      for (let c = 0; c < channels; c++) bytes[at + c] = Math.max(0, Math.min(255, Math.round(colour[c])));
    }
  }
  return sharp(bytes, { raw: { width, height, channels } });
}

await mkdir(folder, { recursive: true });
const png = { compressionLevel: 9, adaptiveFiltering: true };
await raster(1280, 960, 3, landscape(1280, 960)).png(png).toFile(`${folder}photo.png`);
await raster(640, 720, 4, bottle(640, 720)).png(png).toFile(`${folder}product.png`);
