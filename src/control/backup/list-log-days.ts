/** The days with calls, bodies or texts, by their partitions. */
import type pg from 'pg';

/** Days (UTC) such as `2026-11-28`, in order. */
export async function listLogDays(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows: partitions } = await client.query<{ name: string; day: string | null }>(
    `select c.oid::regclass::text as name, to_char(to_date(substring(c.relname from '^llm_(?:requests|bodies|texts)_p(\\d{8})$'),
       'YYYYMMDD'), 'YYYY-MM-DD') as day
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent in ('llm_requests'::regclass, 'llm_bodies'::regclass, 'llm_texts'::regclass)`,
  );
  const days = new Set<string>();
  for (const { name, day } of partitions) {
    if (day !== null && days.has(day)) continue;
    const { rows } = await client.query<{ day: string }>(
      day === null
        ? // Attached by somebody else: what days it has only its rows say.
          `select distinct to_char(requested_at at time zone 'UTC', 'YYYY-MM-DD') as day from ${name}`
        : `select '${day}' as day where exists (select from ${name})`,
    );
    for (const row of rows) days.add(row.day);
  }
  return [...days].sort();
}
