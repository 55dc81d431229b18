/** Every table of a backup, in an order in which they can be filled. Columns are read from the database. */

export interface BackupTable {
  readonly name: string;
  /** `log` grows with calls; `own` holds what people or jobs made; `kept` has rows in every gateway. */
  readonly kind: 'log' | 'own' | 'kept';
  /** The rows' name in the message about a gateway that is not empty. */
  readonly rows: string;
  /** SQL that replaces a column's values. */
  readonly constants?: Readonly<Record<string, string>>;
}

/**
 * `ingest_xid` is a transaction number of its server; elsewhere it could lie in the future and hide rows from the live
 * tail. The first valid number is old to every reader. It stands for `stored_xid` too, which becomes null: to every reader a
 * restored call was stored where it is now, also one that had been moved to another run.
 */
const LONG_AGO = "'3'::xid8";

export const BACKUP_TABLES: readonly BackupTable[] = [
  { name: 'accounts', kind: 'kept', rows: 'accounts' },
  { name: 'people', kind: 'own', rows: 'people' },
  { name: 'memberships', kind: 'own', rows: 'memberships' },
  { name: 'gateway_keys', kind: 'kept', rows: 'keys' },
  { name: 'call_limits', kind: 'own', rows: 'limits' },
  { name: 'key_snapshot', kind: 'kept', rows: 'versions' },
  { name: 'budget_version', kind: 'kept', rows: 'versions' },
  { name: 'budgets', kind: 'own', rows: 'budgets' },
  { name: 'budget_spend', kind: 'log', rows: 'sums of budgets' },
  { name: 'deployment_settings', kind: 'kept', rows: 'settings of all nodes' },
  { name: 'audit_log', kind: 'kept', rows: 'rows of the audit log' },
  { name: 'audit_head', kind: 'kept', rows: 'ends of the audit log' },
  { name: 'erasures', kind: 'own', rows: 'erasures' },
  { name: 'provider_credentials', kind: 'own', rows: 'kept credentials' },
  { name: 'jobs', kind: 'own', rows: 'jobs' },
  { name: 'metadata_keys', kind: 'own', rows: 'promoted metadata keys' },
  { name: 'llm_requests', kind: 'log', rows: 'calls', constants: { ingest_xid: LONG_AGO, stored_xid: 'null' } },
  { name: 'llm_open_calls', kind: 'log', rows: 'calls under way' },
  { name: 'llm_closed_calls', kind: 'log', rows: 'calls that were closed' },
  { name: 'llm_bodies', kind: 'log', rows: 'bodies' },
  { name: 'llm_texts', kind: 'log', rows: 'texts', constants: { ingest_xid: LONG_AGO } },
  { name: 'llm_runs', kind: 'log', rows: 'runs' },
  { name: 'llm_run_facets', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_metadata_hourly', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_cost_hourly', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_metadata_deltas', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_cost_deltas', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_facet_hourly', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_facet_deltas', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_wide_facets', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_facet_fill', kind: 'log', rows: 'roll-ups' },
  { name: 'llm_billed_results', kind: 'log', rows: 'results' },
  { name: 'brake_rules', kind: 'own', rows: 'brake rules' },
  { name: 'brake_hits', kind: 'own', rows: 'hits of brakes' },
  { name: 'alert_destinations', kind: 'own', rows: 'destinations of alerts' },
  { name: 'alerts', kind: 'own', rows: 'alerts' },
  { name: 'alert_events', kind: 'own', rows: 'what alerts found' },
  { name: 'alert_deliveries', kind: 'own', rows: 'deliveries' },
  { name: 'price_overrides', kind: 'own', rows: 'declared prices' },
  { name: 'price_mappings', kind: 'own', rows: 'model mappings' },
  { name: 'price_multipliers', kind: 'own', rows: 'price multipliers' },
  { name: 'price_catalogs', kind: 'own', rows: 'imported price catalogs' },
  { name: 'price_feed', kind: 'kept', rows: 'feeds' },
  { name: 'price_changes', kind: 'own', rows: 'changes of prices' },
  { name: 'price_book_version', kind: 'kept', rows: 'versions' },
  { name: 'cost_revisions', kind: 'log', rows: 'revised costs' },
  { name: 'reprice_days', kind: 'own', rows: 'days priced again' },
  { name: 'repriced_list_prices', kind: 'kept', rows: 'versions' },
];

/** Sign-ins, run tokens, read tokens, API tokens, share links and signs of life belong to their database and moment; the index of the search is made again. */
export const TABLES_LEFT_OUT: readonly string[] = [
  'ended_sessions',
  'login_codes',
  'nodes',
  'run_tokens',
  'read_tokens',
  'share_links',
  'budget_nodes',
  'budget_leases',
  'budget_process_spend',
  'brake_facts',
  'leases',
  'api_tokens',
  'person_links',
  'llm_search_calls',
  'llm_search_texts',
  'llm_search_state',
  'llm_search_days',
];
