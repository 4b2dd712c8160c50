// A look-up whose result is checked before anything connects to it: one refused address among those of a name refuses the name. For servers:
// it needs Node's types. Must never: look up a name by itself; the caller passes the look-up in.

import { type LookupAddress, type LookupOptions } from "node:dns";

type All = LookupOptions & { all: true };
export type Resolve = (host: string, options: All, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;
type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
export type Lookup = (host: string, options: LookupOptions, done: Done) => void;

export function checkedLookup(resolve: Resolve, isRefused: (address: string) => boolean, refusal: () => Error): Lookup {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (!first) return done(error ?? new Error(`no address for ${host}`), []);
      if (addresses.some(({ address }) => isRefused(address))) return done(refusal(), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  };
}
