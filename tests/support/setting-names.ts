// The names of all settings that a program reads from its environment.
import { readEnv } from "@/lib/server/env";
import { readServiceEnv } from "@/lib/service/settings";

type Source = Readonly<Record<string, string | undefined>>;

const requestedNames = (read: (source: Source) => unknown): ReadonlySet<string> => {
  const names = new Set<string>();
  read(
    new Proxy<Source>(
      {},
      {
        get(_, name) {
          names.add(String(name));
          return undefined;
        },
      },
    ),
  );
  return names;
};

/** By program that the image starts with `node`. */
export const settingsOf: Readonly<Record<string, ReadonlySet<string>>> = {
  "dist/console.mjs": requestedNames(readEnv),
  "dist/service.mjs": requestedNames(readServiceEnv),
};
