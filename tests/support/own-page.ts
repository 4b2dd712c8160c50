// The page that the files of a worker share is empty again after each: nothing rendered, nothing kept, the address as it was.
import { cleanup, configure } from "@testing-library/react";
import { afterAll } from "vitest";

// A bound on what hangs: a busy machine takes more than the usual second to load a part of a page.
configure({ asyncUtilTimeout: 20_000 });

afterAll(() => {
  cleanup();
  document.body.replaceChildren();
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
});
