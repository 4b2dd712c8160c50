import { useCapabilities } from "@/components/frame/connection/use-capabilities";

/** False where the service is known to have no way to stop what runs: else the act will tell. Asked for only while something does. */
export function useCanStop(connection: string | undefined, isRunning: boolean): boolean {
  return useCapabilities(isRunning ? connection : undefined, ["jobs.stop"]).has("jobs.stop") !== false;
}
