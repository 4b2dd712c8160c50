// Writes the one field of EXIF that matters for display: the orientation of the picture.

import "server-only";

export const MAX_EXIF_BYTES = 64 * 1024;
const ORIENTATION = 0x0112;

/** A TIFF with only that field. */
export function orientationOnly(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM\0*", 0, "latin1");
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(ORIENTATION, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
