// Pictures, job graphs and browser stubs for tests of the viewer and its comparison.
import { act, fireEvent, screen } from "@testing-library/react";
import { vi } from "vitest";
import { type ViewerItem } from "@/components/viewer/use-viewing";
import { stubResizeObserver } from "@/tests/support/stub-resize-observer";

/** Uses fake timers and stubs element sizes. */
export function stubBrowserApis(): void {
  vi.useFakeTimers();
  stubResizeObserver();
}

export function restoreBrowserApis(): void {
  vi.useRealTimers();
  vi.unstubAllGlobals();
}

export const createPicture = (id: string, jobId?: string): ViewerItem => ({
  id,
  name: `${id}.png`,
  kind: "image",
  src: `/files/${id}`,
  jobId,
});
export const graphs: Readonly<Record<string, unknown>> = {
  "job-1": { "3": { class_type: "Sampler", inputs: { seed: 1, steps: 20 } } },
  "job-2": { "3": { class_type: "Sampler", inputs: { seed: 2, steps: 20 } } },
};

export const advanceTime = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

/** Finishes loading the displayed picture. */
export async function finishLoading(name: string) {
  const image = screen.getByAltText(name);
  Object.defineProperty(image, "naturalWidth", { value: 640 });
  Object.defineProperty(image, "naturalHeight", { value: 480 });
  await act(async () => void fireEvent.load(image));
}
