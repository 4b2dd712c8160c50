// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { useTranslations } from "next-intl";
import { type Receipt, receiptOfClear, receiptSentence } from "@/components/jobs/queue/clear-receipt";
import { renderInApp } from "./render";

afterEach(cleanup);

const ids = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);

function Said({ receipt, waiting }: { receipt: Receipt; waiting: number }) {
  const t = useTranslations("queue.receipt");
  const { key, values } = receiptSentence(receipt, waiting);
  return <p role="status">{t(key, values)}</p>;
}

const said = (deleted: string[] | undefined) => ({ deleted, cleared: false });

describe("the receipt of clearing the queue", () => {
  it("of the whole queue counts whatever left it, and never claims less than nothing was late", () => {
    expect(receiptOfClear(9, said(ids(7)))).toEqual({ kind: "told", cancelled: 7, tooLate: 2 });
    expect(receiptOfClear(2, said(ids(3)))).toEqual({ kind: "told", cancelled: 3, tooLate: 0 });
  });

  it.each([
    [10, 8, "8 cancelled, 2 had already started"],
    [3, 3, "3 cancelled"],
  ])("of %i asked and %i cancelled it says: %s", (asked, cancelled, words) => {
    renderInApp(<Said receipt={receiptOfClear(asked, said(ids(cancelled)))} waiting={0} />);
    expect(screen.getByRole("status").textContent).toBe(words);
  });

  it.each([
    [3, 0, "None of the 3 jobs is waiting any more. The service's answer was lost"],
    [3, 3, "3 jobs are still waiting. The service's answer was lost"],
  ])("of %i asked, where the answer was lost and %i wait afterwards, it says: %s", (asked, waiting, words) => {
    renderInApp(<Said receipt={{ kind: "lost", asked }} waiting={waiting} />);
    expect(screen.getByRole("status").textContent).toBe(words);
  });

  it.each([
    [1, 0, "The job is no longer waiting. The service does not report which ones it cancelled"],
    [3, 0, "None of the 3 jobs is waiting any more. The service does not report which ones it cancelled"],
    [3, 2, "2 jobs are still waiting. The service does not report which ones it cancelled"],
  ])("of %i asked, where the service names nothing and %i still wait, it says: %s", (asked, waiting, words) => {
    for (const receipt of [receiptOfClear(asked, said(undefined)), receiptOfClear(asked, said([]))]) {
      renderInApp(<Said receipt={receipt} waiting={waiting} />);
      expect(screen.getByRole("status").textContent).toBe(words);
      cleanup();
    }
  });
});
