// THE table: every operation of the interface, core and extension. Every call to a service goes through an entry of it.
// `events` (the WebSocket) is not a request with an answer; it is a capability without an operation.

import { type Operation } from "./operation";
import { assetOperations } from "./operations/assets";
import { fileOperations } from "./operations/files";
import { jobOperations } from "./operations/jobs";
import { serviceOperations } from "./operations/service";

export const operations = { ...jobOperations, ...assetOperations, ...fileOperations, ...serviceOperations };

export const allOperations: readonly Operation[] = Object.values(operations);
export const coreOperations: readonly Operation[] = allOperations.filter((operation) => operation.tier === "core");
