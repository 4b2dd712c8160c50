// The page that a worker's files share is emptied after each test: nothing rendered, nothing stored; after each file: the original address.
// Preloaded: the first response would import it, which a test with fake timers can't wait for.
import "@/lib/browser/read-answer";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach } from "vitest";

// Bounds a hang only: a busy machine takes more than a second to load part of a page.
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
