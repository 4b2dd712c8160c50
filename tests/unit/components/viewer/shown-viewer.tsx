// A viewer of three pictures and a film, with the comparison that it opens, as a page holds them; and what is pressed there.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { vi } from "vitest";
import { Compare } from "@/components/viewer/compare";
import { Viewer } from "@/components/viewer/viewer";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { graphs, picture } from "./viewer-world";

export const items = [
  picture("one", "job-1"),
  picture("two", "job-2"),
  { ...picture("three"), sizeBytes: 900_000_000 },
  { ...picture("film"), kind: "video" as const, sizeBytes: 2000 },
];

export function show(at = 0, canDownload = true) {
  const onClose = vi.fn();
  function WithState() {
    const [now, setNow] = useState(at);
    const [compared, setCompared] = useState<readonly string[]>([]);
    const isCovered = compared.length > 0;
    return (
      <>
        <Viewer
          count={items.length}
          at={now}
          itemAt={(n) => items[n]}
          onMove={setNow}
          onClose={onClose}
          onCompare={setCompared}
          isCovered={isCovered}
          canDownload={canDownload}
        />
        {isCovered ? (
          <Compare
            items={items.filter(({ id }) => compared.includes(id))}
            readWorkflow={async (jobId) => ok(graphs[jobId])}
            onClose={() => setCompared([])}
          />
        ) : null}
      </>
    );
  }
  renderInApp(<WithState />);
  return onClose;
}
export const shown = () => within(screen.getAllByRole("dialog")[0] ?? document.body).getByText(/^\d+ of \d+$/).textContent;
export const press = (key: string) => act(async () => void fireEvent.keyDown(screen.getByRole("group", { name: /Picture|film/ }), { key }));
export const hold = (key: string) =>
  act(async () => void fireEvent.keyDown(screen.getByRole("group", { name: /Picture|film/ }), { key, repeat: true }));
export const click = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
