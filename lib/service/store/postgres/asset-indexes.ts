// Finds assets by a piece of their name and by their metadata on PostgreSQL, which keeps these indexes up to date with every write.
// Must never: keep an asset from being stored. Characters that PostgreSQL's JSON does not accept (NUL, half of a surrogate pair) are U+FFFD
// and their digits in the index; damaged metadata is not in it.

/** The extension may exist already, in any schema; consoles that start at the same time create it too. */
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
