import sharp from "sharp";
import { createLru } from "@/lib/shared/lru";
import { isRaster } from "../media-type";

export type PreviewKind = "image" | "video" | "audio" | "model" | "other";

const meshes = /^(glb|gltf|obj|fbx|stl|ply|usdz)$/;

export function previewKindOf(mediaType: string, fileName: string): PreviewKind {
  if (isRaster(mediaType)) return "image";
  if (mediaType.startsWith("video/")) return "video";
  if (mediaType.startsWith("audio/")) return "audio";
  return mediaType.startsWith("model/") || meshes.test(fileName.split(".").at(-1) ?? "") ? "model" : "other";
}

export const GROUND = "#eceef3";
const INK = "#6e778b";

const line = `fill="none" stroke="${INK}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"`;
const bars = [8, 18, 28, 14, 22, 10, 6].map((height, at) => `<path d="M${17 + at * 5} ${32 - height / 2}v${height}"/>`).join("");

const sheet = `<path d="M20 13h16l9 9v29H20zM36 13v9h9" ${line}/>`;

const signs: Readonly<Record<PreviewKind, string>> = {
  video: `<rect x="12" y="17" width="40" height="30" rx="4" ${line}/><path d="M19 17v30M45 17v30M12 27h7M12 37h7M45 27h7M45 37h7" ${line}/><path d="M28 26l10 6-10 6z" fill="${INK}"/>`,
  audio: `<g fill="none" stroke="${INK}" stroke-width="2.6" stroke-linecap="round">${bars}</g>`,
  model: `<path d="M32 14l16 9v18l-16 9-16-9V23zM32 32v18M32 32l16-9M32 32l-16-9" ${line}/>`,
  image: `${sheet}<path d="M24 46l7-10 5 6 3-4 4 8z" fill="${INK}"/>`,
  other: `${sheet}<path d="M26 31h13M26 37h13M26 43h8" ${line}/>`,
};

const drawn = createLru<string, Promise<Buffer>>({ max: 60 });

export function drawPlaceholder(kind: PreviewKind, edge: number): Promise<Buffer> {
  const key = `${kind}-${edge}`;
  const known = drawn.get(key);
  if (known) return known;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${edge}" height="${edge}" viewBox="0 0 64 64"><rect width="64" height="64" fill="${GROUND}"/>${signs[kind]}</svg>`;
  const made = sharp(Buffer.from(svg)).webp({ quality: 85 }).toBuffer();
  drawn.set(key, made);
  made.catch(() => drawn.delete(key));
  return made;
}
