import { useRefreshCounts } from "@/components/frame/counts-context";
import { type ReceiptEntry } from "@/components/jobs/actions/receipt-entry";
import { useJobWork } from "@/components/jobs/actions/use-job-work";

type Choices = {
  connection: string | undefined;
  /** They were cancelled before they ran. Told also after the page was left: some services forget such jobs. */
  onCancelled: (jobIds: readonly string[]) => void;
  refresh: () => Promise<unknown>;
};

/** Cancelling and stopping jobs that this page started. */
export function useEndJobs({ connection, onCancelled, refresh }: Choices) {
  const refreshCounts = useRefreshCounts();
  const tell = (entries: readonly ReceiptEntry[]) =>
    onCancelled(entries.flatMap(({ id, outcome }) => (outcome === "cancelled" ? [id] : [])));
  return useJobWork({
    connection,
    onDone: (_act, entries) => {
      tell(entries);
      void refreshCounts();
      void refresh();
    },
    onLeft: tell,
  });
}
