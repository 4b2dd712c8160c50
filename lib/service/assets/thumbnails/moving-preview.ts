// A frame of a video, or the waveform of a sound, drawn by the machine's own ffmpeg.
// Guarantees: one at a time, in bounded time, memory and output; `stop` ends what is running.
// Must never: let a file choose its reader or name another file. The bytes decide the format, and only the file itself is opened.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { own } from "@/lib/contract/json/own";
import { createLimiter } from "@/lib/shared/async";
import { MOST_PIXELS } from "../mask-layers";

const run = promisify(execFile);
const MOST_MS = 20_000;
const MOST_OUTPUT_BYTES = 32 * 1024 ** 2;
const MOST_BLOCK_BYTES = 512 * 1024 ** 2;
const EDGE = 1024;
const WAVE = "0x4f6bbd";

const readers: Readonly<Record<string, string>> = {
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

// The first frames are often black, so the most typical frame of a second is taken.
const frame = ["-map", "0:v:0", "-vf", `thumbnail=n=24,scale=w=${EDGE}:h=${EDGE}:force_original_aspect_ratio=decrease`];
const wave = [
  "-filter_complex",
  `[0:a:0]aformat=channel_layouts=mono,showwavespic=s=${EDGE}x${EDGE / 2}:scale=sqrt:colors=${WAVE}[w]`,
  "-map",
  "[w]",
];

export function createMovingPreviews(ffmpeg: string) {
  const inTurn = createLimiter(1);
  const stopping = new AbortController();

  return {
    /** PNG; undefined if ffmpeg fails or takes too long. */
    async draw(path: string, mediaType: string): Promise<Buffer | undefined> {
      const reader = own(readers, mediaType);
      if (reader === undefined) return undefined;
      const isSound = mediaType.startsWith("audio/");
      const limits = ["-max_alloc", String(MOST_BLOCK_BYTES), "-threads", "1", "-max_pixels", String(MOST_PIXELS)];
      const input = ["-protocol_whitelist", "file", "-f", reader, "-t", isSound ? "600" : "10", "-i", `file:${path}`];
      const output = ["-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "pipe:1"];
      const args = ["-nostdin", "-hide_banner", "-v", "error", ...limits, ...input, ...(isSound ? wave : frame), ...output];
      try {
        const { stdout } = await inTurn(() =>
          run(ffmpeg, args, {
            encoding: "buffer",
            maxBuffer: MOST_OUTPUT_BYTES,
            timeout: MOST_MS,
            killSignal: "SIGKILL",
            signal: stopping.signal,
            env: { NODE_ENV: "production" },
            windowsHide: true,
          }),
        );
        return stdout.byteLength > 0 ? stdout : undefined;
      } catch {
        return undefined; // not a film after all, too slow, or stopped: the icon of its kind is shown
      }
    },

    stop: () => stopping.abort(),
  };
}
