// Checks by decoding whether a chosen file is a picture, before anything is sent.
// Guarantees: never throws; a kind that browsers cannot decode but services may (TIFF, say) passes, and the service decides.

export type PictureCheck = "picture" | "not-image" | "broken";
export type Decode = (file: File) => Promise<void>;

const decodable = /^image\/(png|jpeg|webp|gif|bmp|avif)$/;

export async function checkPicture(file: File, decode: Decode = decodeInBrowser): Promise<PictureCheck> {
  const isNamedSo = file.type.startsWith("image/");
  try {
    await decode(file);
    return "picture";
  } catch {
    // The decoder gives no reason; the file's type decides which message is true.
    if (!isNamedSo) return "not-image";
    return decodable.test(file.type) ? "broken" : "picture";
  }
}

async function decodeInBrowser(file: File): Promise<void> {
  const bitmap = await createImageBitmap(file);
  bitmap.close();
}
