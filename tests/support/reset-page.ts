// Clears the shared page after each test, and restores the URL after each file.
// Preloaded, since a test with fake timers can't wait for the import.
import "@/lib/browser/parse-response";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach } from "vitest";

// A busy machine can take more than a second to load part of a page.
configure({ asyncUtilTimeout: 20_000 });

// jsdom has no modal dialogs.
HTMLDialogElement.prototype.showModal = function showModal(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close = function close(this: HTMLDialogElement) {
  if (!this.open) return;
  this.open = false;
  this.dispatchEvent(new Event("close"));
};

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});

afterAll(() => {
  document.body.replaceChildren();
  history.replaceState(null, "", "/");
});
