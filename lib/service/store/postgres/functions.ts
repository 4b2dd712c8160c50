export const postgresFunctions = `
CREATE FUNCTION is_json(document text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN
  PERFORM document::json;
  RETURN true;
EXCEPTION WHEN invalid_text_representation OR statement_too_complex THEN
  RETURN false;
END $$;

CREATE FUNCTION without_member(document text, member text, of_member text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN
  IF json_typeof(document::json) <> 'object' THEN
    RETURN document;
  END IF;
  RETURN (
    SELECT '{' || coalesce(string_agg(to_json(o.key)::text || ':' || CASE
        WHEN o.key = of_member AND json_typeof(o.value) = 'object' THEN (
          SELECT '{' || coalesce(string_agg(to_json(i.key)::text || ':' || i.value::text, ','), '') || '}'
            FROM json_each(o.value) AS i WHERE i.key <> member)
        ELSE o.value::text END, ','), '') || '}'
      FROM json_each(document::json) AS o);
-- A name that PostgreSQL has no text for, with a zero in it.
EXCEPTION WHEN untranslatable_character THEN
  RETURN '{}';
END $$;
`;

type Change = { event: "INSERT" | "DELETE" | "UPDATE"; rows: string; tables: string };

const insertChange: Change = { event: "INSERT", rows: "SELECT *, 1 AS change FROM came", tables: "NEW TABLE AS came" };
const deleteChange: Change = { event: "DELETE", rows: "SELECT *, -1 AS change FROM went", tables: "OLD TABLE AS went" };
const updateChange: Change = {
  event: "UPDATE",
  rows: "SELECT *, 1 AS change FROM came UNION ALL SELECT *, -1 AS change FROM went",
  tables: "OLD TABLE AS went NEW TABLE AS came",
};

function createStatementTrigger(table: string, name: string, { event, tables }: Change, body: string): string {
  return `
CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN${body}
  RETURN NULL;
END $$;
CREATE TRIGGER ${name} AFTER ${event} ON ${table} REFERENCING ${tables} FOR EACH STATEMENT EXECUTE FUNCTION ${name}();`;
}

const JOB_COUNTER = "user_id, workflow_id, state, has_image, has_video, has_audio";

/** Each job is counted twice: for its user ('') and for its workflow. */
const createJobCounter = ({ rows }: Change) => `
  INSERT INTO job_counts (${JOB_COUNTER}, n)
    SELECT user_id, counted_as, state, has_image, has_video, has_audio, sum(change)
      FROM (${rows}) AS changes CROSS JOIN LATERAL (VALUES (''), (workflow_id)) AS counters (counted_as)
      GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(change) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (${JOB_COUNTER}) DO UPDATE SET n = job_counts.n + excluded.n;`;

const removeEmptyCounts = `
  DELETE FROM job_counts WHERE n = 0 AND (user_id, workflow_id) IN (SELECT user_id, workflow_id FROM went);`;

const createAssetCounter = ({ rows }: Change) => `
  INSERT INTO asset_counts (owner_id, n) SELECT owner_id, sum(change) FROM (${rows}) AS changes GROUP BY 1 ORDER BY 1
    ON CONFLICT (owner_id) DO UPDATE SET n = asset_counts.n + excluded.n;`;

/** Content is counted while at least one asset refers to it. */
const addStorage = `
  INSERT INTO user_storage (owner_id, bytes)
    SELECT owner_id, sum(size) FROM (SELECT DISTINCT owner_id, hash, size FROM came WHERE owner_id <> 0) AS contents
      WHERE NOT EXISTS (SELECT 1 FROM assets
        WHERE assets.hash = contents.hash AND assets.owner_id = contents.owner_id AND seq NOT IN (SELECT seq FROM came))
      GROUP BY 1 ORDER BY 1
    ON CONFLICT (owner_id) DO UPDATE SET bytes = user_storage.bytes + excluded.bytes;`;
const subtractStorage = `
  UPDATE user_storage SET bytes = user_storage.bytes - gone.size FROM (
    SELECT owner_id, sum(size) AS size FROM (SELECT DISTINCT owner_id, hash, size FROM went WHERE owner_id <> 0) AS contents
      WHERE NOT EXISTS (SELECT 1 FROM assets WHERE assets.hash = contents.hash AND assets.owner_id = contents.owner_id)
      GROUP BY 1 ORDER BY 1) AS gone
    WHERE user_storage.owner_id = gone.owner_id;`;

const countTagsIn = `
  INSERT INTO tag_counts (owner_id, tag, n)
    SELECT owner_id, tag, count(*) FROM came JOIN assets ON assets.seq = asset_seq GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, tag) DO UPDATE SET n = tag_counts.n + excluded.n;`;
const countTagsOut = `
  UPDATE tag_counts SET n = tag_counts.n - gone.n FROM (
    SELECT owner_id, tag, count(*) AS n FROM went JOIN assets ON assets.seq = asset_seq GROUP BY 1, 2 ORDER BY 1, 2) AS gone
    WHERE tag_counts.owner_id = gone.owner_id AND tag_counts.tag = gone.tag;`;

export const postgresCounters = [
  createStatementTrigger("jobs", "jobs_counted_in", insertChange, createJobCounter(insertChange)),
  createStatementTrigger("jobs", "jobs_counted_out", deleteChange, createJobCounter(deleteChange) + removeEmptyCounts),
  createStatementTrigger("jobs", "jobs_recounted", updateChange, createJobCounter(updateChange) + removeEmptyCounts),
  createStatementTrigger("assets", "assets_counted_in", insertChange, createAssetCounter(insertChange)),
  createStatementTrigger("assets", "assets_counted_out", deleteChange, createAssetCounter(deleteChange)),
  createStatementTrigger("assets", "assets_stored", insertChange, addStorage),
  createStatementTrigger("assets", "assets_let_go", deleteChange, subtractStorage),
  createStatementTrigger("asset_tags", "tags_counted_in", insertChange, countTagsIn),
  createStatementTrigger("asset_tags", "tags_counted_out", deleteChange, countTagsOut),
  // A deleted asset's row is removed before its tags, so the owner of the tags must be looked up before that.
  `
CREATE FUNCTION tags_counted_out_with_asset() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE tag_counts SET n = n - 1 WHERE owner_id = old.owner_id AND tag IN (SELECT tag FROM asset_tags WHERE asset_seq = old.seq);
  RETURN old;
END $$;
CREATE TRIGGER tags_counted_out_with_asset BEFORE DELETE ON assets FOR EACH ROW EXECUTE FUNCTION tags_counted_out_with_asset();`,
].join("\n");

/** The extension may already exist in any schema, and consoles that start at the same time may create it too. */
export const postgresAssetIndexes = String.raw`
SELECT pg_advisory_xact_lock(hashtextextended('lightdesk pg_trgm', 0));
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
DO $$ BEGIN
  EXECUTE (SELECT format('CREATE INDEX asset_search_names ON assets USING gin (name_folded %I.gin_trgm_ops)', nspname)
    FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm');
END $$;

CREATE FUNCTION metadata_document(metadata text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$ BEGIN
  RETURN metadata::jsonb;
EXCEPTION WHEN OTHERS THEN
  BEGIN
    RETURN regexp_replace(metadata, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd\2', 'gi')::jsonb;
  EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
  END;
END $$;
CREATE INDEX asset_search_metadata ON assets USING gin (metadata_document(metadata) jsonb_path_ops);
`;
