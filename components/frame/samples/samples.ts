/** Files in /samples, in display order. Titles are in the message catalogue, images in /samples/pictures. */
export const samples = [
  "02-poster-from-photo",
  "09-colour-field",
  "03-composite-with-mask",
  "10-light-leaks",
  "04-four-variants",
  "01-invert",
  "05-slow",
  "06-fails-half-way",
] as const;
export const imageSamples = [
  "02-poster-from-photo",
  "03-composite-with-mask",
  "10-light-leaks",
  "04-four-variants",
] as const satisfies readonly SampleName[];
export type SampleName = (typeof samples)[number];

/** The node classes that each sample uses. A service may not have all of them. */
export const sampleClasses: Readonly<Record<SampleName, readonly string[]>> = {
  "01-invert": ["EmptyImage", "ImageInvert", "SaveImage"],
  "02-poster-from-photo": ["EmptyImage", "ImageBlend", "ImageScale", "ImageSharpen", "LoadImage", "SaveImage"],
  "03-composite-with-mask": ["EmptyImage", "ImageCompositeMasked", "InvertMask", "LoadImage", "MaskToImage", "PreviewImage", "SaveImage"],
  "04-four-variants": ["ImageBatch", "ImageBlur", "ImageInvert", "ImageScale", "LoadImage", "SaveImage"],
  "05-slow": ["EmptyImage", "SaveImage", "Wait"],
  "06-fails-half-way": ["EmptyImage", "Fail", "PreviewImage", "SaveImage", "Wait"],
  "09-colour-field": ["EmptyImage", "ImageAddNoise", "ImageBlur", "ImageScale", "SaveImage"],
  "10-light-leaks": ["EmptyImage", "ImageAddNoise", "ImageBlend", "ImageScale", "LoadImage", "SaveImage"],
};

export function isSample(name: unknown): name is SampleName {
  return samples.some((sample) => sample === name);
}

// A request from another page to the Run page: a sample to run, or files to open. Stored in memory, because a URL that runs a job could be
// shared as a link.

type RunRequest = { sample: SampleName } | { files: readonly File[] };

let pendingRequest: RunRequest | undefined;

export function requestRun(request: RunRequest): void {
  pendingRequest = request;
}

/** Returns the pending request and clears it. */
export function consumeRunRequest(): RunRequest | undefined {
  const runRequest = pendingRequest;
  pendingRequest = undefined;
  return runRequest;
}
