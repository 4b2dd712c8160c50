// A mountain lake shortly before sunset: sky, sun and clouds, four ridges in haze, firs on the shore, and their reflection.
import { clamp, clouds, hash, mix, step } from "./noise.mjs";

const SHORE = 0.665;
const SUN = { x: 0.66, y: 0.385 };
const HAZE = [246, 190, 142];

const RIDGES = [
  { base: 0.47, height: 0.2, scale: 2.6, seed: 11, colour: [148, 140, 172], haze: 0.6, snow: 0.8 },
  { base: 0.53, height: 0.19, scale: 3.4, seed: 23, colour: [106, 108, 146], haze: 0.42, snow: 0.45 },
  { base: 0.585, height: 0.15, scale: 4.6, seed: 37, colour: [72, 82, 114], haze: 0.26, snow: 0 },
  { base: 0.63, height: 0.1, scale: 6.2, seed: 53, colour: [44, 62, 78], haze: 0.14, snow: 0 },
];

function sky(u, v) {
  const t = clamp(v / 0.62);
  let colour = t < 0.55 ? mix([52, 84, 140], [142, 150, 186], t / 0.55) : mix([142, 150, 186], [252, 196, 138], (t - 0.55) / 0.45);
  const distance = Math.hypot((u - SUN.x) * 1.333, v - SUN.y);
  colour = mix(colour, [255, 214, 150], 0.75 * Math.exp(-distance * 5.2));
  const veil = clouds(u * 3.2 + 7, v * 11 + 3, 5, 5);
  const lit = step(0.47, 0.74, veil) * (0.35 + 0.65 * step(0.0, 0.3, v));
  colour = mix(colour, mix([255, 226, 196], [226, 150, 138], step(0.5, 0.8, veil)), lit * 0.72);
  return mix(colour, [255, 248, 224], 1 - step(0.033, 0.038, distance));
}

function ridgeLine(ridge, u) {
  const shape = clouds(u * ridge.scale + ridge.seed, 0.5, ridge.seed, 6);
  const peaked = 1 - Math.abs(2 * clouds(u * ridge.scale * 0.8 + ridge.seed * 3, 1.5, ridge.seed + 2, 5) - 1);
  return ridge.base - ridge.height * (0.55 * shape + 0.75 * peaked * peaked - 0.3);
}

function ridgeColour(ridge, u, v, line) {
  const depth = v - line;
  const slope = clouds(u * 34 + depth * 40, v * 46, ridge.seed + 5, 4);
  const facing = clouds(u * 15 - depth * 22, v * 12, ridge.seed + 9, 4);
  let colour = mix(ridge.colour, [255, 206, 158], 0.34 * step(0.46, 0.62, facing) * (1 - Math.abs(u - SUN.x)));
  colour = mix(colour, [30, 36, 58], 0.3 * step(0.5, 0.78, slope));
  const snowline = ridge.snow * step(0.09, 0.0, depth + (slope - 0.5) * 0.09);
  colour = mix(colour, facing > 0.5 ? [255, 232, 214] : [188, 190, 216], clamp(snowline));
  return mix(colour, HAZE, ridge.haze + 0.3 * step(0.0, 0.16, depth));
}

/** Height of the firs on the far shore above the water. */
function treeLine(u) {
  let height = 0;
  for (let row = 0; row < 2; row++) {
    const spacing = 0.0085 + row * 0.0051;
    const first = Math.floor(u / spacing);
    for (let tree = first - 2; tree <= first + 2; tree++) {
      const middle = (tree + 0.5 + (hash(tree, row, 71) - 0.5) * 0.8) * spacing;
      const tall = (0.02 + 0.034 * hash(tree, row, 72)) * (0.45 + 1.1 * clouds(u * 3, row, 73, 3));
      const edge = Math.abs(u - middle) / (tall * 0.23);
      const jagged = 0.1 * Math.abs(((edge * 5) % 1) - 0.5);
      height = Math.max(height, tall * (1 - edge - jagged));
    }
  }
  return height + 0.006;
}

function above(u, v) {
  if (v > SHORE - treeLine(u)) {
    const leaf = clouds(u * 160, v * 120, 81, 3);
    return mix([14, 28, 32], [52, 66, 52], leaf * 0.75 * step(SHORE, SHORE - 0.07, v) + 0.1);
  }
  let colour = sky(u, v);
  for (const ridge of RIDGES) {
    const line = ridgeLine(ridge, u);
    if (v > line) colour = mix(colour, ridgeColour(ridge, u, v, line), step(0, 0.0016, v - line));
  }
  const mist = step(0.56, 0.655, v) * clouds(u * 5, v * 22, 91, 4);
  return mix(colour, HAZE, clamp(mist * 0.7));
}

function water(u, v) {
  const depth = (v - SHORE) / (1 - SHORE);
  const far = 0.04 + depth;
  const wave = clouds((u * 9) / (0.3 + far), 7 / far, 101, 4) - 0.5;
  const fine = clouds((u * 46) / (0.3 + far), 26 / far, 111, 3) - 0.5;
  const mirrored = SHORE - (v - SHORE) * 1.25 - (wave * 0.05 + fine * 0.02) * (0.25 + depth);
  const reflected = above(u + (wave * 0.012 + fine * 0.01) * (0.3 + depth), clamp(mirrored, 0.002, SHORE - 0.002));
  let colour = mix(reflected, [34, 58, 84], 0.16 + 0.42 * depth * depth);
  const path = Math.exp(-(((u - SUN.x) / (0.03 + depth * 0.1)) ** 2)) * step(0.05, 0.24, fine + wave * 0.5);
  colour = mix(colour, [255, 222, 168], clamp(path * 0.85));
  return mix(colour, [255, 224, 184], 0.35 * (1 - step(0, 0.02, depth)));
}

export function landscape(width, height) {
  return (x, y) => {
    const u = (x + 0.5) / width;
    const v = (y + 0.5) / height;
    const scene = v < SHORE ? above(u, v) : water(u, v);
    const corner = 1 - 0.3 * clamp((u - 0.5) ** 2 + (v - 0.45) ** 2 - 0.08);
    const grain = Math.round((hash(x, y, 131) - 0.5) * 2.6);
    return scene.map((value) => value * corner + grain);
  };
}
