// The page that a worker's files share is emptied after each file: nothing rendered, nothing stored, the original address.
// Preloaded: the first response would import it, which a test with fake timers can't wait for.
import "@/lib/browser/read-answer";
import { cleanup, configure } from "@testing-library/react";
import { afterAll } from "vitest";

// Only bounds a hang: a busy machine takes more than the usual second to load a part of a page.
configure({ asyncUtilTimeout: 20_000 });

// jsdom has no modal dialogs.
HTMLDialogElement.prototype.showModal = function showModal(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close = function close(this: HTMLDialogElement) {
  this.open = false;
};

afterAll(() => {
  cleanup();
  document.body.replaceChildren();
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
});
