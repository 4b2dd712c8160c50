// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Avatar } from "@/components/ui/card";

afterEach(cleanup);

it.each([
  ["Ada Lovelace", "AL"],
  ["ada", "A"],
  ["(Ada) de la Cruz-King", "AK"],
  ["王小明", "王"],
  ["e\u0301mile zola", "E\u0301Z"],
  ["grace.hopper@example.com", "GC"],
  ["***", ""],
])("%s is known by %s, which is not read out beside the name", (name, initials) => {
  const { container } = render(<Avatar name={name} />);
  expect(container.textContent).toBe(initials);
  expect(container.firstElementChild?.getAttribute("aria-hidden")).toBe("true");
});
