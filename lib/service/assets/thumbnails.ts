import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { getOwn } from "@/lib/contract/json/json";
import { ServiceError } from "@/lib/service/service-error";
import { createLimiter } from "@/lib/shared/async";
import { drawThumbnail, MAX_DECODE_PIXELS, withImage } from "@/lib/shared/decode-image";
import { getErrorCode } from "@/lib/shared/error-codes";
import { readCachedFile, writeCachedFile } from "@/lib/shared/files";
import { createLru } from "@/lib/shared/lru";
import { getTelemetry } from "@/lib/shared/telemetry";
import { getFileName } from "./asset-view";
import { type FindReferenced } from "./blob-store";
import { evictOldest, sweepCacheFolder } from "./folders";
import { getPreviewKind, MAX_PIXELS, type PreviewKind } from "./media-type";

const execFileAsync = promisify(execFile);
const RENDER_TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 32 * 1024 ** 2;
const MAX_BLOCK_BYTES = 512 * 1024 ** 2;
const RENDER_SIZE_PX = 1024;
const WAVEFORM_COLOR = "0x4f6bbd";

const demuxers: Readonly<Record<string, string>> = {
  "video/mp4": "mov",
  "video/x-m4v": "mov",
  "video/quicktime": "mov",
  "video/3gpp": "mov",
  "video/3gpp2": "mov",
  "video/webm": "matroska",
  "video/matroska": "matroska",
  "video/vnd.avi": "avi",
  "video/mp2t": "mpegts",
  "video/x-flv": "flv",
  "video/ogg": "ogg",
  "audio/mp4": "mov",
  "audio/x-m4a": "mov",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "audio/aac": "aac",
  "audio/aiff": "aiff",
};

// The first frames are often black, so the most typical frame of a second is used.
const frameArgs = [
  "-map",
  "0:v:0",
  "-vf",
  `thumbnail=n=24,scale=w=${RENDER_SIZE_PX}:h=${RENDER_SIZE_PX}:force_original_aspect_ratio=decrease`,
];
const waveformArgs = [
  "-filter_complex",
  `[0:a:0]aformat=channel_layouts=mono,showwavespic=s=${RENDER_SIZE_PX}x${RENDER_SIZE_PX / 2}:scale=sqrt:colors=${WAVEFORM_COLOR}[w]`,
  "-map",
  "[w]",
];

function createMediaPreviews(ffmpeg: string) {
  const limit = createLimiter(1);
  const controller = new AbortController();

  return {
    async draw(path: string, mediaType: string): Promise<Buffer | undefined> {
      const demuxer = getOwn(demuxers, mediaType);
      if (demuxer === undefined) return undefined;
      const isAudio = mediaType.startsWith("audio/");
      const limits = ["-max_alloc", String(MAX_BLOCK_BYTES), "-threads", "1", "-max_pixels", String(MAX_PIXELS)];
      const input = ["-protocol_whitelist", "file", "-f", demuxer, "-t", isAudio ? "600" : "10", "-i", `file:${path}`];
      const output = ["-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "pipe:1"];
      const args = ["-nostdin", "-hide_banner", "-v", "error", ...limits, ...input, ...(isAudio ? waveformArgs : frameArgs), ...output];
      try {
        const { stdout } = await limit(() =>
          execFileAsync(ffmpeg, args, {
            encoding: "buffer",
            maxBuffer: MAX_OUTPUT_BYTES,
            timeout: RENDER_TIMEOUT_MS,
            killSignal: "SIGKILL",
            signal: controller.signal,
            env: { NODE_ENV: "production" },
            windowsHide: true,
          }),
        );
        return stdout.byteLength > 0 ? stdout : undefined;
      } catch {
        return undefined; // not a video, too slow, or stopped, so a placeholder is shown
      }
    },

    stop: () => controller.abort(),
  };
}

function createThumbnailCache(folders: { thumbnails: string; temp: string }, maxBytes: number) {
  const getFolder = (hash: string) => join(folders.thumbnails, hash.slice(0, 2), hash.slice(2));
  const getFilePath = (hash: string, name: string) => join(getFolder(hash), `${name}.webp`);
  let cachedBytes: number | undefined;
  let pendingEviction: Promise<void> | undefined;

  getTelemetry().metrics?.registerGauge("lightdesk_service_thumbnail_cache_bytes", () => cachedBytes);

  const removeThumbnails = (hash: string) => rm(getFolder(hash), { recursive: true, force: true });

  return {
    read: (hash: string, name: string): Promise<Buffer | undefined> => readCachedFile(getFilePath(hash, name)),

    async write(hash: string, name: string, webp: Uint8Array): Promise<void> {
      // If caching fails, the thumbnail is sent anyway.
      if (!(await writeCachedFile(getFilePath(hash, name), join(folders.temp, randomUUID()), webp))) return;
      if (cachedBytes !== undefined) cachedBytes += webp.byteLength;
      if (cachedBytes === undefined || cachedBytes > maxBytes) {
        pendingEviction ??= evictOldest(folders.thumbnails, maxBytes)
          .then((remainingBytes) => void (cachedBytes = remainingBytes))
          .catch(() => undefined) // the next write tries again
          .finally(() => (pendingEviction = undefined));
        await pendingEviction;
      }
    },

    removeThumbnails,

    sweep: (findReferenced: FindReferenced) => sweepCacheFolder(folders.thumbnails, findReferenced, removeThumbnails),
  };
}

const MAX_DECODE_SECONDS = 20;

async function shrink(source: string | Uint8Array, size: number, background?: string): Promise<Buffer> {
  const box = { width: size, height: size, fit: "inside" } as const;
  return decodeImage(source, "A preview can't be created for this file.", () => drawThumbnail(source, box, "truncated", background));
}

function encodeImage(source: string, format: "webp" | "jpeg", quality: number): Promise<Buffer> {
  const image = sharp(source, { limitInputPixels: MAX_DECODE_PIXELS }).timeout({ seconds: MAX_DECODE_SECONDS }).autoOrient();
  return format === "jpeg" ? image.removeAlpha().jpeg({ quality }).toBuffer() : image.webp({ quality, effort: 2 }).toBuffer();
}

async function decodeImage(source: string | Uint8Array, message: string, decode: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await withImage(source, decode);
  } catch (error) {
    throw new ServiceError("UNPROCESSABLE", message, error instanceof Error ? error.message : undefined);
  }
}

