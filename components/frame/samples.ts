/** Files under /samples; the title of each stands in the message catalogue. */
export const samples = [
  "01-invert",
  "02-poster-from-photo",
  "03-composite-with-mask",
  "04-four-variants",
  "05-slow",
  "06-fails-half-way",
] as const;
/** Those that take a picture. */
export const pictureSamples = [
  "02-poster-from-photo",
  "03-composite-with-mask",
  "04-four-variants",
] as const satisfies readonly SampleName[];
export type SampleName = (typeof samples)[number];

export function isSample(name: unknown): name is SampleName {
  return samples.some((sample) => sample === name);
}
