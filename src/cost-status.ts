/**
 * What is known of a call's cost. `exact`: every class is priced and the usage is complete. `partial`: a part of the
 * cost is known, if only that it is not nothing. `unpriced`: there is usage, and no price for the model; or nobody
 * knows the endpoint. `no_usage`: it may have cost something, and nothing says how much. `not_billed`: nothing billable
 * happened.
 */
export type CostStatus = 'exact' | 'partial' | 'unpriced' | 'no_usage' | 'not_billed';
