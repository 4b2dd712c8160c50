// Images and masks between nodes: frames of float32 samples from 0 to 1, which are never modified after creation.

export type Raster = {
  width: number;
  height: number;
  /** 3 for an image, 1 for a mask. */
  channels: 1 | 3;
  frames: readonly Frame[];
};

export type Size = { width: number; height: number };

export function countPixels(raster: Raster): number {
  return raster.width * raster.height * raster.frames.length;
}

export function createEmptySamples(raster: Size & { channels: number }): Float32Array {
  return new Float32Array(raster.width * raster.height * raster.channels);
}

export function mapFrames(raster: Raster, size: Size, transform: (frame: Frame, tick: Tick, index: number) => Frame, tick: Tick): Raster {
  const count = raster.frames.length;
  const { width, height } = size;
  const frames = raster.frames.map((frame, index) => {
    const result = transform(frame, (progress) => tick((index + progress) / count), index);
    tick((index + 1) / count, { width, height, channels: raster.channels, frames: [result] });
    return result;
  });
  return { width, height, channels: raster.channels, frames };
}

type MapSamples = (samples: Float32Array, tick: Tick, index: number) => Float32Array;

export function mapSamples(raster: Raster, size: Size, transform: MapSamples, tick: Tick): Raster {
  const mapFrame = (frame: Frame, frameTick: Tick, index: number) =>
    createSampleFrame(
      transform(
        frame.samples(() => frameTick(0)),
        frameTick,
        index,
      ),
    );
  return mapFrames(raster, size, mapFrame, tick);
}

type FillRow = (row: { out: Float32Array; at: number; y: number; frame: Float32Array; index: number }) => void;

export function mapRows(raster: Raster, target: Size & { channels: 1 | 3 }, fill: FillRow, tick: Tick): Raster {
  const { width, height, channels } = target;
  const image = mapSamples(
    raster,
    target,
    (frame, frameTick, index) => {
      const out = createEmptySamples(target);
      for (let y = 0; y < height; y++) {
        fill({ out, at: y * width * channels, y, frame, index });
        frameTick((y + 1) / height);
      }
      return out;
    },
    (progress, result) => tick(progress, result && { ...result, channels }),
  );
  return { ...image, channels };
}

export function getFrame(raster: Raster, index: number): Frame {
  const frame = raster.frames[index % raster.frames.length];
  if (frame === undefined) throw new Error("The raster has no frames.");
  return frame;
}

export function getSamples(raster: Raster, index: number, tick: Tick, progress: number): Float32Array {
  return getFrame(raster, index).samples(() => tick(progress));
}

export function hasSameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}

/** Reports progress from 0 to 1, about once per row, and each finished image. May throw to end the computation, for example on cancel. */
export type Tick = (progress: number, image?: Raster) => void;

/** Splits a tick into `count` consecutive stages, which together go from 0 to 1 once. The last one finishes the images. */
export function createStages(tick: Tick, count: number): () => Tick {
  let stageCount = 0;
  return () => {
    const stage = stageCount++;
    return (progress, image) => tick((stage + progress) / count, stage === count - 1 ? image : undefined);
  };
}

/** Rounds to the nearest integer, halves to the even one. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const fraction = value - floor;
  if (fraction !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Samples between two ticks. Processing them takes a few milliseconds. */
const CHUNK_LENGTH = 1 << 20;

export function forEachChunk(length: number, tick: Tick, processChunk: (start: number, end: number) => void): void {
  for (let start = 0; start < length; start += CHUNK_LENGTH) {
    const end = Math.min(length, start + CHUNK_LENGTH);
    processChunk(start, end);
    tick(end / length);
  }
}

/** Converts samples like ComfyUI's save nodes: 255 x in float32, truncated and clamped. NaN becomes 0. */
function toBytes(samples: Float32Array, tick: Tick): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  forEachChunk(samples.length, tick, (start, end) => {
    for (let i = start; i < end; i++) {
      const value = Math.fround((samples[i] ?? 0) * 255);
      bytes[i] = value >= 255 ? 255 : value > 0 ? value : 0;
    }
  });
  return bytes;
}

export type Frame = {
  /** The maximum memory that the frame may occupy. */
  readonly byteLength: number;
  samples(tick?: () => void): Float32Array;
  bytes(tick?: Tick): Uint8Array;
  /** Reads one sample without converting the whole frame. */
  sampleAt(index: number): number;
};

/** The samples must not change afterwards. */
export function createSampleFrame(samples: Float32Array): Frame {
  return {
    byteLength: samples.byteLength,
    samples: () => samples,
    bytes: (tick = () => undefined) => toBytes(samples, tick),
    sampleAt: (index) => samples[index] ?? 0,
  };
}

/** The bytes must not change afterwards. They are converted to samples on first use. */
export function createByteFrame(bytes: Uint8Array): Frame {
  const { length } = bytes;
  let samples: Float32Array | undefined;
  return {
    byteLength: length * (1 + Float32Array.BYTES_PER_ELEMENT),
    samples(tick = () => undefined) {
      if (samples) return samples;
      const out = new Float32Array(length);
      forEachChunk(length, tick, (start, end) => {
        for (let i = start; i < end; i++) out[i] = (bytes[i] ?? 0) / 255;
      });
      return (samples = out);
    },
    bytes: () => bytes,
    sampleAt: (index) => (bytes[index] ?? 0) / 255,
  };
}
