// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { afterEach, expect, test, vi } from "vitest";
import { useDayName } from "@/components/overview/part";

afterEach(cleanup);

function Day() {
  return <p>{useDayName()("2026-11-22")}</p>;
}

test.each([
  ["en-GB", "Sun 22 Nov"],
  ["en-US", "Sun, Nov 22"],
  ["zh-CN", "Sun, Nov 22"],
])("a day of the overview is written as its reader does, in %s", (language, written) => {
  vi.spyOn(navigator, "languages", "get").mockReturnValue([language]);
  render(
    <NextIntlClientProvider locale="en" messages={{}}>
      <Day />
    </NextIntlClientProvider>,
  );
  expect(screen.getByText(written)).toBeDefined();
});
