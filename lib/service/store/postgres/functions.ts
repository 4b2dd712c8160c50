// Functions for statements that PostgreSQL lacks until version 16, or entirely. JSON is kept as text, as in SQLite: `jsonb` would rewrite
// its numbers.

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
