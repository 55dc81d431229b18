/** A log with bodies, made by SQL alone. Bodies look as they are stored: packed, so that nothing packs them further. */
import type pg from 'pg';
import { makeCalls } from '../promotion/make-calls.ts';

/** One in so many calls has bodies. */
const BODIES_OF = 5;
/** Blocks of 64 bytes: 1 KiB asked, 1.5 KiB answered. */
const INSERT_BODIES = `
  insert into llm_bodies (id, requested_at, headers, request, request_packing, request_content_type, request_total_bytes,
    request_head_bytes, response, response_packing, response_content_type, response_total_bytes, response_head_bytes)
  select id, requested_at,
    jsonb_build_object('request', jsonb_build_array(jsonb_build_array('content-type', 'application/json')), 'response', '[]'::jsonb),
    (select string_agg(sha512((id::text || block)::bytea), '') from generate_series(1, 16) block), 'zstd', 'application/json', 2048, 2048,
    (select string_agg(sha512((id::text || block)::bytea), '') from generate_series(17, 40) block), 'zstd', 'application/json', 4096, 4096
  from llm_requests where ('x' || right(id::text, 7))::bit(28)::int4 % ${BODIES_OF} = 0`;

/** The client must have no statement limit. */
export async function fillLog(client: pg.ClientBase, calls: number): Promise<void> {
  await makeCalls(client, calls, Date.now());
  await client.query(INSERT_BODIES);
  await client.query('analyze llm_bodies');
}
