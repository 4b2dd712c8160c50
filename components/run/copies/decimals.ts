// Numbers as they are typed, exact to the last digit: 0.1 and 0.2 apart stay so over a thousand steps, and a seed of twenty digits stays whole.
// Guarantees: pure; nothing is rounded on the way; undefined for what is no number.

/** `digits` · 10^-`places` */
export type Decimal = { digits: bigint; places: number };

const MOST_PLACES = 20;
const MOST_DIGITS = 40;

export function toDecimal(text: string): Decimal | undefined {
  const [, sign = "", whole = "", fraction = ""] = /^([+-]?)(\d*)\.?(\d*)$/.exec(text.trim()) ?? [];
  if (whole + fraction === "" || fraction.length > MOST_PLACES || whole.length > MOST_DIGITS) return undefined;
  const digits = BigInt(whole + fraction);
  return { digits: sign === "-" ? -digits : digits, places: fraction.length };
}

/** What the graph gets: a number, or a BigInt where a number could not hold it. */
export function toLiteral({ digits, places }: Decimal): number | bigint {
  const scale = 10n ** BigInt(places);
  if (digits % scale !== 0n) return Number(`${digits}e-${places}`);
  const whole = digits / scale;
  return whole >= Number.MIN_SAFE_INTEGER && whole <= Number.MAX_SAFE_INTEGER ? Number(whole) : whole;
}

/** From one to the other, both ends included where the steps meet them; a step towards the other end, whatever its sign. `most` + 1 at most. */
export function steps(ends: { from: Decimal; to: Decimal; step: Decimal }, most: number): (number | bigint)[] {
  const places = Math.max(ends.from.places, ends.to.places, ends.step.places);
  const scaled = ({ digits, places: own }: Decimal) => digits * 10n ** BigInt(places - own);
  const [from, to] = [scaled(ends.from), scaled(ends.to)];
  const size = scaled(ends.step) < 0n ? -scaled(ends.step) : scaled(ends.step);
  if (size === 0n) return [];
  const span = to > from ? to - from : from - to;
  const count = span / size + 1n;
  const length = count > BigInt(most) ? most + 1 : Number(count);
  const towards = to < from ? -size : size;
  return Array.from({ length }, (_, index) => toLiteral({ digits: from + towards * BigInt(index), places }));
}
