// The workflow embedded in a picture, video, sound or 3d model. The first bytes decide the kind of file.

import { isObject, objectOf } from "@/lib/contract/json/json";
import { parseJson, readLenientJson, TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { type ByteSource } from "../files/byte-source";
import { flacTexts, id3Texts, matroskaTexts, movieTexts, oggTexts } from "./audio-video";
import { addObject, boundedBytes, type Bytes, type Found, nothingFound, Unreadable, viewOf } from "./bytes";
import { heifTexts, jpegTexts, pngTexts, webpTexts } from "./pictures";

export type Carried =
  { kind: "workflow"; text: string } | { kind: "none"; isPicture: boolean } | { kind: "damaged" | "too_much" } | { kind: "unknown" };

type Kind = { isPicture?: true; starts: (head: string) => boolean; read: (bytes: Bytes, texts: Found) => Promise<void> };

const kinds: readonly Kind[] = [
  { isPicture: true, starts: (head) => head.startsWith("\x89PNG\r\n\x1a\n"), read: pngTexts },
  { isPicture: true, starts: (head) => head.startsWith("\xff\xd8\xff"), read: jpegTexts },
  { isPicture: true, starts: (head) => head.startsWith("RIFF") && head.slice(8, 12) === "WEBP", read: webpTexts },
  { isPicture: true, starts: (head) => /^(\ufeff|ï»¿)?\s*<(\?xml[^]*<svg\b|svg\b)/.test(head), read: svgTexts },
  // The brand distinguishes AVIF and HEIC from videos.
  {
    isPicture: true,
    starts: (head) => /^ftyp(avi[fs]|hei[cxms]|hev[cxms]|mif1|msf1)$/.test(head.slice(4, 12)),
    read: heifTexts,
  },
  { starts: (head) => /^(ftyp|moov|mdat|wide|free|skip)$/.test(head.slice(4, 8)), read: movieTexts },
  { starts: (head) => head.startsWith("\x1aE\xdf\xa3"), read: matroskaTexts },
  { starts: (head) => head.startsWith("fLaC"), read: flacTexts },
  { starts: (head) => head.startsWith("OggS"), read: oggTexts },
  { starts: (head) => head.startsWith("ID3"), read: id3Texts },
  { starts: (head) => head.startsWith("glTF"), read: glbTexts },
  // Latents and weights: the length of a JSON text, below four gigabytes, then that text.
  { starts: (head) => head.slice(4, 9) === "\0\0\0\0{", read: safetensorsTexts },
];

const HEAD = 512;

export async function carriedBy(source: ByteSource): Promise<Carried> {
  const bytes = boundedBytes(source);
  const head = byteLetters(await source.read(0, Math.min(HEAD, source.size)));
  const kind = kinds.find(({ starts }) => starts(head));
  if (!kind) return { kind: "unknown" };
  const texts = nothingFound();
  let reason: Unreadable["why"] | undefined;
  try {
    await kind.read(bytes, texts);
  } catch (cause) {
    if (cause instanceof Unreadable) reason = cause.why;
    else if (cause instanceof RangeError) reason = "damaged";
    else throw cause;
  }
  const text = workflowText(texts);
  if (text !== undefined) return { kind: "workflow", text };
  return reason ? { kind: reason } : { kind: "none", isPicture: kind.isPicture === true };
}

/** In the form that `readWorkflow` knows: the graph that ran, with its drawing. That reader reports a text that is not an object. */
function workflowText({ prompt: graph, workflow: drawing }: Found): string | undefined {
  if (!graph || !isObjectText(graph)) return drawing ?? graph;
  const extra = drawing && isObjectText(drawing) ? `,"extra_data":{"extra_pnginfo":{"workflow":${drawing}}}` : "";
  return `{"prompt":${graph}${extra}}`;
}

/** A text with too many exact numbers counts: parsing all of it reports the error. */
function isObjectText(text: string): boolean {
  try {
    return isObject(readLenientJson(text));
  } catch (error) {
    return error instanceof TooManyExactNumbers;
  }
}

/** The first part is JSON; what is not part of the scene is in `asset.extras`. */
async function glbTexts(bytes: Bytes, texts: Found): Promise<void> {
  const head = viewOf(await bytes.at(12, 8));
  if (head.getUint32(4) !== 0x4a534f4e) throw new Unreadable("damaged");
  const scene = parseJson(new TextDecoder().decode(await bytes.at(20, head.getUint32(0, true))));
  if (!isObject(scene)) throw new Unreadable("damaged");
  addObject(texts, objectOf(scene.asset)?.extras);
}

async function safetensorsTexts(bytes: Bytes, texts: Found): Promise<void> {
  const header = parseJson(new TextDecoder().decode(await bytes.at(8, viewOf(await bytes.at(0, 8)).getUint32(0, true))));
  if (!isObject(header)) throw new Unreadable("damaged");
  addObject(texts, header.__metadata__);
}

async function svgTexts(bytes: Bytes, texts: Found): Promise<void> {
  const text = new TextDecoder().decode(await bytes.at(0, bytes.size));
  const [start, end] = ["<![CDATA[", "]]>"];
  const from = text.indexOf(start, text.indexOf("<metadata"));
  const to = text.indexOf(end, from);
  if (from >= 0 && to >= 0) addObject(texts, parseJson(text.slice(from + start.length, to)));
}

/** Byte for byte: the decoders' Latin-1 has other letters from 128 to 159. */
function byteLetters(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
