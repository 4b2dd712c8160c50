// The names of all settings that a program reads from its environment.
import { readEnv } from "@/lib/server/env";
import { readServiceEnv } from "@/lib/service/settings";

type Source = Readonly<Record<string, string | undefined>>;

const collectSettingNames = (read: (source: Source) => unknown): ReadonlySet<string> => {
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

/** Setting names by program that the image starts with `node`. */
export const settingsOf: Readonly<Record<string, ReadonlySet<string>>> = {
  "dist/console.mjs": collectSettingNames(readEnv),
  "dist/service.mjs": collectSettingNames(readServiceEnv),
};
