// Screens of the embedding that belong to no page of the console.
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { StartScreen } from "@/components/embed/start-screen";
import { ReadOnlyNotice } from "@/components/frame/read-only-notice";
import { renderInApp } from "../components/render";

afterEach(cleanup);

const origin = "https://app.example.com";

it.each([
  ["/jobs?status=failed", "/jobs?status=failed"],
  // Choosing an asset is only for host pages; the console has no such page.
  ["/choose", "/"],
  ["/nowhere", "/"],
])("a tab of %s leads whoever is no part of a host page to %s of the console", (from, href) => {
  renderInApp(<StartScreen origins={[origin]} from={from} ended={undefined} />);
  expect(screen.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(href);
});

it("a notice says that the console is read-only, who made it so and why", () => {
  renderInApp(<ReadOnlyNotice readOnly={{ since: Date.now(), by: "Ada", note: "The disk is being changed." }} />);
  expect(screen.getByRole("status").textContent).toMatch(/read-only.*Ada.*The disk is being changed\./);
});
