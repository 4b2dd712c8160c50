// Repeatable noise: a hash of whole coordinates, smoothed between them, and its octaves. No clock, no random source.

export function hash(x, y, seed) {
  let h = (Math.imul(x, 374761393) + Math.imul(y, 668265263) + Math.imul(seed, 2246822519)) | 0;
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  h = Math.imul(h ^ (h >>> 15), 2246822519);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

const ease = (t) => t * t * t * (t * (t * 6 - 15) + 10);

function smooth(x, y, seed) {
  const left = Math.floor(x);
  const top = Math.floor(y);
  const u = ease(x - left);
  const v = ease(y - top);
  const upper = hash(left, top, seed) * (1 - u) + hash(left + 1, top, seed) * u;
  const lower = hash(left, top + 1, seed) * (1 - u) + hash(left + 1, top + 1, seed) * u;
  return upper * (1 - v) + lower * v;
}

/** 0 to 1, most of it near the middle. */
export function clouds(x, y, seed, octaves) {
  let sum = 0;
  let weight = 0;
  for (let octave = 0, size = 1, amount = 1; octave < octaves; octave++, size *= 2.03, amount *= 0.5) {
    sum += smooth(x * size, y * size, seed + octave) * amount;
    weight += amount;
  }
  return sum / weight;
}

export const mix = (a, b, t) => [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
export const clamp = (value, low = 0, high = 1) => Math.max(low, Math.min(high, value));
export const step = (from, to, value) => {
  const t = clamp((value - from) / (to - from));
  return t * t * (3 - 2 * t);
};
