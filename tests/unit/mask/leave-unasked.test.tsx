// @vitest-environment jsdom
// A person who was already asked, such as before signing out, is not asked again by the browser.
import { waitFor } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { takeWork } from "@/components/mask/file/mask-session";
import { leaveUnasked } from "@/components/ui/hooks/use-close-warning";
import { drawing, prepareEditorPage, press, show } from "./editor-page";

prepareEditorPage();
afterEach(() => leaveUnasked(false));

it("an unsaved mask, open or kept for the way back, does not hold up who means to leave", async () => {
  const asksBeforeLeaving = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  const { key, unmount } = show();
  await drawing();
  await press("i");
  await waitFor(() => expect(asksBeforeLeaving()).toBe(true));
  leaveUnasked(true);
  expect(asksBeforeLeaving()).toBe(false);
  leaveUnasked(false);
  unmount();
  expect(asksBeforeLeaving()).toBe(true);
  leaveUnasked(true);
  expect(asksBeforeLeaving()).toBe(false);
  takeWork(key);
});
