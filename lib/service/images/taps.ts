// One axis of a resampling: for each result, the indexes in the source that it reads, and their weights.
// The rules are those of torch without antialiasing and with align_corners off (nearest-exact, bilinear, bicubic).
// Indexes are clamped to the axis here, so that a kernel reads without checks. Indexes and weights are computed in float32, each step rounded
// where torch's own build rounds: saving truncates, so a different last bit would change a byte.

export type Taps = {
  /** How many samples of the source each result reads. */
  reach: number;
  /** `reach` entries for each result; if it reads fewer, the last one is repeated with weight 0. */
  places: Int32Array;
  weights: Float64Array;
};

export type TapMethod = "nearest-exact" | "bilinear" | "bicubic";

type Rule = (place: number, from: number, to: number) => { first: number; weights: readonly number[] };

const f = Math.fround;

/** The source coordinate of a result's centre. The product is not rounded before the subtraction. */
const centreOf = (place: number, from: number, to: number) => f(f(from / to) * (place + 0.5) - 0.5);

const CUBIC = -0.75;
const near = (x: number) => f(f(f(f(f((CUBIC + 2) * x) - (CUBIC + 3)) * x) * x) + 1);
const far = (x: number) => f(f(f(f(f(CUBIC * x) - 5 * CUBIC) * x + 8 * CUBIC) * x) - 4 * CUBIC);

const rules: Record<TapMethod, Rule> = {
  "nearest-exact": (place, from, to) => ({ first: Math.floor(f((place + 0.5) * f(from / to))), weights: [1] }),
  bilinear: (place, from, to) => {
    const centre = Math.max(0, centreOf(place, from, to));
    const first = Math.floor(centre);
    const share = f(centre - first);
    return { first, weights: [f(1 - share), share] };
  },
  bicubic: (place, from, to) => {
    const centre = centreOf(place, from, to);
    const t = f(centre - Math.floor(centre));
    const rest = f(1 - t);
    return { first: Math.floor(centre) - 1, weights: [far(f(t + 1)), near(t), near(rest), far(f(rest + 1))] };
  },
};

export function createTaps(method: TapMethod, from: number, to: number): Taps {
  const all = Array.from({ length: to }, (_, place) => rules[method](place, from, to));
  const reach = all.reduce((most, { weights }) => Math.max(most, weights.length), 1);
  const places = new Int32Array(to * reach);
  const weights = new Float64Array(to * reach);
  all.forEach((tap, place) => {
    for (let i = 0; i < reach; i++) {
      places[place * reach + i] = Math.min(from - 1, Math.max(0, tap.first + Math.min(i, tap.weights.length - 1)));
      weights[place * reach + i] = tap.weights[i] ?? 0;
    }
  });
  return { reach, places, weights };
}
