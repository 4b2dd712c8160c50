// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { useTranslations } from "next-intl";
import { type Receipt, receiptOf, receiptOfClear, receiptSentences } from "@/components/queue/receipt";
import { type StopReceipt } from "@/lib/contract/console";
import { renderInApp } from "./render";

afterEach(cleanup);

const ids = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);

function Said({ receipt, stop, waiting }: { receipt?: Receipt; stop?: StopReceipt; waiting: number }) {
  const t = useTranslations("queue.receipt");
  return (
    <p role="status">
      {receiptSentences(receipt, stop, waiting)
        .map(({ key, values }) => t(key, values))
        .join(", ")}
    </p>
  );
}

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
    renderInApp(<Said receipt={receiptOf(ids(asked), said(ids(cancelled)))} waiting={0} />);
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
      renderInApp(<Said receipt={receipt} waiting={waiting} />);
      expect(screen.getByRole("status").textContent).toBe(words);
      cleanup();
    }
  });

  const nothing: StopReceipt = { stopped: [], stopping: [], over: [], unable: [], together: 0 };
  it.each<[Partial<StopReceipt>, string]>([
    [{ stopped: ids(2), over: ids(1) }, "2 stopped, 1 had already ended"],
    [{ stopping: ids(1) }, "1 asked to stop"],
    [{ unable: ids(1) }, "1 still runs: this service cannot stop it"],
    [{ unable: ids(1), together: 3 }, "this service can stop its 3 running jobs only together"],
  ])("of running jobs, where %o, it says: %s", (stop, words) => {
    renderInApp(<Said stop={{ ...nothing, ...stop }} waiting={0} />);
    expect(screen.getByRole("status").textContent).toBe(words);
  });

  it("says both where waiting and running jobs were meant", () => {
    renderInApp(<Said receipt={receiptOf(ids(2), said(ids(2)))} stop={{ ...nothing, stopped: ids(1) }} waiting={0} />);
    expect(screen.getByRole("status").textContent).toBe("2 cancelled, 1 stopped");
  });
});
