// What finds assets by a piece of their name and by their metadata where the database is PostgreSQL: it keeps these itself, with every write.
// Must never: keep an asset from being stored. What JSON of PostgreSQL does not take (NUL, half of a surrogate pair) is U+FFFD and its digits
// in the index, and damaged metadata is not in it.

/** The extension may be there already, in whichever schema; consoles that start at the same time bring it along too. */
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
