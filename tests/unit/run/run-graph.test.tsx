// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { sampleText } from "./files";
import { apiTo, openText, show } from "./page";

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

it("the workflow is drawn with its form when somebody asks for it", async () => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  show(apiTo(undefined));
  await openText(sampleText("01-invert"));
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(await screen.findByRole("searchbox")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Graph" }));
  expect(screen.queryByRole("searchbox")).toBeNull();
});
