// The texts of an EXIF block's main directory, whatever their tags: which one holds a workflow differs between writers.
// Guarantees: never throws on a damaged block; bounded by the block itself.

const ENTRY_BYTES = 12;
/** BYTE, ASCII and UNDEFINED: one byte a letter. */
const textTypes = new Set([1, 2, 7]);

export function exifTexts(block: Uint8Array): string[] {
  // Some writers put the marker of JPEG files in front.
  const tiff = new TextDecoder("latin1").decode(block.subarray(0, 6)) === "Exif\0\0" ? block.subarray(6) : block;
  if (tiff.length < 8) return [];
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const isLittle = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, isLittle);
  if (directory + 2 > tiff.length) return [];
  const count = Math.min(view.getUint16(directory, isLittle), Math.floor((tiff.length - directory - 2) / ENTRY_BYTES));
  return Array.from({ length: count }, (_, index) => directory + 2 + index * ENTRY_BYTES).flatMap((entry) => {
    const length = view.getUint32(entry + 4, isLittle);
    if (!textTypes.has(view.getUint16(entry + 2, isLittle)) || length <= 4) return [];
    const from = view.getUint32(entry + 8, isLittle);
    return from + length > tiff.length ? [] : [new TextDecoder().decode(tiff.subarray(from, from + length)).replace(/\0+$/, "")];
  });
}
