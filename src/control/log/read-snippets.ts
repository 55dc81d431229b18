/** The first lines of what calls of a page were asked and answered. */
import type pg from 'pg';
import type { SqlRow } from './run-sql.ts';

export interface Snippet {
  /** The last message of the user. */
  readonly prompt: string;
  /** The beginning of the answer. */
  readonly answer: string;
}

/** The bounds leave out other days. */
const READ_SNIPPETS = `
  select t.id, t.prompt_snippet as prompt, t.answer_snippet as answer
  from unnest($1::uuid[], $2::timestamptz[]) as c (id, requested_at)
    join llm_texts t on t.id = c.id and t.requested_at = c.requested_at
  where t.account_id = $3 and t.requested_at between $4 and $5`;

/** Takes rows with `id` and `requested_at`. By id; a call whose text is not kept has none. */
export async function readSnippets(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  rows: readonly SqlRow[],
): Promise<ReadonlyMap<string, Snippet>> {
  const calls = rows.flatMap(({ id, requested_at: requestedAt }) =>
    requestedAt instanceof Date ? [{ id: String(id), requestedAt }] : [],
  );
  if (calls.length === 0) return new Map();
  const times = calls.map(({ requestedAt }) => requestedAt);
  const ordered = times.toSorted((a, b) => a.getTime() - b.getTime());
  const { rows: found } = await client.query<Snippet & { readonly id: string }>(READ_SNIPPETS, [
    calls.map(({ id }) => id),
    times,
    accountId,
    ordered[0],
    ordered.at(-1),
  ]);
  return new Map(found.map(({ id, prompt, answer }) => [id, { prompt, answer }]));
}
