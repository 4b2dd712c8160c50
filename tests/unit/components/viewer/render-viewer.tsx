// Renders a viewer of three pictures and a video with its comparison, and simulates input.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { vi } from "vitest";
import { Compare } from "@/components/viewer/compare";
import { Viewer } from "@/components/viewer/viewer";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { createPicture, graphs } from "./viewer-fixtures";

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
export const pressKey = (key: string) =>
  act(async () => void fireEvent.keyDown(screen.getByRole("group", { name: /Picture|film/ }), { key }));
export const repeatKey = (key: string) =>
  act(async () => void fireEvent.keyDown(screen.getByRole("group", { name: /Picture|film/ }), { key, repeat: true }));
export const clickButton = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
