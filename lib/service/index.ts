// The one door of the embedded service: a plain Node library behind a fetch. Whoever uses it sees nothing else of this folder.

import { type Service, type ServiceKeys, type ServiceOptions } from "./options";

export type { KeyListing, Service, ServiceKeys, ServiceLog, ServiceOptions, UserStatus } from "./options";

export function createService(options: ServiceOptions): Service {
  throw new Error(`not yet: ${options.dataDir}`);
}

/** For the command line, beside a running service: takes no lock. The caller closes it. */
export function openServiceKeys(dataDir: string): ServiceKeys & { close(): void } {
  throw new Error(`not yet: ${dataDir}`);
}

