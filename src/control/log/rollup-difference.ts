/** A row in which a roll-up and the aggregate over the records disagree. */
export interface RollupDifference {
  readonly rollup: 'llm_runs' | 'llm_cost_hourly' | 'llm_metadata_hourly' | 'llm_facet_hourly' | 'indexed_metadata';
  /** `records`: what it should be; `rollup`: what is stored. */
  readonly side: 'records' | 'rollup';
  readonly account_id: number;
  /** Null where the row is not one of a run. */
  readonly trace_id: string | null;
  readonly row: string;
}
