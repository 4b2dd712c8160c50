// Tells this process which assets have changed: triggers that live as long as the connection see every write through it, by any statement.
// Guarantees: the listener is called when the change is committed, before anything else is read; also for what one piece of a commit undid
// alone: listeners read the rows again.

import { type Database as Connection } from "better-sqlite3";

/** What an order or a filter looks at; an asset that was added or removed has changed in every way. */
export const assetChanges = {
  name: 1,
  created_at: 2,
  updated_at: 4,
  size: 8,
  last_access_time: 16,
  tags: 32,
  metadata: 64,
  existence: 128,
  all: 255,
} as const;

export type AssetChangeListener = (seq: number, changed: number) => void;

const columns = {
  name_folded: assetChanges.name,
  created_at: assetChanges.created_at,
  updated_at: assetChanges.updated_at,
  size: assetChanges.size,
  last_access_time: assetChanges.last_access_time,
  metadata: assetChanges.metadata,
};
const changedColumns = Object.entries(columns).map(([column, bit]) => `(old.${column} <> new.${column}) * ${bit}`);
const { all, tags } = assetChanges;

/** From now on the changes of each transaction are kept until it ends: `committed` tells of them, `undone` drops them. */
export function tellOfAssets(connection: Connection, listener: AssetChangeListener): { committed(): void; undone(): void } {
  let noted: { seq: number; changed: number }[] = [];
  connection.function("asset_changed", (seq, changed) => {
    const last = noted.at(-1);
    // An asset with its tags makes many changes of one row.
    if (last?.seq === Number(seq)) last.changed |= Number(changed);
    else noted.push({ seq: Number(seq), changed: Number(changed) });
    return null;
  });
  connection.exec(`
    CREATE TEMP TRIGGER asset_came AFTER INSERT ON main.assets BEGIN SELECT asset_changed(new.seq, ${all}); END;
    CREATE TEMP TRIGGER asset_went AFTER DELETE ON main.assets BEGIN SELECT asset_changed(old.seq, ${all}); END;
    CREATE TEMP TRIGGER asset_edited AFTER UPDATE ON main.assets BEGIN SELECT asset_changed(new.seq, ${changedColumns.join(" + ")}); END;
    CREATE TEMP TRIGGER tag_came AFTER INSERT ON main.asset_tags BEGIN SELECT asset_changed(new.asset_seq, ${tags}); END;
    CREATE TEMP TRIGGER tag_went AFTER DELETE ON main.asset_tags BEGIN SELECT asset_changed(old.asset_seq, ${tags}); END;
  `);
  return {
    committed() {
      const changes = noted;
      noted = [];
      for (const { seq, changed } of changes) listener(seq, changed);
    },
    undone: () => void (noted = []),
  };
}
