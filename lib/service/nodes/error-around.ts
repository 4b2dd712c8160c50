// An error of a run for which there is no node to name: of the service, of a runner, of a disk.

import { type ExecutionError } from "@/lib/contract/schemas/execution";

/** The error type of a job whose workflow a runner refused. */
export const REFUSED = "ValidationError";

/** An error that no node caused. */
export function errorAround(type: string, message: string): ExecutionError {
  return {
    node_id: "",
    node_type: "",
    exception_type: type,
    exception_message: message,
    traceback: [],
    current_inputs: {},
    current_outputs: {},
  };
}
