// Generates normal noise from a seed like ComfyUI: a Mersenne twister, 24-bit uniform floats, and Box-Muller in blocks of 16.

import { countPixels, createStages, forEachChunk, mapSamples, type Raster, type Tick } from "./raster";

const fround = Math.fround;
const STATE_SIZE = 624;
const BLOCK_SIZE = 16;
const HALF_BLOCK = BLOCK_SIZE / 2;

/** Returns 32 random bits per call. Only the lower 32 bits of the seed count, as in ComfyUI. */
function createTwister(seed: number | bigint): () => number {
  const state = new Uint32Array(STATE_SIZE);
  state[0] = Number(BigInt.asUintN(32, BigInt(seed)));
  for (let i = 1; i < STATE_SIZE; i++) {
    const previous = state[i - 1] ?? 0;
    state[i] = Math.imul(1812433253, previous ^ (previous >>> 30)) + i;
  }
  let position = STATE_SIZE;
  function twist() {
    for (let i = 0; i < STATE_SIZE; i++) {
      const mixedBits = ((state[i] ?? 0) & 0x80000000) | ((state[(i + 1) % STATE_SIZE] ?? 0) & 0x7fffffff);
      state[i] = (state[(i + 397) % STATE_SIZE] ?? 0) ^ (mixedBits >>> 1) ^ (mixedBits & 1 ? 0x9908b0df : 0);
    }
    position = 0;
  }
  return () => {
    if (position === STATE_SIZE) twist();
    let bits = state[position++] ?? 0;
    bits ^= bits >>> 11;
    bits ^= (bits << 7) & 0x9d2c5680;
    bits ^= (bits << 15) & 0xefc60000;
    return (bits ^ (bits >>> 18)) >>> 0;
  };
}

export function generateNormalNoise(seed: number | bigint, count: number, tick: Tick): Float32Array {
  const draw = createTwister(seed);
  if (count < BLOCK_SIZE) return generateShortNoise(draw, count);
  const out = new Float32Array(count);
  const fillUniform = (start: number, end: number) => {
    for (let i = start; i < end; i++) out[i] = (draw() & 0xffffff) / 2 ** 24;
  };
  const transformBlock = (start: number) => {
    for (let i = start; i < start + HALF_BLOCK; i++) {
      const radius = fround(Math.sqrt(fround(-2 * fround(Math.log(fround(1 - (out[i] ?? 0)))))));
      const angle = fround(2 * Math.PI * (out[i + HALF_BLOCK] ?? 0));
      out[i] = fround(radius * fround(Math.cos(angle)));
      out[i + HALF_BLOCK] = fround(radius * fround(Math.sin(angle)));
    }
  };
  const nextStage = createStages(tick, 2);
  forEachChunk(count, nextStage(), fillUniform);
  // A chunk is a multiple of a block.
  forEachChunk(count, nextStage(), (start, end) => {
    for (let i = start; i + BLOCK_SIZE <= end; i += BLOCK_SIZE) transformBlock(i);
  });
  if (count % BLOCK_SIZE !== 0) {
    // ComfyUI redraws the last block, which overlaps numbers that were already drawn.
    fillUniform(count - BLOCK_SIZE, count);
    transformBlock(count - BLOCK_SIZE);
  }
  return out;
}

function generateShortNoise(draw: () => number, count: number): Float32Array {
  const out = new Float32Array(count);
  const drawUniform = () => ((draw() & 0x1fffff) * 2 ** 32 + draw()) / 2 ** 53;
  for (let i = 0; i < count; i += 2) {
    const angle = 2 * Math.PI * drawUniform();
    const radius = Math.sqrt(-2 * Math.log1p(-drawUniform()));
    out[i] = radius * Math.cos(angle);
    if (i + 1 < count) out[i + 1] = radius * Math.sin(angle);
  }
  return out;
}

export function addNoise(raster: Raster, seed: number | bigint, strength: number, tick: Tick): Raster {
  const nextStage = createStages(tick, 2);
  const count = countPixels(raster) * raster.channels;
  const noise = generateNormalNoise(seed, count, nextStage());
  const noiseFactor = fround(strength);
  const mix = (samples: Float32Array, frameTick: Tick, index: number) => {
    const out = new Float32Array(samples.length);
    const offset = index * out.length;
    forEachChunk(out.length, frameTick, (start, end) => {
      for (let i = start; i < end; i++) {
        const value = fround((samples[i] ?? 0) + fround(noiseFactor * (noise[offset + i] ?? 0)));
        out[i] = value < 0 ? 0 : value > 1 ? 1 : value;
      }
    });
    return out;
  };
  return mapSamples(raster, raster, mix, nextStage());
}
