// Tells this process which assets change, while they do: triggers that live as long as the connection and see every write through it,
// by whatever statement. What is undone afterwards was told as well: whoever listens reads again what is there.

import { type Database as Connection } from "better-sqlite3";

/** What an order or a filter looks at; an asset that came or went has changed in every way. */
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

export function listenToAssets(connection: Connection, listener: AssetChangeListener): void {
  connection.function("asset_changed", (seq, changed) => {
    listener(Number(seq), Number(changed));
    return null;
  });
  connection.exec(`
    CREATE TEMP TRIGGER asset_came AFTER INSERT ON main.assets BEGIN SELECT asset_changed(new.seq, ${all}); END;
    CREATE TEMP TRIGGER asset_went AFTER DELETE ON main.assets BEGIN SELECT asset_changed(old.seq, ${all}); END;
    CREATE TEMP TRIGGER asset_edited AFTER UPDATE ON main.assets BEGIN SELECT asset_changed(new.seq, ${changedColumns.join(" + ")}); END;
    CREATE TEMP TRIGGER tag_came AFTER INSERT ON main.asset_tags BEGIN SELECT asset_changed(new.asset_seq, ${tags}); END;
    CREATE TEMP TRIGGER tag_went AFTER DELETE ON main.asset_tags BEGIN SELECT asset_changed(old.asset_seq, ${tags}); END;
  `);
}
