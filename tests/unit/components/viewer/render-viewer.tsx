// Renders a viewer of three pictures and a video with its comparison, and simulates input.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { vi } from "vitest";
import { Compare } from "@/components/viewer/compare";
import { type ViewerItem } from "@/components/viewer/use-viewing";
import { Viewer } from "@/components/viewer/viewer";
import { ok } from "@/lib/shared/result";
import { stubResizeObserver } from "@/tests/support/stub-resize-observer";
import { renderInApp } from "../render";
import { press } from "../render-screen";

/** Uses fake timers and stubs element sizes. */
export function stubBrowserApis(): void {
  vi.useFakeTimers();
  stubResizeObserver();
}

export const createPicture = (id: string, jobId?: string): ViewerItem => ({
  id,
  name: `${id}.png`,
  kind: "image",
  src: `/files/${id}`,
  jobId,
});
const createGraph = (seed: number) => ({ "3": { class_type: "Sampler", inputs: { seed, steps: 20 } } });
export const graphs: Readonly<Record<string, unknown>> = { "job-1": createGraph(1), "job-2": createGraph(2) };

export const items = [
  createPicture("one", "job-1"),
  createPicture("two", "job-2"),
  { ...createPicture("three"), sizeBytes: 900_000_000 },
  { ...createPicture("film"), kind: "video" as const, sizeBytes: 2000 },
];

export function renderViewer(startIndex = 0, canDownload = true) {
  const onClose = vi.fn();
  function StatefulViewer() {
    const [index, setIndex] = useState(startIndex);
    const [comparedIds, setComparedIds] = useState<readonly string[]>([]);
    const isCovered = comparedIds.length > 0;
    return (
      <>
        <Viewer
          count={items.length}
          index={index}
          getItem={(n) => items[n]}
          onMove={setIndex}
          onClose={onClose}
          onCompare={setComparedIds}
          isCovered={isCovered}
          canDownload={canDownload}
        />
        {isCovered ? (
          <Compare
            items={items.filter(({ id }) => comparedIds.includes(id))}
            readWorkflow={async (jobId) => ok(graphs[jobId])}
            onClose={() => setComparedIds([])}
          />
        ) : null}
      </>
    );
  }
  renderInApp(<StatefulViewer />);
  return onClose;
}
export const getPositionText = () => within(screen.getAllByRole("dialog")[0] ?? document.body).getByText(/^\d+ of \d+$/).textContent;
export const pressKey = (key: string, repeat = false) =>
  act(async () => void fireEvent.keyDown(screen.getByRole("group", { name: /Image|film/ }), { key, repeat }));

/** Marks the displayed picture and the next one, and compares them. */
export async function compareWithNext() {
  await pressKey("c");
  await pressKey("ArrowRight");
  await pressKey("c");
  await press("Compare 2");
}

/** Finishes loading the displayed picture. */
export async function finishLoading(name: string) {
  const image = screen.getByAltText(name);
  Object.defineProperty(image, "naturalWidth", { value: 640 });
  Object.defineProperty(image, "naturalHeight", { value: 480 });
  await act(async () => void fireEvent.load(image));
}
