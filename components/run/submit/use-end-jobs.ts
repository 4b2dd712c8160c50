import { useRefreshCounts } from "@/components/frame/counts-context";
import { type ReceiptEntry } from "@/components/jobs/actions/receipt-entry";
import { useJobWork } from "@/components/jobs/actions/use-job-work";

type Choices = {
  connection: string | undefined;
  /** The jobs that were cancelled before they ran. Called even after the page was left, as some services forget such jobs. */
  onCancelled: (jobIds: readonly string[]) => void;
  refresh: () => Promise<unknown>;
};

/** Cancels and stops jobs that this page started. */
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