const MAX_CONCURRENT = 2;
const MAX_CACHED_BYTES = 512 * 1024 ** 2;
const MAX_SIZE_PX = 1024;
const RETRY_AFTER_MS = 10 * 60_000;

type ThumbnailSource = { hash: string; media_type: string; name: string };
/** `isFromContent` is false for an icon, which may be replaced by a frame later. */
type Thumbnail = { webp: Buffer; isFromContent: boolean; isCached: boolean };
export type WithFile = <T>(callback: (path: string) => Promise<T>) => Promise<T>;
export type Thumbnails = ReturnType<typeof createThumbnails>;

export function createThumbnails(
  folders: { thumbnails: string; temp: string },
  { ffmpeg, maxBytes = MAX_CACHED_BYTES }: { ffmpeg?: string; maxBytes?: number } = {},
) {
  const cache = createThumbnailCache(folders, maxBytes);
  const mediaPreviews = ffmpeg === undefined ? undefined : createMediaPreviews(ffmpeg);
  const limit = createLimiter(MAX_CONCURRENT);
  const pendingThumbnails = new Map<string, Promise<Thumbnail>>();
  const failureTimes = createLru<string, number>({ max: 10_000 });

  async function createThumbnail(content: ThumbnailSource, withFile: WithFile, size: number): Promise<Thumbnail> {
    const { hash } = content;
    const cachedWebp = await cache.read(hash, String(size));
    if (cachedWebp) return { webp: cachedWebp, isFromContent: true, isCached: true };
    const kind = getPreviewKind(content.media_type, getFileName(content));
    const webp = await withFile(async (source) => {
      await requireBytes(source);
      return kind === "image" ? limit(() => shrink(source, size)) : createMediaThumbnail(content, kind, source, size);
    });
    if (!webp) return { webp: await drawPlaceholder(kind, size), isFromContent: false, isCached: false };
    await cache.write(hash, String(size), webp);
    return { webp, isFromContent: true, isCached: false };
  }

  async function createMediaThumbnail(
    content: ThumbnailSource,
    kind: PreviewKind,
    source: string,
    size: number,
  ): Promise<Buffer | undefined> {
    if (kind !== "video" && kind !== "audio") return undefined;
    if (size < MAX_SIZE_PX) {
      const largeThumbnail = await getOrCreateThumbnail(content, (callback) => callback(source), MAX_SIZE_PX);
      return largeThumbnail.isFromContent ? limit(() => shrink(largeThumbnail.webp, size)) : undefined;
    }
    if (!mediaPreviews || performance.now() - (failureTimes.get(content.hash) ?? -Infinity) < RETRY_AFTER_MS) return undefined;
    const bytes = await mediaPreviews.draw(source, content.media_type);
    if (bytes) return limit(() => shrink(bytes, MAX_SIZE_PX, BACKGROUND));
    failureTimes.set(content.hash, performance.now());
    return undefined;
  }

  function getOrCreateThumbnail(content: ThumbnailSource, withFile: WithFile, size: number): Promise<Thumbnail> {
    const key = `${content.hash}-${size}`;
    const thumbnail = pendingThumbnails.get(key) ?? createThumbnail(content, withFile, size).finally(() => pendingThumbnails.delete(key));
    pendingThumbnails.set(key, thumbnail);
    return thumbnail;
  }

  return {
    async get(content: ThumbnailSource, withFile: WithFile, size: number): Promise<Thumbnail> {
      const thumbnail = await getOrCreateThumbnail(content, withFile, size);
      if (thumbnail.isFromContent)
        getTelemetry().metrics?.count("lightdesk_service_thumbnails_total", { result: thumbnail.isCached ? "kept" : "made" });
      return thumbnail;
    },

    drawChannel: (withFile: WithFile, channel: "rgb" | "alpha"): Promise<Buffer> =>
      withFile(async (source) => {
        await requireBytes(source);
        return limit(() => extractChannel(source, channel));
      }),

    encode: (withFile: WithFile, format: "webp" | "jpeg", quality: number): Promise<Buffer> =>
      withFile(async (source) => {
        await requireBytes(source);
        return limit(() => decodeImage(source, "A preview can't be created for this file.", () => encodeImage(source, format, quality)));
      }),

    async removeThumbnails(hash: string): Promise<void> {
      const pendingEntries = [...pendingThumbnails].filter(([key]) => key.startsWith(hash));
      await Promise.allSettled(pendingEntries.map(([, thumbnail]) => thumbnail));
      await cache.removeThumbnails(hash);
    },

    sweep: cache.sweep,

    stop: () => mediaPreviews?.stop(),
  };
}

