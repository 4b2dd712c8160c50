// Puts a class of a test's own in the place of the SQLite module of this process, whichever of the two it is (lib/shared/database/sqlite.ts).
import { createRequire } from "node:module";

/** @param {(DatabaseSync: typeof import("@photostructure/sqlite").DatabaseSync) => unknown} subclass */
export function wrapSqlite(subclass) {
  const getBuiltinModule = process.getBuiltinModule;
  process.getBuiltinModule = (name) => {
    const found = getBuiltinModule(name);
    if (name !== "node:sqlite") return found;
    const { DatabaseSync, backup } = found?.backup ? found : createRequire(import.meta.url)("@photostructure/sqlite");
    return { DatabaseSync: subclass(DatabaseSync), backup };
  };
}
