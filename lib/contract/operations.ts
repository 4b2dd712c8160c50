// Every operation of the interface. The WebSocket is a capability without an operation.

import { type Operation } from "./operation";
import { assetOperations } from "./operations/assets";
import { fileOperations } from "./operations/files";
import { jobOperations } from "./operations/jobs";
import { serviceOperations } from "./operations/service";

export const operations = { ...jobOperations, ...assetOperations, ...fileOperations, ...serviceOperations };

export const allOperations: readonly Operation[] = Object.values(operations);
export const coreOperations: readonly Operation[] = allOperations.filter((operation) => operation.tier === "core");
