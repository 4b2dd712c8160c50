// @vitest-environment jsdom
import { cleanup } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { TabTitle } from "@/components/run/run-split";
import { eventually } from "@/tests/support/eventually";
import { inPage, renderPage } from "./render";

afterEach(() => {
  cleanup();
  document.head.innerHTML = "";
});

/** The framework inserts its title there, before the existing ones. */
function pageTitle(text: string): HTMLTitleElement {
  const title = document.createElement("title");
  title.textContent = text;
  document.head.prepend(title);
  return title;
}

it("the workflow's name leads the tab's title, also before a page's title that comes later, and goes without a trace", async () => {
  pageTitle("Run a workflow · Lightdesk");
  const page = renderPage(<TabTitle name="Poster" />);
  expect(document.title).toBe("Poster · Run a workflow · Lightdesk");
  const late = pageTitle("Run a workflow · Lightdesk");
  await eventually(() => expect(document.title).toBe("Poster · Run a workflow · Lightdesk"));
  page.rerender(inPage(<TabTitle name="Hero" />));
  expect(document.title).toBe("Hero · Run a workflow · Lightdesk");
  late.textContent = "Jobs · Lightdesk";
  page.unmount();
  expect(document.title).toBe("Jobs · Lightdesk");
});
