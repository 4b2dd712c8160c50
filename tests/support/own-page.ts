// The page that the files of a worker share is empty again after each: nothing rendered, nothing kept, the address as it was.
import { cleanup } from "@testing-library/react";
import { afterAll } from "vitest";

afterAll(() => {
  cleanup();
  document.body.replaceChildren();
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
});
