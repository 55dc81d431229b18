/** The roll-ups of calls that did not come through the shipper, by the shipper's own statements. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FACET_SOURCE_COLUMNS } from '../../src/control/log/call-facets.ts';
import { insertCostDeltas } from '../../src/control/log/cost-hourly.ts';
import { addSourceToFacets } from '../../src/control/log/facet-deltas.ts';
import { fillFacets } from '../../src/control/log/fill-facets.ts';
import { foldRollups } from '../../src/control/log/fold-rollups.ts';
import { insertMetadataDeltas } from '../../src/control/log/metadata-hourly.ts';
import { runUpsert } from '../../src/control/log/run-upsert.ts';

const OTHER_FOLDS_MS = 200;

/** `table` holds calls that are in no roll-up yet. */
export async function fillRollups(client: pg.ClientBase, table: string): Promise<void> {
  const calls = `(select 1 as sign, * from ${table}) calls`;
  await client.query(runUpsert(calls));
  await client.query(insertCostDeltas(calls));
  await client.query(insertMetadataDeltas(calls));
  await addSourceToFacets(client, `(select 1 as sign, ${FACET_SOURCE_COLUMNS.join(', ')} from ${table}) calls`);
}

export async function foldAll(pool: pg.Pool): Promise<void> {
  for (;;) {
    const isMore = await foldRollups(pool);
    if (isMore === false) return;
    if (isMore === null) await sleep(OTHER_FOLDS_MS);
  }
}

/** What the gateway does after an upgrade, without its pauses. */
export async function fillOldHours(pool: pg.Pool): Promise<void> {
  while (await fillFacets(pool)) await foldAll(pool);
}
