import { act, type ReactElement } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, onTestFinished, test } from "vitest";
import { Checkbox } from "@/components/ui/controls/fields";

test("shows the true state of a box pressed before hydration", async () => {
  const box: ReactElement = <Checkbox aria-label="all" checked={false} onChange={() => undefined} />;
  const host = document.body.appendChild(document.createElement("div"));
  host.innerHTML = renderToString(box);
  const inputElement = host.querySelector("input");
  if (!inputElement) throw new Error("no box");
  inputElement.checked = true;
  const root = await act(() => hydrateRoot(host, box));
  onTestFinished(() => act(() => root.unmount()));
  expect(inputElement.checked).toBe(false);
});
