// Replaces this process's SQLite class with a test's subclass, for both modules of lib/shared/database/sqlite.ts.
import { createRequire } from "node:module";

/** @param {(DatabaseSync: typeof import("@photostructure/sqlite").DatabaseSync) => unknown} subclass */
export function wrapSqlite(subclass) {
  const getBuiltinModule = process.getBuiltinModule;
  process.getBuiltinModule = (name) => {
    const builtinModule = getBuiltinModule(name);
    if (name !== "node:sqlite") return builtinModule;
    const { DatabaseSync, backup } = builtinModule?.backup ? builtinModule : createRequire(import.meta.url)("@photostructure/sqlite");
    return { DatabaseSync: subclass(DatabaseSync), backup };
  };
}
