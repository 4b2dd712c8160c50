// Pictures, graphs of their jobs, and browser features that jsdom lacks, for tests of the viewer and its comparison.
import { act, fireEvent, screen } from "@testing-library/react";
import { vi } from "vitest";
import { type ViewerItem } from "@/components/viewer/use-viewing";
import { stubElementSizes } from "@/tests/support/jsdom-parts";

/** Stops the clock too. */
export function stubBrowserApis(): void {
  vi.useFakeTimers();
  stubElementSizes();
}

export function backToTheBrowser(): void {
  vi.useRealTimers();
  vi.unstubAllGlobals();
}

export const picture = (id: string, jobId?: string): ViewerItem => ({ id, name: `${id}.png`, kind: "image", src: `/files/${id}`, jobId });
export const graphs: Readonly<Record<string, unknown>> = {
  "job-1": { "3": { class_type: "Sampler", inputs: { seed: 1, steps: 20 } } },
  "job-2": { "3": { class_type: "Sampler", inputs: { seed: 2, steps: 20 } } },
};

export const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

/** Completes the loading of the shown picture. */
export async function arrive(name: string) {
  const image = screen.getByAltText(name);
  Object.defineProperty(image, "naturalWidth", { value: 640 });
  Object.defineProperty(image, "naturalHeight", { value: 480 });
  await act(async () => void fireEvent.load(image));
}
