// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { ReceiptLine } from "@/components/queue/receipt-line";
import { receiptOf } from "@/components/queue/receipt";
import { renderInApp } from "./render";

afterEach(cleanup);

const ids = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);
const answer = (deleted: string[]) => ({ deleted, cleared: false });

describe("the receipt of a cancellation", () => {
  it("counts what the service says it cancelled, and nothing that was not asked for", () => {
    expect(receiptOf(ids(10), answer([...ids(8), "somebody-elses"]))).toEqual({ cancelled: 8, tooLate: 2 });
  });

  it.each([
    [10, 8, "8 cancelled, 2 had already started"],
    [3, 3, "3 cancelled"],
    [1, 0, "Not cancelled: it had already started"],
    [3, 0, "None cancelled: all 3 had already started"],
  ])("of %i asked and %i cancelled it says: %s", (asked, cancelled, words) => {
    renderInApp(<ReceiptLine receipt={receiptOf(ids(asked), answer(ids(cancelled)))} onDismiss={() => undefined} />);
    expect(screen.getByRole("status").textContent).toBe(words);
  });
});
