// The weights of Lanczos as Pillow computes them, normalised and in fixed point.
// Guarantees: the weights of the last sizes are kept, within a bound: the other frames of a batch, and most often the next job, need the
// same ones.

/** The same value as in lanczos.as.ts. */
const PRECISION = 22;
const LOBES = 3;

/** `reach` weights for each result; those beyond its count are 0. */
type Coefficients = { reach: number; firsts: Int32Array; counts: Int32Array; weights: Int32Array };

const MOST_KNOWN = 8;
const MOST_WEIGHTS = 1 << 18;
const known = new Map<string, Coefficients>();

export function coefficients(from: number, to: number): Coefficients {
  const key = `${from}:${to}`;
  const found = known.get(key);
  if (found) return found;
  const made = compute(from, to);
  if (known.size >= MOST_KNOWN) known.clear();
  if (made.weights.length <= MOST_WEIGHTS) known.set(key, made);
  return made;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

function lanczos(x: number): number {
  return x > -LOBES && x < LOBES ? sinc(x) * sinc(x / LOBES) : 0;
}

function compute(from: number, to: number): Coefficients {
  const scale = from / to;
  const stretch = Math.max(1, scale);
  const support = LOBES * stretch;
  const reach = Math.ceil(support) * 2 + 1;
  const firsts = new Int32Array(to);
  const counts = new Int32Array(to);
  const weights = new Int32Array(to * reach);
  const raw = new Float64Array(reach);
  for (let place = 0; place < to; place++) {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const count = Math.min(from, Math.trunc(centre + support + 0.5)) - first;
    let total = 0;
    for (let i = 0; i < count; i++) total += raw[i] = lanczos((i + first - centre + 0.5) / stretch);
    for (let i = 0; i < count; i++) {
      const weight = raw[i] ?? 0;
      const exact = (total === 0 ? weight : weight / total) * 2 ** PRECISION;
      weights[place * reach + i] = Math.trunc(exact + (exact < 0 ? -0.5 : 0.5));
    }
    firsts[place] = first;
    counts[place] = count;
  }
  return { reach, firsts, counts, weights };
}
