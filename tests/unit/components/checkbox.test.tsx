import { act, type ReactElement } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, onTestFinished, test } from "vitest";
import { Checkbox } from "@/components/ui/controls/fields";

test("shows the actual state when it was clicked before hydration", async () => {
  const element: ReactElement = <Checkbox aria-label="all" checked={false} onChange={() => undefined} />;
  const container = document.body.appendChild(document.createElement("div"));
  container.innerHTML = renderToString(element);
  const inputElement = container.querySelector("input");
  if (!inputElement) throw new Error("The checkbox has no input.");
  inputElement.checked = true;
  const root = await act(() => hydrateRoot(container, element));
  onTestFinished(() => act(() => root.unmount()));
  expect(inputElement.checked).toBe(false);
});
