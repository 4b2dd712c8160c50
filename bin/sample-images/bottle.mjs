// A glazed bottle with a paper label on transparent ground: soft edges and a soft shadow, so that its alpha is worth a mask.
import { clamp, clouds, mix, step } from "./noise.mjs";

const MIDDLE = 0.5;
const TOP = 0.07;
const FLOOR = 0.93;
/** Half widths down the body, evenly spaced from TOP to FLOOR; a smooth curve runs through them. */
const OUTLINE = [0.054, 0.047, 0.046, 0.047, 0.058, 0.098, 0.158, 0.194, 0.207, 0.209, 0.208, 0.206, 0.203, 0.197, 0.184, 0.138];

function halfWidth(v) {
  if (v < TOP || v > FLOOR) return 0;
  const place = ((v - TOP) / (FLOOR - TOP)) * (OUTLINE.length - 1);
  const i = Math.min(OUTLINE.length - 2, Math.floor(place));
  const t = place - i;
  const [a, b, c, d] = [i - 1, i, i + 1, i + 2].map((at) => OUTLINE[clamp(at, 0, OUTLINE.length - 1)]);
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

function glaze(across, v) {
  const shade = Math.sqrt(1 - across * across);
  const drip = clouds(across * 2.2, v * 3.2, 7, 4);
  const border = 0.34 + 0.05 * Math.sin(across * 4) + 0.08 * (drip - 0.5);
  const speck = step(0.66, 0.74, clouds(across * 26, v * 60, 17, 2));
  const upper = mix([24, 92, 104], [46, 140, 142], drip);
  const lower = mix([206, 178, 146], [228, 206, 178], drip);
  let colour = mix(upper, lower, step(border - 0.012, border + 0.03, v));
  colour = mix(colour, [92, 66, 50], speck * 0.5);
  const light = 0.34 + 0.66 * shade * (0.72 - 0.28 * across);
  colour = colour.map((value) => value * light);
  const window = step(-0.66, -0.58, across) * step(-0.32, -0.4, across) * step(0.13, 0.17, v) * step(0.86, 0.78, v);
  colour = mix(colour, [255, 252, 244], 0.62 * window);
  return mix(colour, [168, 206, 220], 0.35 * step(0.8, 0.97, across));
}

function label(across, v, colour) {
  const inside = step(0.565, 0.568, v) * step(0.775, 0.772, v) * step(-0.63, -0.62, across) * step(0.63, 0.62, across);
  if (inside === 0) return colour;
  const paper = mix([240, 232, 214], [250, 245, 234], clouds(across * 30, v * 40, 23, 3));
  const bars = [
    [0.61, 0.635, 0.42],
    [0.66, 0.667, 0.3],
    [0.68, 0.687, 0.36],
    [0.7, 0.707, 0.22],
    [0.738, 0.748, 0.12],
  ];
  const inked = bars.some(([from, to, wide]) => v > from && v < to && Math.abs(across) < wide);
  const light = 0.55 + 0.45 * Math.sqrt(1 - across * across) * (1 - 0.22 * across);
  return mix(
    colour,
    (inked ? [52, 60, 66] : paper).map((value) => value * light),
    inside,
  );
}

function shadow(u, v) {
  const far = Math.hypot((u - MIDDLE - 0.035) / 0.3, (v - FLOOR + 0.004) / 0.042);
  return 0.5 * clamp(1 - far) ** 1.4;
}

function sample(u, v) {
  const half = halfWidth(v);
  const across = half > 0 ? (u - MIDDLE) / half : 2;
  if (Math.abs(across) < 1) return [...label(across, v, glaze(across, v)), 1];
  return [22, 24, 30, shadow(u, v)];
}

export function bottle(width, height) {
  const side = 4;
  return (x, y) => {
    const sum = [0, 0, 0, 0];
    for (let i = 0; i < side * side; i++) {
      const [r, g, b, a] = sample((x + ((i % side) + 0.5) / side) / width, (y + (Math.floor(i / side) + 0.5) / side) / height);
      sum[0] += r * a;
      sum[1] += g * a;
      sum[2] += b * a;
      sum[3] += a;
    }
    const covered = sum[3] || 1;
    return [sum[0] / covered, sum[1] / covered, sum[2] / covered, (sum[3] / side / side) * 255];
  };
}
