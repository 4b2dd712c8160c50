// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useShown } from "@/components/viewer/use-shown";
import { useViewing } from "@/components/viewer/use-viewing";
import { renderInApp } from "../render";

const ids = ["one", "two", "three"];
const onClosed = vi.fn();
const onRest = vi.fn();

function Page() {
  const viewing = useViewing({ indexOf: (id) => ids.indexOf(id), idAt: (index) => ids[index], onRest, onClosed });
  const compared = useShown("compare");
  return (
    <>
      <button onClick={() => viewing.open(1)}>Open</button>
      <button onClick={() => viewing.move((viewing.at ?? 0) + 1)}>Next</button>
      <button onClick={viewing.close}>Close</button>
      <button onClick={() => compared.open("one,two")}>Compare</button>
      <p>{viewing.isOpen ? `sees ${viewing.id}` : "sees the page"}</p>
      <p>{compared.value === undefined ? "compares nothing" : `compares ${compared.value}`}</p>
    </>
  );
}
const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
const sees = (text: string) => waitFor(() => expect(screen.getByText(text)).toBeDefined());
const address = () => window.location.pathname + window.location.search;

beforeEach(() => {
  window.history.replaceState(null, "", "/assets?sort=name");
  window.history.pushState(null, "", "/assets?sort=size");
  vi.clearAllMocks();
});
afterEach(cleanup);

it("Back closes what is shown and leaves the page where it was; Forward shows it again", async () => {
  renderInApp(<Page />);
  await press("Open");
  await sees("sees two");
  expect(address()).toBe("/assets?sort=size&show=two");
  window.history.back();
  await sees("sees the page");
  expect(address()).toBe("/assets?sort=size");
  await waitFor(() => expect(onClosed).toHaveBeenCalledWith(1));
  window.history.forward();
  await sees("sees two");
});

it("closing it leaves no entry behind: the next Back goes where the person came from", async () => {
  renderInApp(<Page />);
  await press("Open");
  await press("Next");
  await sees("sees three");
  await waitFor(() => expect(address()).toBe("/assets?sort=size&show=three"));
  expect(onRest).toHaveBeenCalledExactlyOnceWith(2);
  await press("Close");
  await sees("sees the page");
  expect(address()).toBe("/assets?sort=size");
  await waitFor(() => expect(onClosed).toHaveBeenCalledExactlyOnceWith(2));
  window.history.back();
  await waitFor(() => expect(address()).toBe("/assets?sort=name"));
});

it("a comparison before the viewer is closed by the first Back, the viewer by the second", async () => {
  renderInApp(<Page />);
  await press("Open");
  await press("Compare");
  await sees("compares one,two");
  window.history.back();
  await sees("compares nothing");
  await sees("sees two");
  window.history.back();
  await sees("sees the page");
  expect(address()).toBe("/assets?sort=size");
});
