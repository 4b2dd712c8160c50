// @vitest-environment jsdom
import { act, type ReactElement } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, onTestFinished, test } from "vitest";
import { Checkbox } from "@/components/ui/controls/fields";

test("a box that was pressed before React was there shows what is so, as the press did nothing", async () => {
  const box: ReactElement = <Checkbox aria-label="all" checked={false} onChange={() => undefined} />;
  const host = document.body.appendChild(document.createElement("div"));
  host.innerHTML = renderToString(box);
  const drawn = host.querySelector("input");
  if (!drawn) throw new Error("no box");
  drawn.checked = true;
  const root = await act(() => hydrateRoot(host, box));
  onTestFinished(() => act(() => root.unmount()));
  expect(drawn.checked).toBe(false);
});
