import { useCapabilities } from "@/components/frame/connection/use-capabilities";

/** False where the service is known to lack a way to stop running jobs; otherwise the act itself tells. Asked only while something runs. */
export function useCanStop(connection: string | undefined, isRunning: boolean): boolean {
  return useCapabilities(isRunning ? connection : undefined, ["jobs.stop"]).has("jobs.stop") !== false;
}
