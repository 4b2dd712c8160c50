// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { JobStatus } from "@/components/frame/job-status";
import { StatusBadge, tones } from "@/components/ui/status-badge";
import { renderInApp } from "./render";

afterEach(cleanup);

describe("the status badge", () => {
  it.each(tones)("says the tone %s as an icon, a word and a colour", (tone) => {
    renderInApp(<StatusBadge tone={tone} word="Some word" />);
    const badge = screen.getByText("Some word");
    expect(badge.querySelector("svg[aria-hidden=true] > *")).not.toBeNull();
    expect(badge.className).toMatch(/\bbg-\w+-soft\b/);
  });

  it("draws another icon for each tone, so that colour is never the only difference", () => {
    const { container } = renderInApp(tones.map((tone) => <StatusBadge key={tone} tone={tone} word={tone} />));
    const icons = [...container.querySelectorAll("svg")].map((svg) => svg.innerHTML);
    expect(new Set(icons).size).toBe(tones.length);
  });
});

describe("a job's status", () => {
  it.each([
    ["executing", "Running", "run"],
    ["queued_waiting", "Pending", "wait"],
    ["success", "Completed", "ok"],
    ["lost", "Failed", "bad"],
    ["canceled", "Cancelled", "off"],
  ])("reads the word %s as %s", (word, shown, tone) => {
    renderInApp(<JobStatus word={word} />);
    const badge = screen.getByText(shown);
    expect(badge.dataset.tone).toBe(tone);
    expect(badge.title).toContain(word);
  });

  it("shows a word that nobody knows as it is", () => {
    renderInApp(<JobStatus word="simmering" />);
    expect(screen.getByText("simmering").dataset.tone).toBe("unknown");
  });
});
