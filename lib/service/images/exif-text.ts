// The graph inside a WEBP, which has no text chunks: the family keeps it in EXIF, "keyword:JSON" in texts of the main directory,
// the prompt as the camera's model, what comes with it in its make and the tags before that.
// It must never be cut: an EXIF block ends at 64 KiB, and what does not fit as a whole is left out.

import { toAsciiJson } from "./png-text";

const MOST_BYTES = 60_000;
const OTHERS = ["Make", "ImageDescription", "DocumentName"] as const;

/** Tags of the main directory (IFD0) by their EXIF names. */
export function exifTexts(texts: Record<string, unknown>): Record<string, string> {
  const { prompt, ...others } = texts;
  const wished: [string, string, unknown][] = [
    ["Model", "prompt", prompt],
    ...Object.entries(others)
      .slice(0, OTHERS.length)
      .map(([keyword, value], index): [string, string, unknown] => [OTHERS[index] ?? "", keyword, value]),
  ];
  const tags: Record<string, string> = {};
  let left = MOST_BYTES;
  for (const [tag, keyword, value] of wished) {
    const text = `${keyword}:${toAsciiJson(value)}`;
    if (value === undefined || text.length > left) continue;
    tags[tag] = text;
    left -= text.length;
  }
  return tags;
}
