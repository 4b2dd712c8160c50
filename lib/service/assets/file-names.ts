// Which file a name means, for LoadImage and GET /api/view:
//   1. `blake3:` names and `<hash>` or `<hash>.<ext>`, where the user may see that content
//   2. the user's newest input of that name   3. any other own asset of it, newest first   4. a public asset
// A suffix ` [output]`, ` [temp]` or ` [input]` lets own assets with that tag go first.

import { basename } from "node:path/posix";
import { isRaster, rasterTypes } from "./media-type";
import { type Database, query } from "../store/database";
import { PUBLIC_OWNER } from "../users/user";
import { readAssets, type StoredAsset } from "./asset-row";

const hashName = /^(?:blake3:)?([0-9a-f]{64})(?:\.[A-Za-z0-9]{1,12})?$/;
const annotation = / ?\[(input|output|temp)\]$/;

export function findByName(database: Database, userId: number, name: string): StoredAsset | undefined {
  const wantedTag = annotation.exec(name)?.[1] ?? "input";
  const bare = name.replace(annotation, "");
  const hash = hashName.exec(bare)?.[1];
  const hashed = hash === undefined ? undefined : byHash(database, userId, hash);
  const seq = hashed ?? byName(database, userId, bare, wantedTag) ?? byName(database, userId, basename(bare), wantedTag);
  return seq === undefined ? undefined : readAssets(database, [seq])[0];
}

/**
 * What LoadImage finds under a name: the same file as GET /api/view, so a file that is no image hides an older image of its name, and
 * is told by its type. Undefined where nothing has the name.
 */
export function findImage(database: Database, userId: number, name: string): { hash: string } | { mediaType: string } | undefined {
  const found = findByName(database, userId, name);
  return found && (isRaster(found.media_type) ? { hash: found.hash } : { mediaType: found.media_type });
}

/** An own asset before a public one; an upload before an output; the oldest of equals. One content may have many assets: none is gathered. */
export function byHash(database: Database, userId: number, hash: string): number | undefined {
  const first = query.selectFrom("assets").select("seq").where("hash", "=", hash).orderBy("seq").limit(1);
  const own = first.where("owner_id", "=", userId);
  const found =
    database.row(own.where("origin", "<>", "output")) ?? database.row(own) ?? database.row(first.where("owner_id", "=", PUBLIC_OWNER));
  return found?.seq;
}

function byName(database: Database, userId: number, name: string, tag: string): number | undefined {
  if (name === "") return undefined;
  const named = query
    .selectFrom("assets")
    .select("assets.seq")
    .where("name", "=", name)
    .orderBy("created_at", "desc")
    .orderBy("assets.seq", "desc")
    .limit(1);
  const own = named.where("owner_id", "=", userId);
  const tagged = own.innerJoin("asset_tags", "asset_tags.asset_seq", "assets.seq").where("tag", "=", tag);
  return (database.row(tagged) ?? database.row(own) ?? database.row(named.where("owner_id", "=", PUBLIC_OWNER)))?.seq;
}

const MOST_CHOICES = 1000;

/** What LoadImage offers: names of own inputs, newest first, then public ones. */
export function listInputNames(database: Database, userId: number): string[] {
  const images = query
    .selectFrom("assets")
    .innerJoin("blobs", "blobs.hash", "assets.hash")
    .select("name")
    .where("media_type", "in", rasterTypes);
  const named = images.orderBy("assets.created_at", "desc").limit(MOST_CHOICES);
  const own = named.where("owner_id", "=", userId).where("origin", "=", "upload");
  return [...new Set([...database.rows(own), ...database.rows(named.where("owner_id", "=", PUBLIC_OWNER))].map((row) => row.name))];
}
