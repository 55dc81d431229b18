/**
 * Every table that a backup holds, in an order in which they can be filled. A test compares the list with the schema,
 * so that a new table is not forgotten; the columns are read from the database.
 */

export interface BackupTable {
  readonly name: string;
  /**
   * `log`: grows with the calls; emptied at once, whole. `own`: what people or jobs have put there. `kept`: every
   * gateway has rows in it from the start.
   */
  readonly kind: 'log' | 'own' | 'kept';
  /** What its rows are called when there are some in the way. */
  readonly rows: string;
  /** Written in place of what a column holds, as SQL. */
  readonly constants?: Readonly<Record<string, string>>;
}

/**
 * `ingest_xid` is a number of the server's own transactions. In another server it would be in the future, and its rows
 * hidden from the live tail until then; as the first number that a row can have they are old to every reader.
 */
const LONG_AGO = "'3'::xid8";

export const BACKUP_TABLES: readonly BackupTable[] = [
  { name: 'accounts', kind: 'kept', rows: 'accounts' },
  { name: 'gateway_keys', kind: 'kept', rows: 'keys' },
  { name: 'key_snapshot', kind: 'kept', rows: 'versions' },
  { name: 'deployment_settings', kind: 'kept', rows: 'settings of all nodes' },
  { name: 'jobs', kind: 'own', rows: 'jobs' },
  { name: 'metadata_keys', kind: 'own', rows: 'promoted metadata keys' },
  { name: 'llm_requests', kind: 'log', rows: 'calls', constants: { ingest_xid: LONG_AGO } },
  { name: 'llm_open_calls', kind: 'log', rows: 'calls under way' },
  { name: 'llm_closed_calls', kind: 'log', rows: 'calls that were closed' },
  { name: 'llm_bodies', kind: 'log', rows: 'bodies' },
  { name: 'llm_runs', kind: 'log', rows: 'runs' },
  { name: 'llm_run_facets', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_metadata_hourly', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_cost_hourly', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_billed_results', kind: 'log', rows: 'results' },
  { name: 'price_overrides', kind: 'own', rows: 'declared prices' },
  { name: 'price_mappings', kind: 'own', rows: 'model mappings' },
  { name: 'price_multipliers', kind: 'own', rows: 'price multipliers' },
  { name: 'price_catalogs', kind: 'own', rows: 'imported price catalogues' },
  { name: 'price_feed', kind: 'kept', rows: 'feeds' },
  { name: 'price_changes', kind: 'own', rows: 'changes of prices' },
  { name: 'price_book_version', kind: 'kept', rows: 'versions' },
  { name: 'cost_revisions', kind: 'log', rows: 'revised costs' },
  { name: 'reprice_days', kind: 'own', rows: 'days priced again' },
  { name: 'repriced_list_prices', kind: 'kept', rows: 'versions' },
];

/** What stays in its database: sign-ins and signs of life are for the moment, and for the nodes that run on it. */
export const TABLES_LEFT_OUT: readonly string[] = ['ended_sessions', 'login_codes', 'nodes'];
