// Images and masks between nodes: frames of samples, never modified after they were created.

import { type Frame, frameOfSamples, type Tick } from "./frame";

export type Raster = {
  width: number;
  height: number;
  /** 3 for an image, 1 for a mask. */
  channels: 1 | 3;
  frames: readonly Frame[];
};

export type Size = { width: number; height: number };

export function pixelsOf(raster: Raster): number {
  return raster.width * raster.height * raster.frames.length;
}

export function emptySamples(raster: Size & { channels: number }): Float32Array {
  return new Float32Array(raster.width * raster.height * raster.channels);
}

export function mapFrames(raster: Raster, size: Size, make: (frame: Frame, tick: Tick, index: number) => Frame, tick: Tick): Raster {
  const count = raster.frames.length;
  const frames = raster.frames.map((frame, index) => make(frame, (done) => tick((index + done) / count), index));
  return { width: size.width, height: size.height, channels: raster.channels, frames };
}

type MakeSamples = (samples: Float32Array, tick: Tick, index: number) => Float32Array;

export function mapSamples(raster: Raster, size: Size, make: MakeSamples, tick: Tick): Raster {
  const ofFrame = (frame: Frame, part: Tick, index: number) =>
    frameOfSamples(
      make(
        frame.samples(() => part(0)),
        part,
        index,
      ),
    );
  return mapFrames(raster, size, ofFrame, tick);
}

type FillRow = (row: { out: Float32Array; at: number; y: number; frame: Float32Array; index: number }) => void;

export function mapRows(raster: Raster, made: Size & { channels: 1 | 3 }, fill: FillRow, tick: Tick): Raster {
  const { width, height, channels } = made;
  const image = mapSamples(
    raster,
    made,
    (frame, part, index) => {
      const out = emptySamples(made);
      for (let y = 0; y < height; y++) {
        fill({ out, at: y * width * channels, y, frame, index });
        part((y + 1) / height);
      }
      return out;
    },
    tick,
  );
  return { ...image, channels };
}

export function frameAt(raster: Raster, index: number): Frame {
  const frame = raster.frames[index % raster.frames.length];
  if (frame === undefined) throw new Error("A raster without frames.");
  return frame;
}

export function samplesAt(raster: Raster, index: number, tick: Tick, done: number): Float32Array {
  return frameAt(raster, index).samples(() => tick(done));
}

export function sameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}