async function requireBytes(source: string): Promise<void> {
  try {
    await stat(source);
  } catch (error) {
    if (getErrorCode(error) !== "ENOENT") throw error;
    throw new ServiceError("NOT_FOUND", "The bytes of this file are missing from the store.");
  }
}

/** Extracts colours without transparency, or transparency alone, as upright PNG. Matches ComfyUI's `GET /view`. */
function extractChannel(path: string, channel: "rgb" | "alpha"): Promise<Buffer> {
  return decodeImage(path, "The channels of this file cannot be read.", () => {
    const image = sharp(path, { limitInputPixels: MAX_DECODE_PIXELS }).autoOrient().toColourspace("srgb");
    if (channel === "rgb") return image.removeAlpha().png().toBuffer();
    // Black with the original's transparency. An image without alpha becomes opaque.
    return image.ensureAlpha().modulate({ brightness: 0, saturation: 0 }).png().toBuffer();
  });
}

const BACKGROUND = "#eceef3";
const INK = "#6e778b";

const strokeStyle = `fill="none" stroke="${INK}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"`;
const bars = [8, 18, 28, 14, 22, 10, 6].map((height, index) => `<path d="M${17 + index * 5} ${32 - height / 2}v${height}"/>`).join("");

const sheet = `<path d="M20 13h16l9 9v29H20zM36 13v9h9" ${strokeStyle}/>`;

const iconShapes: Readonly<Record<PreviewKind, string>> = {
  video: `<rect x="12" y="17" width="40" height="30" rx="4" ${strokeStyle}/><path d="M19 17v30M45 17v30M12 27h7M12 37h7M45 27h7M45 37h7" ${strokeStyle}/><path d="M28 26l10 6-10 6z" fill="${INK}"/>`,
  audio: `<g fill="none" stroke="${INK}" stroke-width="2.6" stroke-linecap="round">${bars}</g>`,
  model: `<path d="M32 14l16 9v18l-16 9-16-9V23zM32 32v18M32 32l16-9M32 32l-16-9" ${strokeStyle}/>`,
  image: `${sheet}<path d="M24 46l7-10 5 6 3-4 4 8z" fill="${INK}"/>`,
  other: `${sheet}<path d="M26 31h13M26 37h13M26 43h8" ${strokeStyle}/>`,
};

const placeholders = createLru<string, Promise<Buffer>>({ max: 60 });

function drawPlaceholder(kind: PreviewKind, size: number): Promise<Buffer> {
  const key = `${kind}-${size}`;
  const cachedIcon = placeholders.get(key);
  if (cachedIcon) return cachedIcon;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 64 64"><rect width="64" height="64" fill="${BACKGROUND}"/>${iconShapes[kind]}</svg>`;
  const placeholder = sharp(Buffer.from(svg)).webp({ quality: 85 }).toBuffer();
  placeholders.set(key, placeholder);
  placeholder.catch(() => placeholders.delete(key));
  return placeholder;
}
