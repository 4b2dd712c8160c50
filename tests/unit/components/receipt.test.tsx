// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { ReceiptLine } from "@/components/queue/receipt-line";
import { receiptOf, receiptOfClear } from "@/components/queue/receipt";
import { renderInApp } from "./render";

afterEach(cleanup);

const ids = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);

const said = (deleted: string[] | undefined) => ({ deleted, cleared: false });

describe("the receipt of a cancellation", () => {
  it("counts what the service says it cancelled, and nothing that was not asked for", () => {
    expect(receiptOf(ids(10), said([...ids(8), "somebody-elses"]))).toEqual({ kind: "told", cancelled: 8, tooLate: 2 });
  });

  it("of the whole queue counts whatever left it, and never claims less than nothing was late", () => {
    expect(receiptOfClear(9, said(ids(7)))).toEqual({ kind: "told", cancelled: 7, tooLate: 2 });
    expect(receiptOfClear(2, said(ids(3)))).toEqual({ kind: "told", cancelled: 3, tooLate: 0 });
  });

  it.each([
    [10, 8, "8 cancelled, 2 had already started"],
    [3, 3, "3 cancelled"],
    [1, 0, "Not cancelled: it had already started"],
    [3, 0, "None cancelled: all 3 had already started"],
  ])("of %i asked and %i cancelled it says: %s", (asked, cancelled, words) => {
    renderInApp(<ReceiptLine receipt={receiptOf(ids(asked), said(ids(cancelled)))} waiting={0} onDismiss={() => undefined} />);
    expect(screen.getByRole("status").textContent).toBe(words);
  });

  it.each([
    [1, 0, "The job waits no longer; the service names none that it cancelled"],
    [3, 0, "None of the 3 jobs waits any longer; the service names none that it cancelled"],
    [3, 2, "2 jobs still wait; the service names none that it cancelled"],
  ])("of %i asked, where the service names nothing and %i still wait, it says: %s", (asked, waiting, words) => {
    for (const receipt of [
      receiptOf(ids(asked), said(undefined)),
      receiptOfClear(asked, said(undefined)),
      receiptOfClear(asked, said([])),
    ]) {
      renderInApp(<ReceiptLine receipt={receipt} waiting={waiting} onDismiss={() => undefined} />);
      expect(screen.getByRole("status").textContent).toBe(words);
      cleanup();
    }
  });
});
