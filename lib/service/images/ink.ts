// Pictures in four inks (CMYK) as red, green and blue, the way Pillow does it: each ink takes its part of what black has left.
// No colour profile is asked: the same file gives the same bytes everywhere.

/** a * b / 255, rounded, in whole numbers. */
function partOf(a: number, b: number): number {
  const product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/** Four bytes a pixel in, three out. */
export function inkToColours(inks: Uint8Array): Uint8Array {
  const colours = new Uint8Array((inks.length / 4) * 3);
  for (let from = 0, to = 0; from < inks.length; from += 4) {
    const light = 255 - (inks[from + 3] ?? 0);
    for (let ink = 0; ink < 3; ink++) colours[to++] = Math.max(0, light - partOf(inks[from + ink] ?? 0, light));
  }
  return colours;
}
